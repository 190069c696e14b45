package store

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Nobody else has the lock meanwhile, and a link is not followed.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var wg sync.WaitGroup
	n := 0
	for range 20 {
		wg.Go(func() {
			unlock, err := Lock(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			was := n
			if err := os.WriteFile(path, nil, 0o600); err != nil { // something takes time
				t.Error(err)
			}
			n = was + 1
		})
	}
	wg.Wait()
	if n != 20 {
		t.Errorf("%d of 20 were alone", n)
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(link); err == nil {
		t.Error("a link was followed")
	}
}
