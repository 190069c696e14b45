package diag

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// obstacle is what a machine can put in the way of any program: no bug of relay's.
type obstacle struct {
	errnos []syscall.Errno
	what   string
	fix    func(path, dir, on string) string // quoted for a shell; on is of dir what is there
}

var obstacles = []obstacle{
	{[]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}, "the disk or the quota is full",
		func(_, _, on string) string { return "`df -h " + on + "`, then free some space" }},
	{[]syscall.Errno{syscall.EROFS}, "a file system that relay writes to is read-only",
		func(_, _, on string) string { return "`findmnt -T " + on + "` shows how it is mounted" }},
	{[]syscall.Errno{syscall.EACCES, syscall.EPERM}, "relay may not use a file that it needs",
		func(path, dir, _ string) string {
			return "`ls -ld " + dir + " " + path + "` shows whose they are; make them usable for you"
		}},
	{[]syscall.Errno{syscall.EFBIG}, "a file would be larger than this machine allows",
		func(string, string, string) string { return "`ulimit -f` shows the limit" }},
	{[]syscall.Errno{syscall.EMFILE, syscall.ENFILE}, "too many files are open",
		func(string, string, string) string { return "`ulimit -n 1024`, then run the command again" }},
	{[]syscall.Errno{syscall.ENOMEM, syscall.EAGAIN}, "this machine has no memory or no process left for relay",
		func(string, string, string) string { return "`free -h` and `ulimit -a` show what there is" }},
	{[]syscall.Errno{syscall.EIO, syscall.ESTALE, syscall.ENODEV, syscall.ENXIO}, "a disk does not answer as it should",
		func(_, _, on string) string { return "`df -hT " + on + "` and `dmesg | tail` say more" }},
	{[]syscall.Errno{syscall.ELOOP, syscall.ENOTDIR, syscall.EISDIR, syscall.ENAMETOOLONG}, "something else is in the place of a file that relay needs",
		func(path, dir, _ string) string { return "`ls -ld " + dir + " " + path + "`, then move it away" }},
}

// Machine says what of the machine stood in the way; nil when nothing of it did.
func Machine(err error) *Error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return nil
	}
	var at *fs.PathError
	if errors.As(err, &at) && at.Op == "mkdir" && errno == syscall.ENOENT {
		errno = syscall.EACCES // as /proc and /sys say it
	}
	i := slices.IndexFunc(obstacles, func(o obstacle) bool { return slices.Contains(o.errnos, errno) })
	if i < 0 {
		return nil
	}
	path := "."
	var link *os.LinkError
	switch {
	case at != nil:
		path = at.Path
	case errors.As(err, &link):
		path = link.New
	}
	dir := filepath.Dir(path)
	on := dir
	for filepath.Dir(on) != on { // one of relay's own folders may be gone by now
		if _, err := os.Lstat(on); err == nil {
			break
		}
		on = filepath.Dir(on)
	}
	o := obstacles[i]
	return &Error{Code: judge.StopInterrupted, What: o.what, Why: why(err), Fix: o.fix(Word(path), Word(dir), Word(on)), Err: err}
}

// Full reports whether the disk or a quota on it is full: other work would fail for it, too.
func Full(err error) bool {
	says := ""
	if g, ok := errors.AsType[*git.Error](err); ok {
		says = strings.ToLower(g.Stderr)
	}
	return slices.ContainsFunc(obstacles[0].errnos, func(e syscall.Errno) bool { return errors.Is(err, e) || strings.Contains(says, e.Error()) })
}
