//go:build linux || darwin

package box

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box/internal/tree"
)

// Discard removes the layer, however hostile the tree in it. First it is given another
// name: a crash on the way leaves no part of it that could be taken for what was built. The
// box can't be used afterwards.
func (b *Box) Discard() error {
	if b.layer == "" {
		return nil
	}
	if b.layer != b.spec.Layer { // it lies elsewhere, and its note must go with it
		return Remove(b.spec.Layer)
	}
	lock, err := b.lock()
	if errors.Is(err, fs.ErrNotExist) { // it was discarded, or never whole
		return Remove(b.layer)
	}
	if err != nil {
		return err
	}
	defer unlock(lock)
	gone := b.layer + ".gone-" + rand.Text()[:8]
	if err := os.Rename(b.layer, gone); err != nil {
		return &Error{Op: "discard the layer", Path: b.layer, Err: err}
	}
	return removeAll(gone)
}

// Remove removes a layer that no box is open for: what a run that was cut off has
// left. It is an error when a process still runs in it, none when there is nothing.
func Remove(layer string) error {
	dirs := []string{layer}
	if there, err := judge.ReadFile(filepath.Join(layer, layerElsewhere), maxNote); err == nil {
		dirs = []string{string(there), layer}
	}
	if lock, err := lockLayer(dirs[0]); err == nil {
		defer unlock(lock)
	} else if errors.Is(err, unix.EWOULDBLOCK) {
		return err
	}
	return removeAll(dirs...)
}

func removeAll(dirs ...string) error {
	for _, dir := range dirs {
		if err := tree.Remove(dir); err != nil {
			return &Error{Op: "discard the layer", Path: dir, Err: err,
				Fix: fmt.Sprintf("`chmod -R u+rwX %q && rm -rf %q`", dir, dir)}
		}
	}
	return nil
}

// RemoveTree removes a folder that a process of a box wrote, whatever it did to it. A
// folder that is not there is no error.
func RemoveTree(dir string) error { return tree.Remove(dir) }
