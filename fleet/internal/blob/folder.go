package blob

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// folder is a place that workers mount.
type folder string

func (f folder) path(name string) string { return filepath.Join(string(f), name[:2], name) }

func (f folder) has(name string) bool {
	_, err := os.Lstat(f.path(name))
	return err == nil
}

func (f folder) put(name string, b []byte) error {
	path := f.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(b)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func (f folder) get(name string, most int64) ([]byte, error) {
	file, err := os.Open(f.path(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most+1))
}
