package box

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// A box has a user namespace, and in it only those users and groups that it was given
// exist; the kernel lets nobody change a file of another one, whatever its mode. uid 0
// gives a box all that it knows itself, by the same numbers: without capabilities they
// are of no use but that. An ordinary user can give no more than its own two.

// owners are the users and groups of a box.
type owners struct{ uids, gids []syscall.SysProcIDMap }

func ownersOf() owners {
	uid, gid := os.Getuid(), os.Getgid()
	own := owners{[]syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}, []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}}
	if uid != 0 || !capable(unix.CAP_SETUID) || !capable(unix.CAP_SETGID) {
		return own
	}
	uids, gids := sameNumbers("/proc/self/uid_map"), sameNumbers("/proc/self/gid_map")
	if len(uids) == 0 || len(gids) == 0 {
		return own
	}
	return owners{uids, gids}
}

// sameNumbers maps every id that this process knows to itself.
func sameNumbers(path string) (all []syscall.SysProcIDMap) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var inside, outside, size int
		if n, _ := fmt.Sscan(lines.Text(), &inside, &outside, &size); n != 3 {
			return nil
		}
		all = append(all, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
	}
	return all
}

func capable(c int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	return unix.Capget(&header, &have[0]) == nil && have[c/32].Effective&(1<<(c%32)) != 0
}

// stranger reports whether a file's user or group does not exist in the box.
func (o owners) stranger(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && !(exists(o.uids, int(st.Uid)) && exists(o.gids, int(st.Gid)))
}

func exists(ids []syscall.SysProcIDMap, id int) bool {
	return slices.ContainsFunc(ids, func(m syscall.SysProcIDMap) bool { return id >= m.ContainerID && id-m.ContainerID < m.Size })
}

// maxOwners is how many entries of the root are looked at for their owners.
const maxOwners = 1000

// strangers gives an entry of the root that belongs to a stranger; "" when there is none.
func (o owners) strangers(root string) string {
	dir, err := os.Open(root)
	if err != nil {
		return ""
	}
	defer dir.Close()
	entries, _ := dir.Readdir(maxOwners)
	for _, e := range entries {
		if o.stranger(e) {
			return e.Name()
		}
	}
	return ""
}

// strangersIn gives an entry of a folder that a box can't change, "" for none.
func strangersIn(root string) string { return ownersOf().strangers(root) }

// Unfit says why an overlay of a folder would be of no use: nothing in it could be
// changed. nil when it would.
func Unfit(root string) *Error {
	if root == "" {
		return nil
	}
	return ownersOf().unfit(root)
}

func (o owners) unfit(root string) *Error {
	for _, path := range []string{root, filepath.Join(root, ".git")} {
		if info, err := os.Lstat(path); err == nil && o.stranger(info) {
			return &Error{Op: "make an overlay of", Path: path, Unsupported: true,
				Why: "it belongs to another user or group, and in namespaces of an ordinary user only its own user and group exist",
				Fix: fmt.Sprintf("`chgrp -R %d %q`, or `newgrp` to run relay with that group as the first one", os.Getgid(), root)}
		}
	}
	return nil
}
