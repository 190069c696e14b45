package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/fleet/internal/job"
)

// lock gives a repository to one run of this worker at a time.
func (w *Worker) lock(repo string) (unlock func()) {
	w.mu.Lock()
	if w.busy == nil {
		w.busy = map[string]*sync.Mutex{}
	}
	if w.busy[repo] == nil {
		w.busy[repo] = &sync.Mutex{}
	}
	m := w.busy[repo]
	w.mu.Unlock()
	m.Lock()
	return m.Unlock
}

// relay's codes for a repository in which another relay is at work, and for one whose configuration can't be read.
const (
	lockHeld = "BLOCKED_LOCK_HELD"
	noConfig = "BLOCKED_MISSING_CONFIG"
)

// talk is how long git may take to bring a repository here. A connection that was cut off tells nobody.
const talk = time.Hour

// ended notes that the last run in a checkout came to its end, or did not.
func (w *Worker) ended(dir string, whole bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.whole == nil {
		w.whole = map[string]bool{}
	}
	w.whole[dir] = whole
}

// checkout brings the worker's checkout to the branch as the remote has it. It is nobody's
// but the worker's. What a run that was cut off had landed there and not pushed stays for the
// next attempt of that run, and for no other.
func (w *Worker) checkout(ctx context.Context, s job.Spec) (string, error) {
	dir := w.dir(s)
	git := func(args ...string) error {
		limited, cancel := context.WithTimeout(ctx, talk)
		defer cancel()
		_, said, code, err := w.run(limited, dir, nil, "git", args...)
		if err != nil && limited.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("git %s has not ended within %v", args[0], talk)
		}
		if err == nil && code != 0 {
			err = fmt.Errorf("git %s: %s", args[0], said)
		}
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	// What was cut off before its first checkout, or had no disk for it, has nothing that anybody needs.
	_, _, code, err := w.run(ctx, dir, nil, "git", "--git-dir=.git", "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return "", err
	}
	fresh := code != 0
	if fresh {
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
			return "", err
		}
		for _, args := range [][]string{{"init", "--quiet"}, {"remote", "add", "origin", s.Remote}} {
			if err := git(args...); err != nil {
				return "", err
			}
		}
		if near := w.near(ctx, dir, s.Remote); near != "" {
			_ = git("fetch", "--quiet", "--no-tags", near, "+refs/remotes/origin/*:refs/remotes/origin/*") // what is missing comes from afar
		}
	}
	w.mu.Lock()
	whole := fresh || w.whole[dir]
	w.mu.Unlock()
	if !whole { // a landing that was cut off is finished or taken back on the files as they were left
		out, stderr, code, err := w.run(ctx, dir, nil, w.Relay, "recover", "--json", "--no-input")
		if err != nil {
			return "", err
		}
		// Nothing is moved below a relay that is still going, nor over what can't be settled: a later attempt may meet it gone or
		// get further. Without a configuration no run has begun, and the remote may have one by now.
		if no := (said{}); code != 0 && (json.Unmarshal(out, &no) != nil || no.Code != noConfig) {
			return "", fmt.Errorf("relay recover ended with exit code %d: %s\n%s", code, no.said(out), stderr)
		}
		unlock(filepath.Join(dir, ".git"))
	}
	ref := "refs/heads/" + s.Ref
	if err := git("fetch", "--quiet", "--no-tags", "origin", "+"+ref+":refs/remotes/origin/"+s.Ref); err != nil {
		if fresh { // else it would count as a checkout of that repository
			_ = os.RemoveAll(dir)
		}
		return "", err
	}
	at := "refs/remotes/origin/" + s.Ref
	if w.ahead(ctx, dir, at, ref, s.Key) {
		at = ref
	}
	return dir, git("checkout", "--quiet", "--force", "-B", s.Ref, at)
}

// unlock removes what a git that was killed has left in the way of the next one. No other is at work in a checkout that recover has settled.
func unlock(git string) {
	locks, _ := filepath.Glob(filepath.Join(git, "*.lock"))
	_ = filepath.WalkDir(filepath.Join(git, "refs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") { // no ref ends so
			locks = append(locks, path)
		}
		return nil
	})
	for _, lock := range locks {
		_ = os.Remove(lock)
	}
}

func (w *Worker) dir(s job.Spec) string {
	what := s.Remote + "\x00" + s.Ref
	if s.Kind == job.KindTask {
		what += "\x00" + s.Only
	}
	sum := sha256.Sum256([]byte(what))
	return filepath.Join(w.Dir, hex.EncodeToString(sum[:10]))
}

// has reports whether the repository is here, for this branch or for another.
func (w *Worker) has(ctx context.Context, s job.Spec) bool {
	dir := w.dir(s)
	_, err := os.Stat(filepath.Join(dir, ".git"))
	return err == nil || w.near(ctx, dir, s.Remote) != ""
}

// near is the checkout of another branch of a repository; "" where there is none.
func (w *Worker) near(ctx context.Context, dir, remote string) string {
	for other, url := range w.checkouts(ctx) {
		if other != dir && url == remote {
			return other
		}
	}
	return ""
}

// Remotes are the repositories that are here, those used last first.
func (w *Worker) Remotes(ctx context.Context) (all []string) {
	for _, url := range w.checkouts(ctx) {
		if !slices.Contains(all, url) {
			all = append(all, url)
		}
	}
	return all
}

// checkouts are the folders with a checkout, those used last first, and the repositories they are of.
func (w *Worker) checkouts(ctx context.Context) iter.Seq2[string, string] {
	used := func(dir string) int64 { // each run fetches
		if at, err := os.Stat(filepath.Join(dir, ".git", "FETCH_HEAD")); err == nil {
			return at.ModTime().UnixNano()
		}
		return 0
	}
	return func(yield func(string, string) bool) {
		all, _ := filepath.Glob(filepath.Join(w.Dir, "*"))
		slices.SortFunc(all, func(a, b string) int { return cmp.Compare(used(b), used(a)) })
		for _, dir := range all {
			out, _, code, err := w.run(ctx, dir, nil, "git", "config", "remote.origin.url")
			if err == nil && code == 0 && !yield(dir, strings.TrimSpace(string(out))) {
				return
			}
		}
	}
}

// ahead reports whether a branch is the remote's with commits of this key on top.
func (w *Worker) ahead(ctx context.Context, dir, remote, local, key string) bool {
	if _, _, code, err := w.run(ctx, dir, nil, "git", "merge-base", "--is-ancestor", remote, local); err != nil || code != 0 {
		return false
	}
	out, _, code, err := w.run(ctx, dir, nil, "git", "log", "--format=%(trailers:key=Relay-Key,valueonly,separator=%x2C)", remote+".."+local)
	if err != nil || code != 0 || len(out) == 0 {
		return false
	}
	for one := range strings.Lines(string(out)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(one), key)
		if !ok || rest != "" && rest[0] != '.' && rest[0] != '-' { // a tick of a loop, or what went on after an answer
			return false
		}
	}
	return true
}
