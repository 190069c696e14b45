package change

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
	"golang.org/x/sys/unix"
)

// Free waits until no other git holds what landing on the branch takes ("" is a detached
// HEAD). A lock that stays, as git leaves one when it is killed, a folder of git's that relay
// may not write, and a detached HEAD that git itself will leave are
// [judge.BlockedRepository] errors.
func (e Env) Free(ctx context.Context, branch string) error {
	if doing := e.passing(); branch == "" && doing != "" {
		return diag.New(judge.BlockedRepository, "a git "+doing+" is in progress", "what landed on its HEAD would be on no branch once it ends",
			map[string]string{"rebase": "`git rebase --continue` or `git rebase --abort`", "bisect": "`git bisect reset`"}[doing]+", then again")
	}
	refs := filepath.Dir(e.refFile(branch))
	for refs != e.Git.CommonDir && !there(refs) { // a packed branch of a folder that is gone
		refs = filepath.Dir(refs)
	}
	for _, dir := range []string{e.Git.GitDir, filepath.Join(e.Git.CommonDir, "objects"), refs} {
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
			return diag.Wrap(err, judge.BlockedRepository, "relay may not write "+strconv.Quote(dir)+", where git keeps what it commits", "`ls -ld "+diag.Word(dir)+"`")
		}
	}
	return e.unlocked(ctx, branch)
}

// refFile is where git keeps a branch, or the detached HEAD.
func (e Env) refFile(branch string) string {
	if branch == "" {
		return filepath.Join(e.Git.GitDir, "HEAD")
	}
	return filepath.Join(e.Git.CommonDir, "refs", "heads", filepath.FromSlash(branch))
}

// unlocked waits for the ends of other gits' locks.
func (e Env) unlocked(ctx context.Context, branch string) error {
	for _, lock := range []string{filepath.Join(e.Git.GitDir, "index.lock"), filepath.Join(e.Git.GitDir, "HEAD.lock"), e.refFile(branch) + ".lock"} {
		if err := await(ctx, lock); err != nil {
			return err
		}
	}
	return nil
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// await waits for the end of another git's lock.
func await(ctx context.Context, lock string) error {
	for wait := 20 * time.Millisecond; there(lock); wait *= 2 {
		if wait > lockPatience {
			return diag.New(judge.BlockedRepository, "another git holds a lock of this repository", strconv.Quote(lock)+" is there",
				"`rm "+diag.Word(lock)+"`, when no git is at work here")
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	return nil
}
