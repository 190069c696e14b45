package change

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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

// discardLayer removes one layer, whatever modes a builder has set in it.
func discardLayer(env Env, layer string) error {
	b, err := box.New(box.Spec{Root: env.Git.Root, GitDirs: env.Git.Outside(), Home: env.Home, StateDir: env.StateDir, Layer: layer})
	if err == nil {
		err = b.Discard()
	}
	return errors.Join(err, os.RemoveAll(layer))
}
