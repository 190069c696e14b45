package change

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// exchange lets two names in one folder change places in one step. The error is
// errors.ErrUnsupported where the file system can't.
func (t *realTree) exchange(a, b string) error { return t.rename2(a, b, unix.RENAME_EXCHANGE) }

// moveTo renames within a folder, unless there is something of the new name.
func (t *realTree) moveTo(from, to string) error { return t.rename2(from, to, unix.RENAME_NOREPLACE) }

// plainRenames is set by tests that want what some network file systems give.
var plainRenames bool

func (t *realTree) rename2(from, to string, flags uint) error {
	if plainRenames {
		return errors.ErrUnsupported
	}
	dir, err := t.Open(path.Dir(to))
	if err != nil {
		return err
	}
	defer dir.Close()
	err = unix.Renameat2(int(dir.Fd()), path.Base(from), int(dir.Fd()), path.Base(to), flags)
	switch err {
	case nil:
		return nil
	case unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP:
		return errors.ErrUnsupported
	}
	return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
}
