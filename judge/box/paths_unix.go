//go:build linux || darwin

package box

import (
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// unixMode is the permission part of a mode as the kernel writes it.
func unixMode(m os.FileMode) uint32 {
	out := uint32(m.Perm())
	for bit, to := range map[os.FileMode]uint32{os.ModeSetuid: 0o4000, os.ModeSetgid: 0o2000, os.ModeSticky: 0o1000} {
		if m&bit != 0 {
			out |= to
		}
	}
	return out
}

// within says that path is dir or lies below it; both are clean and absolute.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// quit ends this process at once. os.Exit would first run what a build with the race
// detector does at an exit: sleep for a second, in each of some thousand boxes.
func quit(code int) { syscall.Exit(code) }

func openFolder(dir int, name string) (int, error) {
	return unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

func is(st *unix.Stat_t, kind uint32) bool { return uint32(st.Mode)&unix.S_IFMT == kind }

// list gives the names in an open folder, sorted. A folder with far more of them
// than changes are allowed is not read to its end.
func (r *reader) list(dir int) ([]string, error) {
	if r.made != nil {
		return allNames(dir) // most of them are not changes
	}
	again, err := openFolder(dir, ".")
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(again), "")
	defer f.Close()
	names, err := f.Readdirnames(maxNames)
	if err == io.EOF {
		err = nil
	}
	if len(names) == maxNames {
		r.full = true
	}
	slices.Sort(names)
	return names, err
}
