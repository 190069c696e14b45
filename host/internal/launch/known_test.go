package launch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestHashOnce: a file that changes is read again, even when its size and time of
// modification are put back.
func TestHashOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	past := time.Now().Add(-time.Hour)
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	hash := func() (again, once string) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if once, err = hashOnce(f); err != nil {
			t.Fatal(err)
		}
		f.Seek(0, 0)
		again, _ = HashFile(f)
		return again, once
	}
	remembered := func() (n int) {
		known.Lock()
		defer known.Unlock()
		for _, h := range known.hash {
			if h == "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3" { // of "two"
				n++
			}
		}
		return n
	}
	before := remembered()
	for i, text := range []string{"one", "two", "six"} {
		write(text)
		if i == 1 {
			time.Sleep(grain + 100*time.Millisecond) // now it may be remembered
		}
		for range 2 {
			if want, got := hash(); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
	}
	n := remembered() - before
	if n != 1 {
		t.Errorf("the hash of a file that rested is remembered %d times", n)
	}
}
