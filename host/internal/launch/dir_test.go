package launch

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What a plugin leaves in its folder is removed, however deep it is and whatever its modes.
func TestFolderIsRemoved(t *testing.T) {
	p, err := newPrivate(t.TempDir(), "tmp")
	if err != nil {
		t.Skip("the temporary folder has a long name: ", err)
	}
	was, err := os.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	defer was.Close()
	if err := os.Chdir(p.path); err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		if err := os.Mkdir("d", 0o700); err != nil {
			t.Fatal(err)
		}
		os.WriteFile("f", nil, 0o400)
		if err := syscall.Chdir("d"); err != nil {
			t.Fatal(err)
		}
	}
	if err := was.Chdir(); err != nil {
		t.Fatal(err)
	}
	os.Chmod(filepath.Join(p.path, "d/d"), 0)
	os.Chmod(p.path, 0)
	p.remove()
	if _, err := os.Lstat(p.path); !os.IsNotExist(err) {
		t.Errorf("it is there: %v", err)
	}
}

// Where another user has made the folder with the usual name there is one that nobody
// could know, private, and the same the next time.
func TestFolderOfAnother(t *testing.T) {
	dir, err := otherDir(4242424)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	again, err := otherDir(4242424)
	if st, bad := os.Lstat(dir); err != nil || again != dir || bad != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("%q %q %v", dir, again, err)
	}
}
