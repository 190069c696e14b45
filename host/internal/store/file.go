package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/paxiom/relay/host/internal/workspace"
)

// File is a small file that several processes change, one after the other.
type File struct {
	Path    string
	Scratch bool // after a power cut it may be as it was before
}

// Read gives the file; nil where there is none.
func (f File) Read() ([]byte, error) {
	raw, err := workspace.ReadFile(f.Path, workspace.MaxRunnerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return raw, err
}

// Change replaces the file by what do makes of it, and leaves it when that is nil.
func (f File) Change(do func([]byte) ([]byte, error)) error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return err
	}
	unlock, err := Lock(f.Path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	raw, err := f.Read()
	if err != nil {
		return err
	}
	if raw, err = do(raw); err != nil || raw == nil {
		return err
	}
	if f.Scratch {
		return workspace.WriteScratch(f.Path, raw)
	}
	return workspace.WriteFile(f.Path, raw)
}
