//go:build !linux

package lock

import "os"

// local is not known here, so no lock of another machine's name is taken over.
func local(*os.File) bool { return false }
