package diag

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// What the machine refuses is told with what shows it, and a bug stays one.
func TestInternalNamesTheMachine(t *testing.T) {
	for _, c := range []struct {
		err       error
		what, fix string
	}{
		{fmt.Errorf("keep a checkout: %w", &fs.PathError{Op: "open", Path: "/var/x y/lock", Err: syscall.EACCES}), "may not use a file", "`ls -ld '/var/x y' '/var/x y/lock'`"},
		{&os.LinkError{Op: "rename", Old: "/a", New: "/etc/none/here/c", Err: syscall.ENOSPC}, "quota is full", "`df -h /etc`"},
		{errors.Join(errors.New("first"), &fs.PathError{Op: "write", Path: "x", Err: syscall.EFBIG}), "larger", "`ulimit -f`"},
		{os.NewSyscallError("pipe2", syscall.EMFILE), "too many files", "`ulimit -n"},
		{&fs.PathError{Op: "mkdir", Path: "/etc/a", Err: syscall.EROFS}, "read-only", "`findmnt -T /etc`"},
		{&fs.PathError{Op: "mkdir", Path: "/proc/relay", Err: syscall.ENOENT}, "may not use a file", "`ls -ld /proc"},
		{fmt.Errorf("look: %w", &git.Error{Dir: "/r", Kind: git.Missing}), "git is not installed", "install git"},
		{&git.Error{Dir: "/r", Kind: git.Inside}, "relay starts no git of the repository itself", "`command -v git`"},
	} {
		f := Internal(c.err)
		if !strings.Contains(f.What, c.what) || !strings.HasPrefix(f.Fix, c.fix) || !errors.Is(f, c.err) {
			t.Errorf("%v: %q, fix %q", c.err, f.What, f.Fix)
		}
	}
	for _, err := range []error{errors.New("nil task"), &fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, &fs.PathError{Op: "read", Path: "x", Err: syscall.EINVAL}} {
		if f := Internal(err); f.What != "internal error" {
			t.Errorf("%v: %q", err, f.What)
		}
	}
}

// A cause is one sentence, and has no fix beside that of the Error around it.
func TestWrapSaysItOnce(t *testing.T) {
	inner := New(judge.BlockedBox, "no box", "the disk is full", "`df -h`")
	f := Wrap(errors.Join(fmt.Errorf("open: %w", inner), errors.New("close: no space")), judge.StopInterrupted, "the run stopped", "`relay run`")
	if want := "open: no box: the disk is full; close: no space"; f.Why != want {
		t.Errorf("%q, want %q", f.Why, want)
	}
}
