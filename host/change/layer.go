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
func removeLayer(env Env, layer string) error {
	dir, name := filepath.Split(layer)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && (e.Name() == name || strings.HasPrefix(e.Name(), name+".verify")) {
			err = errors.Join(err, discardLayer(env, filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// patience is how long a layer may stay in use by a box whose host was killed: the
// kernel ends the box, and that takes a moment.
const patience = 10 * time.Second

// discardLayer removes one layer, whatever modes a builder has set in it.
func discardLayer(env Env, layer string) error {
	begin := time.Now()
	for {
		b, err := box.New(box.Spec{Root: env.Git.Root, GitDirs: env.Git.Outside(), Home: env.Home, StateDir: env.StateDir, Layer: layer})
		if err == nil {
			err = b.Discard()
		}
		if errors.Is(err, syscall.EAGAIN) && time.Since(begin) < patience {
			time.Sleep(20 * time.Millisecond)
			continue
		}
		if err != nil {
			return err // its box may be alive: nothing is removed under it
		}
		return os.RemoveAll(layer)
	}
}
