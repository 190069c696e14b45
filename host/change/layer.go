package change

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/paxiom/relay/judge/box"
)

// removeLayer removes the layers that a cut off run has left: the builder's and those
// of its checks, which lie beside it.
func removeLayer(layer string) error {
	return errors.Join(removeChecks(layer), discardLayer(layer))
}

// removeChecks removes only the layers of the checks.
func removeChecks(layer string) error {
	dir, name := filepath.Split(layer)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), name+".") {
			err = errors.Join(err, discardLayer(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// patience is how long a layer may stay in use by a box whose host was killed: the
// kernel ends the box, and that takes a moment.
const patience = 10 * time.Second

// discardLayer removes one layer, whatever modes a builder has set in it. Nothing is
// removed under a box that is alive.
func discardLayer(layer string) error {
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := box.Remove(layer)
		if !errors.Is(err, syscall.EAGAIN) || time.Since(begin) > patience {
			return err
		}
	}
}
