//go:build !linux

package change

import (
	"io/fs"

	"github.com/paxiom/relay/judge"
)

// StampOf identifies one state of a file, as well as this system tells.
func StampOf(fi fs.FileInfo) judge.Stamp {
	return judge.Stamp{Exists: true, Mode: fi.Mode(), Size: fi.Size(), MTime: fi.ModTime().UnixNano()}
}
