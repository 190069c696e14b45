package release

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a killed process was taking is removed by the next, and nothing that one still takes.
func TestWhatAKillLeft(t *testing.T) {
	scratch := t.TempDir()
	old := time.Now().Add(-2 * leftAfter)
	aged := func(dir string) string {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "relay-plugin-foo"), []byte("bytes"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	made := func(name string) string {
		t.Helper()
		dir := filepath.Join(scratch, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	left, begun, other := aged(made(taking+"1")), made(taking+"2"), aged(made("local"))
	at, err := newRelease(scratch)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	aged(at.dir)
	next, err := newRelease(scratch)
	if err != nil {
		t.Fatal(err)
	}
	next.Close()
	for dir, there := range map[string]bool{left: false, begun: true, other: true, at.dir: true, next.dir: false} {
		if _, err := os.Stat(dir); (err == nil) != there {
			t.Errorf("%s is there: %v, should be %v", filepath.Base(dir), err == nil, there)
		}
	}
}
