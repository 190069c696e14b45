//go:build linux || darwin

package copies

import (
	"golang.org/x/sys/unix"
)

// trace is what is remembered of one file, link or folder. A file with the same
// trace has the same content: nobody but a root with raw access can set a ctime.
type trace struct {
	Mode         uint32
	Ino, Nlink   uint64
	Size         int64
	MTime, CTime int64
	// Shut: a folder or file that could not be read when it was copied.
	Shut bool
}

// traces are the traces of a tree by path relative to its top, which itself is ".".
type traces map[string]trace

func traceOf(st *unix.Stat_t) trace {
	return trace{Mode: uint32(st.Mode), Ino: uint64(st.Ino), Nlink: uint64(st.Nlink), Size: st.Size,
		MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano()}
}

func (t trace) kind() uint32 { return t.Mode & unix.S_IFMT }
func (t trace) isDir() bool  { return t.kind() == unix.S_IFDIR }

// isSpecial says that it is a named pipe, a socket or a device.
func (t trace) isSpecial() bool {
	return !t.isDir() && t.kind() != unix.S_IFREG && t.kind() != unix.S_IFLNK
}

// still says that nothing happened to it since. A folder's other values say nothing:
// they change with what is in it.
func (t trace) still(now trace) bool {
	if t.isDir() {
		return t.Mode == now.Mode
	}
	now.Shut = t.Shut
	return t == now
}

// lookAt gives the trace of a name in an open folder; false when there is nothing.
func lookAt(dir int, name string) (trace, bool) {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return trace{}, false
	}
	return traceOf(&st), true
}
