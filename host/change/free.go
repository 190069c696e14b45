package change

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change/fault"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/judge/program"
	"golang.org/x/sys/unix"
)

// Free waits until no other git holds what landing on the branch takes ("" is a detached
// HEAD). A lock that stays, as git leaves one when it is killed, a folder of git's that relay
// may not write, a detached HEAD that git itself will leave, and what makes every commit of
// git's fail are [judge.BlockedRepository] errors.
func (e Env) Free(ctx context.Context, branch string) error {
	if doing := e.passing(); branch == "" && doing != "" {
		return &fault.Error{Kind: fault.Busy, Path: doing}
	}
	refs := filepath.Dir(e.refFile(branch))
	for refs != e.Git.CommonDir && !there(refs) { // a packed branch of a folder that is gone
		refs = filepath.Dir(refs)
	}
	for _, dir := range []string{e.Git.GitDir, filepath.Join(e.Git.CommonDir, "objects"), refs} {
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
			return &fault.Error{Kind: fault.ReadOnly, Path: dir, Err: err}
		}
	}
	if err := e.dates(ctx); err != nil {
		return err
	}
	if err := e.filters(ctx); err != nil {
		return err
	}
	return e.unlocked(ctx, branch)
}

// dates reports a date of commits in the user's environment that git can't read.
func (e Env) dates(ctx context.Context) error {
	for _, who := range []string{"GIT_AUTHOR", "GIT_COMMITTER"} {
		set := slices.DeleteFunc(slices.Clone(e.Environ), func(kv string) bool { return !strings.HasPrefix(kv, who+"_DATE=") || strings.HasSuffix(kv, "=") })
		if len(set) == 0 {
			continue
		}
		_, err := e.Git.Write(ctx, append(set, nobody...), nil, "var", who+"_IDENT")
		if fail, ok := errors.AsType[*git.Error](err); ok {
			return &fault.Error{Kind: fault.Date, Path: who + "_DATE", Err: errors.New(fail.Stderr)}
		}
	}
	return nil
}

// plainProgram is the first word of a shell command that names a program.
var plainProgram = regexp.MustCompile(`^\s*([\w.+/-]+)(\s|$)`)

// filters reports a missing program through which git has to store a file.
func (e Env) filters(ctx context.Context) error {
	set, path := map[string]string{}, ""
	for _, kv := range e.filtering().environ(e.Git) {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = value
		}
	}
	for _, s := range e.Git.FilterSettings() {
		set[s[0]] = s[1]
	}
	for key, value := range set {
		name, ok := strings.CutSuffix(key, ".required")
		if !ok || !slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(value)) {
			continue
		}
		name = strings.TrimPrefix(name, "filter.")
		word := plainProgram.FindStringSubmatch(cmp.Or(set["filter."+name+".process"], set["filter."+name+".clean"]))
		if word == nil || strings.Contains(word[1], "/") || slices.Contains([]string{"exec", "cd", "if", "for", "while", "until", "case", "eval", "command", "set", "export", "."}, word[1]) {
			continue
		}
		if _, err := program.FindBoxed(word[1], path, e.Git.Root); err == nil {
			continue
		}
		files, err := e.Git.Run(ctx, nil, "ls-files", "-z", "--", ":(attr:filter="+name+")")
		if file, _, some := strings.Cut(string(files), "\x00"); err == nil && some {
			return &fault.Error{Kind: fault.FilterMissing, Path: file, In: word[1], Why: name}
		}
	}
	return nil
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
			return &fault.Error{Kind: fault.Locked, Path: lock}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	return nil
}
