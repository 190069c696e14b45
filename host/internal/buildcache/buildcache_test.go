package buildcache

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/paxiom/relay/judge/git"
)

// A folder that a check wrote holds whatever it likes; nothing but new regular files comes over.
func TestMerge(t *testing.T) {
	from, to, own := t.TempDir(), t.TempDir(), t.TempDir()
	put := func(dir, name, text string) {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret")
	put(filepath.Dir(outside), "secret", "s")
	put(from, "new/file", "new")
	put(from, "kept", "evil")
	put(to, "kept", "kept")
	put(from, "own", "evil")
	put(own, "own", "own")
	put(from, "folder", "a file here, a folder there")
	put(to, "folder/x", "x")
	put(from, "file/x", "a folder here, a file there")
	put(to, "file", "file")
	for _, link := range []string{"link", "kept2"} {
		if err := os.Symlink(outside, filepath.Join(from, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(from, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := merge(from, to, own); n != 4<<10 {
		t.Errorf("%d bytes were moved, want those of the one new file", n)
	}
	var got []string
	filepath.WalkDir(to, func(path string, e os.DirEntry, _ error) error {
		if !e.IsDir() {
			text, _ := os.ReadFile(path)
			got = append(got, strings.TrimPrefix(path, to)+"="+string(text))
		}
		return nil
	})
	if s := strings.Join(got, " "); s != "/file=file /folder/x=x /kept=kept /new/file=new" {
		t.Errorf("there is now %s", s)
	}
}

// Caches that were killed at work, are damaged, are another machine start's or too large are
// begun anew; one that another change has open is left alone.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	of := Of{Git: &git.Repo{Root: dir, CommonDir: dir}, Dir: filepath.Join(dir, "caches"), Home: dir, Folders: []string{".cache/x"}}
	open := func(run string) *Caches {
		t.Helper()
		c, err := of.Open(t.Context(), "base", run)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	fill := func() string {
		c := open("fill")
		defer c.Close()
		from := filepath.Join(dir, "written")
		os.MkdirAll(from, 0o700)
		os.WriteFile(filepath.Join(from, "f"), []byte("f"), 0o600)
		c.Add("base", []string{from})
		return filepath.Join(c.Folders()[0].Kept, "f")
	}
	file := fill()
	if !there(file) {
		t.Fatal("what a check of the base wrote is not kept")
	}
	home := folder(of.Dir, of.Git)
	for name, spoil := range map[string]func(s state){
		"damaged": func(state) { os.WriteFile(filepath.Join(home, stateFile), []byte("{"), 0o600) },
		"boot":    func(s state) { s.Boot = "another"; write(home, s, 0) },
		"large":   func(s state) { s.Bytes = Most + 1; write(home, s, 0) },
		"commit":  func(s state) { s.Commit = "gone"; write(home, s, 0) },
	} {
		fill()
		spoil(read(home))
		other, err := openLock(home)
		if err != nil || syscall.Flock(int(other.Fd()), syscall.LOCK_EX) != nil {
			t.Fatal(err)
		}
		if _, err := of.Open(t.Context(), "base", "second"); err == nil || !there(file) {
			t.Errorf("%s: it is used, or thrown away, while another change has it open", name)
		}
		other.Close()
		if open("third").Close(); there(file) {
			t.Errorf("%s: it is still used", name)
		}
	}
	// One that is open when they are forgotten adds nothing any more.
	c := open("open")
	if err := Forget(of.Dir, of.Git); err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(dir, "late")
	os.MkdirAll(from, 0o700)
	os.WriteFile(filepath.Join(from, "f"), []byte("f"), 0o600)
	c.Add("base", []string{from})
	c.Stage([]string{from})
	c.Unstage()
	c.Keep("base")
	if c.Close(); there(file) {
		t.Error("what was forgotten is filled again")
	}
	os.MkdirAll(filepath.Join(home, stagedDir, "killed", "1"), 0o700)
	if open("after").Close(); there(filepath.Join(home, stagedDir, "killed")) {
		t.Error("what a killed run had put aside is still there")
	}
}
