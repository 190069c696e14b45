//go:build linux

package workspace

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/judge"
)

const roleEnv = "RELAY_TEST_WORKSPACE_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "write forever":
		for i := 0; ; i++ {
			if err := WriteFile(os.Args[1], bytes.Repeat([]byte{'a' + byte(i%26)}, 30000)); err != nil {
				os.Exit(1)
			}
		}
	case "small disk":
		smallDisk(os.Args[1])
	}
	os.Exit(m.Run())
}

func names(t *testing.T, dir string) string {
	t.Helper()
	e, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, x := range e {
		s = append(s, x.Name())
	}
	return strings.Join(s, " ")
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "f.json")
	for _, text := range []string{"one", "two", ""} {
		if err := WriteFile(p, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := ReadFile(p, 100); err != nil || string(b) != text {
			t.Errorf("got %q, %v", b, err)
		}
	}
	if err := WriteJSON(p, map[string]any{"a": "<b>"}); err != nil {
		t.Fatal(err)
	}
	if b, _ := ReadFile(p, 100); string(b) != "{\n  \"a\": \"<b>\"\n}\n" {
		t.Errorf("JSON: %q", b)
	}
	if err := WriteJSON(p, func() {}); err == nil {
		t.Error("a func became JSON")
	}
	if n := names(t, dir); n != "f.json" {
		t.Errorf("left behind: %s", n)
	}
}

func TestWriteFollowsNoLink(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	victim := put(t, outside, "victim", "v")
	p := filepath.Join(dir, "f")
	if err := os.Symlink(victim, p); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(p, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(victim); string(b) != "v" {
		t.Error("the link's target was written")
	}
	if fi, _ := os.Lstat(p); !fi.Mode().IsRegular() {
		t.Error("the link is still there")
	}
	// a hard link: the other name keeps its bytes
	other := filepath.Join(outside, "other")
	if err := os.Link(victim, other); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(other, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(victim); string(b) != "v" {
		t.Error("a hard link's other name was written")
	}
	if err := os.Symlink(outside, filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	wantFault(t, WriteFile(filepath.Join(dir, "d", "f"), nil), judge.StopInterrupted, "symbolic link")
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	wantFault(t, WriteFile(filepath.Join(dir, "folder"), nil), judge.StopInterrupted, "folder")
	wantFault(t, WriteFile(filepath.Join(dir, "absent", "f"), nil), judge.StopInterrupted)
	if n := names(t, dir); n != "d f folder" {
		t.Errorf("left behind: %s", n)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	p := put(t, dir, "f", "12345")
	if _, err := ReadFile(p, 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if _, err := ReadFile(p+"x", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(p, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"fifo", "link", "."} {
		if _, err := ReadFile(filepath.Join(dir, n), 100); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", n, err)
		}
	}
}

// A writer that is killed at any moment leaves the old bytes or the new ones.
func TestWriteSurvivesKill(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "f")
	if err := WriteFile(p, bytes.Repeat([]byte{'a'}, 30000)); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		c := exec.Command(os.Args[0], p)
		c.Env = append(os.Environ(), roleEnv+"=write forever")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		was, _ := os.Stat(p)
		for start := time.Now(); ; time.Sleep(time.Millisecond) { // killed at a random moment once it is at work
			if is, err := os.Stat(p); err == nil && !os.SameFile(was, is) {
				break
			}
			if time.Since(start) > time.Minute {
				t.Fatal("the child writes nothing")
			}
		}
		time.Sleep(time.Duration(i*731%5000) * time.Microsecond)
		_ = c.Process.Kill()
		_ = c.Wait()
		b, err := ReadFile(p, 1<<20)
		if err != nil || len(b) != 30000 || bytes.Count(b, b[:1]) != 30000 {
			t.Fatalf("kill %d: %d bytes, %v: neither the old nor the new file", i, len(b), err)
		}
	}
}

// A full disk and a read-only file system: a clear fault, the old file whole, no rest.
func TestWriteOnBadDisk(t *testing.T) {
	c := exec.Command(os.Args[0], t.TempDir())
	c.Env = append(os.Environ(), roleEnv+"=small disk")
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := c.CombinedOutput()
	if strings.Contains(string(out), "cannot mount") || err != nil && len(out) == 0 {
		t.Skipf("this machine gives no mount namespace: %v %s", err, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func smallDisk(dir string) {
	die := func(args ...string) { os.Stderr.WriteString(strings.Join(args, " ") + "\n"); os.Exit(1) }
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		die("cannot mount:", err.Error())
	}
	p := filepath.Join(dir, "f")
	if err := WriteFile(p, []byte("old")); err != nil {
		die(err.Error())
	}
	check := func(err error, want string) {
		if err == nil || !strings.Contains(err.Error(), want) {
			die("want", want, "got", errors.Join(err, errors.New("")).Error())
		}
		b, _ := ReadFile(p, 10)
		if e, _ := os.ReadDir(dir); string(b) != "old" || len(e) != 1 {
			die("the old file is gone or a rest is left")
		}
	}
	check(WriteFile(p, make([]byte, 1<<20)), "full")
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		die("cannot mount:", err.Error())
	}
	check(WriteFile(p, []byte("new")), "read-only")
	w, _ := Open(dir, "")
	check(w.Ensure(), "read-only")
	os.Exit(0)
}
