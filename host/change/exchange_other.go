//go:build !linux

package change

import "errors"

// exchange lets two names change places, on systems that relay uses it on.
func (*realTree) exchange(a, b string) error { return errors.ErrUnsupported }

// moveTo renames unless there is something of the new name.
func (*realTree) moveTo(from, to string) error { return errors.ErrUnsupported }
