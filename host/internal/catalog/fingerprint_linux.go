package catalog

import (
	"io/fs"
	"syscall"
)

// fingerprint is what identifies a file's content as far as the kernel knows.
func fingerprint(st fs.FileInfo) cached {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return cached{}
	}
	return cached{Dev: uint64(sys.Dev), Ino: sys.Ino, Size: st.Size(), MTime: sys.Mtim.Nano(), CTime: sys.Ctim.Nano()}
}
