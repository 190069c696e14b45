package runner

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// A relay that is replaced by one of another version while its worker is there makes nothing.
func TestReplacedRelay(t *testing.T) {
	script := `case $1 in version) echo '{"version": "v1"}' ;; *) echo '{"report": {"code": "STOP_SCOPE"}}'; exit 2 ;; esac`
	w, s := newWorker(t, script)
	w.RelayVersion = "v1"
	for _, c := range []struct {
		version string
		made    bool
	}{{"v1", true}, {"v1", true}, {"v2", false}, {"v1", true}} {
		next := w.Relay + ".new"
		if err := errors.Join(os.WriteFile(next, []byte("#!/bin/sh\n"+strings.Replace(script, "v1", c.version, 1)), 0o755), os.Rename(next, w.Relay)); err != nil {
			t.Fatal(err)
		}
		_, err := w.once(t.Context(), w.step(t, s), false)
		if (err == nil) != c.made || err != nil && (!strings.Contains(err.Error(), "version v2 now, and was v1") || errors.Is(err, errRefused)) {
			t.Error(c, err)
		}
	}
}
