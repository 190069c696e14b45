package host

import (
	"strings"
	"testing"
)

// Without a home nothing is kept or believed below the folder that relay was called in.
func TestNoHomeIsNoFolderOfTheRepository(t *testing.T) {
	for _, home := range []string{"", "."} {
		t.Setenv("HOME", home)
		r := &Repo{Options: Options{Env: []string{"HOME=" + home, "XDG_DATA_HOME=/data"}}}
		if dir := r.StateDir(); dir != "" {
			t.Errorf("HOME=%q: the state is in %q", home, dir)
		}
		if err := r.Outside(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no folder of its own") {
			t.Errorf("HOME=%q: %v", home, err)
		}
	}
}
