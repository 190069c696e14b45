package change

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/judge"
	"golang.org/x/sys/unix"
)

// Free waits until no other git holds what landing on the branch takes ("" is a detached
// HEAD). A lock that stays, as git leaves one when it is killed, and a folder of git's that
// relay may not write are [judge.BlockedRepository] faults.
func (e Env) Free(ctx context.Context, branch string) error {
	ref := filepath.Join(e.Git.GitDir, "HEAD")
	if branch != "" {
		ref = filepath.Join(e.Git.CommonDir, "refs", "heads", filepath.FromSlash(branch))
	}
	refs := filepath.Dir(ref)
	for refs != e.Git.CommonDir && !there(refs) { // a packed branch of a folder that is gone
		refs = filepath.Dir(refs)
	}
	for _, dir := range []string{e.Git.GitDir, filepath.Join(e.Git.CommonDir, "objects"), refs} {
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
			return fault.Wrap(err, judge.BlockedRepository, "relay may not write "+strconv.Quote(dir)+", where git keeps what it commits", "`ls -ld "+fault.Word(dir)+"`")
		}
	}
	for _, at := range []string{filepath.Join(e.Git.GitDir, "index.lock"), filepath.Join(e.Git.GitDir, "HEAD.lock"), ref + ".lock"} {
		if err := unlocked(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// unlocked waits for the end of another git's lock.
func unlocked(ctx context.Context, lock string) error {
	for wait := 20 * time.Millisecond; there(lock); wait *= 2 {
		if wait > lockPatience {
			return fault.New(judge.BlockedRepository, "another git holds a lock of this repository", strconv.Quote(lock)+" is there",
				"`rm "+fault.Word(lock)+"`, when no git is at work here")
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	return nil
}
