package beneath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Each of these is what a repository can bring in a file's place.
func TestReadFile(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "key"), []byte("secret"), 0o600))
	must(t, os.Mkdir(filepath.Join(root, "d"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, "d", "f"), []byte("12345"), 0o644))
	must(t, os.Symlink(filepath.Join(outside, "key"), filepath.Join(root, "link")))
	must(t, os.Symlink(outside, filepath.Join(root, "folder")))
	must(t, os.Symlink("d", filepath.Join(root, "inside")))
	must(t, os.Symlink("/proc/self/environ", filepath.Join(root, "environ")))
	must(t, unix.Mkfifo(filepath.Join(root, "fifo"), 0o644))
	big, err := os.Create(filepath.Join(root, "big"))
	must(t, err)
	must(t, big.Truncate(2<<30))
	must(t, big.Close())
	for how, read := range map[string]func(rel string) ([]byte, error){
		"in one call": func(rel string) ([]byte, error) { return ReadFile(root, rel, 5) },
		"in steps": func(rel string) ([]byte, error) {
			dir, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
			must(t, err)
			defer unix.Close(dir)
			fd, err := step(dir, rel, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW)
			if err != nil {
				return nil, err
			}
			f := os.NewFile(uintptr(fd), rel)
			defer f.Close()
			return Read(f, 5)
		},
	} {
		if b, err := read("d/f"); err != nil || string(b) != "12345" {
			t.Errorf("%s: %q, %v", how, b, err)
		}
		for rel, want := range map[string]error{"d/none": fs.ErrNotExist, "big": ErrTooLarge} {
			if _, err := read(rel); !errors.Is(err, want) {
				t.Errorf("%s: %s: %v, want %v", how, rel, err, want)
			}
		}
		for _, rel := range []string{"link", "folder/key", "inside/f", "environ"} {
			if b, err := read(rel); err == nil || !errors.Is(err, ErrLink) && !errors.Is(err, unix.ELOOP) {
				t.Errorf("%s: %s: %q, %v", how, rel, b, err)
			}
		}
	}
	for rel, want := range map[string]error{"fifo": ErrNotRegular, "d": ErrNotRegular, "../x": ErrOutside, "/etc/passwd": ErrOutside, "d/../../x": ErrOutside, "": ErrOutside} {
		if _, err := ReadFile(root, rel, 5); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rel, err, want)
		}
	}
	if _, err := ReadFile(root, "d/f", 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one byte too many: %v", err)
	}
}

func TestReadDir(t *testing.T) {
	root := t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "d"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, "d", "f"), nil, 0o644))
	must(t, os.Symlink("d", filepath.Join(root, "link")))
	if names, err := ReadDir(root, "d"); err != nil || len(names) != 1 || names[0] != "f" {
		t.Errorf("%q, %v", names, err)
	}
	if names, err := ReadDir(root, "."); err != nil || len(names) != 2 {
		t.Errorf("%q, %v", names, err)
	}
	if _, err := ReadDir(root, "link"); err == nil {
		t.Error("a link was followed")
	}
}

// A tree that is only looked at is looked at in the same way.
func TestFS(t *testing.T) {
	root := t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "d"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, "d", "f"), []byte("x"), 0o644))
	must(t, os.Symlink("/etc/passwd", filepath.Join(root, "link")))
	must(t, unix.Mkfifo(filepath.Join(root, "fifo"), 0o644))
	if b, err := fs.ReadFile(FS(root), "d/f"); err != nil || string(b) != "x" {
		t.Errorf("%q, %v", b, err)
	}
	if found, err := fs.Glob(FS(root), "*/f"); err != nil || len(found) != 1 {
		t.Errorf("%q, %v", found, err)
	}
	for _, name := range []string{"link", "fifo"} {
		if _, err := fs.ReadFile(FS(root), name); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}
