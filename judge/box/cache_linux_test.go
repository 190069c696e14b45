package box_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/paxiom/relay/judge/box"
)

// Caches are often links to another disk. None is hidden by the place that is made for another.
func TestPlaceOf(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{os.MkdirAll(dir+"/disk/go-build", 0o700), os.Mkdir(dir+"/home", 0o700),
		os.Symlink(dir+"/disk", dir+"/home/.cache"), os.Symlink(dir+"/gone", dir+"/home/.ccache")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string][2]string{
		"/home/.cache/go-build": {dir + "/disk/go-build", ""},
		"/home/.cache/a/b":      {dir + "/disk", "a/b"},
		"/home/go/pkg/mod":      {dir + "/home", "go/pkg/mod"},
		"/home/.ccache":         {"", ""},
		"/home/.ccache/x":       {"", ""},
	} {
		if real, missing := PlaceOf(dir + path); real != want[0] || missing != want[1] {
			t.Errorf("%s leads to %q and %q, want %q", path, real, missing, want)
		}
	}
}
