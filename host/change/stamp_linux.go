package change

import (
	"io/fs"
	"syscall"

	"github.com/paxiom/relay/judge"
)

// StampOf identifies one state of a file.
func StampOf(fi fs.FileInfo) judge.Stamp {
	s := judge.Stamp{Exists: true, Mode: fi.Mode(), Size: fi.Size(), MTime: fi.ModTime().UnixNano()}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		s.Ino, s.CTime = st.Ino, st.Ctim.Nano()
	}
	return s
}
