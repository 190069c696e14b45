//go:build linux || darwin

package tree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// UnixMode is the permission part of a mode as the kernel writes it.
func UnixMode(m os.FileMode) uint32 {
	out := uint32(m.Perm())
	for bit, to := range map[os.FileMode]uint32{os.ModeSetuid: 0o4000, os.ModeSetgid: 0o2000, os.ModeSticky: 0o1000} {
		if m&bit != 0 {
			out |= to
		}
	}
	return out
}

// Within reports whether path is dir or lies below it; both are clean and absolute.
func Within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// OpenFolder opens a folder by its name in an open one, for reading.
func OpenFolder(dir int, name string) (int, error) {
	return unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// Is reports whether something is of a kind, such as unix.S_IFREG.
func Is(st *unix.Stat_t, kind uint32) bool { return uint32(st.Mode)&unix.S_IFMT == kind }

// Names gives the names in an open folder, sorted.
func Names(dir int) ([]string, error) {
	again, err := OpenFolder(dir, ".")
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(again), "")
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// RealPath resolves the links of a path as far as it exists.
func RealPath(path string) string {
	for dir, rest := path, ""; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == "/" {
			return path
		}
		dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest)
	}
}
