package change

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// pointer is what git-lfs commits in the place of a file; its bytes are in git's own
// folder, under the name of their hash.
var pointer = regexp.MustCompile(`\Aversion https://git-lfs\.github\.com/spec/v1\n(?:[a-z0-9.-]+ [^\n]*\n)*oid sha256:([0-9a-f]{64})\n(?:[a-z0-9.-]+ [^\n]*\n)*\z`)

const maxPointer = 1024

// storeLarge brings the bytes over that the builder's own commits have by pointer: of
// versions that a later commit replaced, they are in the box alone. Like the objects of
// the commits themselves they are new files under the name of their own hash.
func (c *Change) storeLarge() error {
	for _, own := range c.own {
		for _, op := range own.ops {
			if op.mode == 0 || len(op.data) > maxPointer {
				continue
			}
			if m := pointer.FindSubmatch(op.data); m != nil {
				oid, dir := string(m[1]), c.env.Git.LFS()
				if err := storeObject(dir, oid, func() (io.ReadCloser, error) { return c.box.OpenAt(objectPath(dir, oid)) }); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// objectPath is where git-lfs stores an object in its folder.
func objectPath(store, oid string) string {
	return filepath.Join(store, "objects", oid[:2], oid[2:4], oid)
}

// storeObject brings one object into the folder of git-lfs. One that can't be opened, or
// that is not what its name says, is left out: the pointer then points to nothing.
func storeObject(store, oid string, open func() (io.ReadCloser, error)) error {
	to := objectPath(store, oid)
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	from, err := open()
	if err != nil {
		return nil
	}
	defer from.Close()
	for _, dir := range []string{filepath.Join(store, "tmp"), filepath.Dir(to)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	tmp, err := os.CreateTemp(filepath.Join(store, "tmp"), "relay-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(tmp, sum), from)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil || hex.EncodeToString(sum.Sum(nil)) != oid {
		return err
	}
	if err := os.Link(tmp.Name(), to); err != nil && !errors.Is(err, fs.ErrExist) { // never over what is there
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
