package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

// Own refuses files and folders that others could have made or filled: what the user says
// outside of every repository, and what relay keeps there, lies in ones of the user's own, or
// of root's, that nobody else can write. Links are followed, and what is not there is nobody's.
func Own(paths ...string) error {
	for _, path := range paths {
		fi, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil {
			return diag.New(judge.BlockedUntrustedConfig, path+" is refused", err.Error(), "`ls -ld "+diag.Word(filepath.Dir(path))+"`")
		}
		switch Others(path, fi) {
		case Foreign:
			fix := fmt.Sprintf("`chown %d %s` if all of it is yours, or remove it", os.Geteuid(), diag.Word(path))
			if st, ok := fi.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 { // not to be taken from its user
				fix = fmt.Sprintf("`sudo -u '#%d' relay status` is relay as that user; or set HOME to one of root's", st.Uid)
			}
			return diag.New(judge.BlockedUntrustedConfig, path+" is refused", "it belongs to another user", fix)
		case Shared:
			return diag.New(judge.BlockedUntrustedConfig, path+" is refused", fmt.Sprintf("it can be written by others (mode %04o)", fi.Mode().Perm()),
				"look at what it holds, then `chmod go-w "+diag.Word(path)+"`")
		}
	}
	return nil
}

// Say is how far others than the user decide about a file or folder.
type Say int

// From none to all of it.
const (
	Nobody  Say = iota
	Shared      // somebody else can write it
	Foreign     // it belongs to somebody else, who is not root
)

// Others is who else than the user, or root, decides what lies at path.
func Others(path string, fi fs.FileInfo) Say {
	st, ok := fi.Sys().(*syscall.Stat_t)
	switch perm := fi.Mode().Perm(); {
	case !ok || st.Uid != 0 && int(st.Uid) != os.Geteuid():
		return Foreign
	case perm&0o002 != 0, perm&0o020 != 0 && !(alone(int(st.Gid)) && !listed(path)):
		return Shared
	}
	return Nobody
}

const accessList = "system.posix_acl_access"

// listed reports whether an access control list may name others: the bits of the group are
// then the most that anyone of the list has.
func listed(path string) bool {
	_, err := unix.Getxattr(path, accessList, nil)
	return err != unix.ENODATA && err != unix.ENOTSUP
}

// alone reports whether a group is the user's alone. Where each user has such a group,
// what he makes can usually be written by it (umask 002), and so by nobody else.
func alone(gid int) bool {
	users, err := judge.ReadFile("/etc/passwd", 16<<20)
	groups, err2 := judge.ReadFile("/etc/group", 16<<20)
	return err == nil && err2 == nil && onlyMember(string(users), string(groups), os.Geteuid(), gid)
}

// onlyMember reports whether uid, and nobody else, is in a group, by the lists of passwd(5)
// and group(5): as the group that he starts with, or as one that names him.
func onlyMember(users, groups string, uid, gid int) (member bool) {
	var names []string // the user may have several
	for line := range strings.Lines(users) {
		f := strings.Split(line, ":")
		if len(f) < 4 {
			continue
		}
		own := f[2] == strconv.Itoa(uid)
		if own {
			names = append(names, f[0])
		}
		if f[3] == strconv.Itoa(gid) {
			if !own {
				return false
			}
			member = true
		}
	}
	for line := range strings.Lines(groups) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 || f[2] != strconv.Itoa(gid) {
			continue
		}
		for name := range strings.SplitSeq(f[3], ",") {
			if name != "" && !slices.Contains(names, name) {
				return false
			}
			member = member || name != ""
		}
	}
	return member
}

// foreign reports whether a file is another user's.
func foreign(path string) bool {
	fi, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) != os.Geteuid()
}
