package box

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	readAccess = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// allAccess is what Landlock's third version knows, the oldest that covers every way
	// to change a file.
	allAccess = unix.LANDLOCK_ACCESS_FS_TRUNCATE<<1 - 1
	// fileAccess is what means anything for a single file.
	fileAccess = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// complete adds to the grants what every program of this box needs.
func (g *Grants) complete(b *Box, tmp string) {
	g.Read = append(g.Read, systemFiles...)
	g.Write = append(g.Write, deviceFiles...)
	if tmp != "" {
		g.Write = append(g.Write, tmp)
	}
	for _, bind := range b.spec.Binds {
		if bind.Hidden {
			continue
		} else if bind.Writable {
			g.Write = append(g.Write, bind.Path)
		} else {
			g.Read = append(g.Read, bind.Path)
		}
	}
	if !b.spec.ReadOnlyRoot {
		g.Write = append(g.Write, b.lowers()...)
	}
}

// lockFiles lets this thread, and so the child, open nothing but what is granted and
// the program itself, for good. It comes after the mounts: the folders are the box's.
func (g *Grants) lockFiles(exe *os.File) error {
	if err := LandlockAllowed(); err != nil {
		return err
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: allAccess}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return fail(OpLandlock, "", errno)
	}
	defer unix.Close(int(set))
	allow := func(fd int, access uint64) error {
		rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
		if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, set, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
			return errno
		}
		return nil
	}
	for access, paths := range map[uint64][]string{readAccess: g.Read, allAccess: g.Write} {
		for _, path := range paths {
			fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				continue // what is not there can't be used
			}
			var st unix.Stat_t
			if err = unix.Fstat(fd, &st); err == nil {
				may := access
				if st.Mode&unix.S_IFMT != unix.S_IFDIR {
					may &= fileAccess
				}
				err = allow(fd, may)
			}
			unix.Close(fd)
			if err != nil {
				return fail(OpLandlock, path, err)
			}
		}
	}
	if exe != nil {
		if err := allow(int(exe.Fd()), unix.LANDLOCK_ACCESS_FS_EXECUTE|unix.LANDLOCK_ACCESS_FS_READ_FILE); err != nil {
			return fail(OpLandlock, exe.Name(), err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return fail(OpLandlock, "", errno)
	}
	return nil
}
