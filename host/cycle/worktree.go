package cycle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Worktree is one work tree of the pool.
type Worktree struct {
	Path  string `json:"path"`
	Cycle string `json:"cycle,omitempty"` // that has it; "" when it is free
	Bytes int64  `json:"bytes,omitempty"`
}

// owner is <worktree>.json: which cycle has it.
type owner struct {
	UUID string    `json:"uuid"`
	At   time.Time `json:"at"`
}

// pool is where this repository's work trees lie.
func (e *Env) pool(git *judge.Git) string {
	sum := sha256.Sum256([]byte(git.CommonDir))
	return filepath.Join(e.DataDir, "worktrees", hex.EncodeToString(sum[:8]))
}

// locked does something while no other process changes the pool, the locks of services
// or the rotation.
func (e *Env) locked(do func() error) error {
	if err := e.WS.MkdirAll(e.WS.Locks()); err != nil {
		return err
	}
	l := flock.New(filepath.Join(e.WS.Locks(), ".mutex"))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if ok, err := l.TryLockContext(ctx, 10*time.Millisecond); !ok || err != nil {
		return fault.New(judge.BlockedLockHeld, "another relay is just starting or ending a cycle here", fmt.Sprint(err), "`relay queue`, then try again")
	}
	defer l.Unlock()
	return do()
}

// Worktrees lists the pool. sizes costs a walk through all of them.
func (e *Env) Worktrees(ctx context.Context, sizes bool) ([]Worktree, error) {
	git, err := judge.OpenGit(ctx, e.Root)
	if err != nil {
		return nil, gitFault(err)
	}
	entries, err := os.ReadDir(e.pool(git))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Internal(err)
	}
	var out []Worktree
	for _, d := range entries {
		if !d.IsDir() {
			continue
		}
		w := Worktree{Path: filepath.Join(e.pool(git), d.Name())}
		if b, err := workspace.ReadFile(w.Path+".json", 4<<10); err == nil {
			var o owner
			if json.Unmarshal(b, &o) == nil && e.alive(o.UUID) {
				w.Cycle = o.UUID
			}
		}
		if sizes {
			w.Bytes = sizeOf(w.Path)
		}
		out = append(out, w)
	}
	return out, nil
}

// alive says whether a cycle has not ended.
func (e *Env) alive(uuid string) bool {
	if !validUUID(uuid) {
		return false
	}
	r, err := ReadRecord(e.WS, uuid)
	if err != nil {
		_, serr := os.Lstat(filepath.Join(folder(e.WS, uuid), "log.jsonl"))
		return serr == nil // damaged, or just beginning
	}
	return !r.State.Ended()
}

func sizeOf(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if fi, err := d.Info(); err == nil {
				n += fi.Size()
			}
		}
		return nil
	})
	return n
}

// takeWorktree gives a cycle a work tree on a new branch: a free one of the pool, or a
// new one while there may be more.
func (e *Env) takeWorktree(ctx context.Context, uuid, branch, base string) (path string, err error) {
	git, err := judge.OpenGit(ctx, e.Root)
	if err != nil {
		return "", gitFault(err)
	}
	all, err := e.Worktrees(ctx, true)
	if err != nil {
		return "", err
	}
	var total int64
	for _, w := range all {
		total += w.Bytes
		if w.Cycle != "" || path != "" {
			continue
		}
		if e.reuse(ctx, w.Path, branch, base) == nil {
			path = w.Path
		}
	}
	if path == "" {
		if err := e.room(len(all), total); err != nil {
			return "", err
		}
		if path, err = e.addWorktree(ctx, git, all, branch, base); err != nil {
			return "", err
		}
	}
	return path, workspace.WriteJSON(path+".json", owner{uuid, e.now().UTC()})
}

// room refuses another work tree over the caps.
func (e *Env) room(n int, bytes int64) error {
	most := e.Config.Cycles
	const fix = "`relay gc` collects those that are free; `relay queue` shows the cycles that have the others"
	if n >= most.MaxWorktrees {
		return fault.New(judge.BlockedBudgetCap, "there are as many work trees as there may be", fmt.Sprintf("%d of cycles.max_worktrees %d", n, most.MaxWorktrees), fix)
	}
	if mb := bytes / 1_000_000; mb >= int64(most.WorktreesMaxMB) {
		return fault.New(judge.BlockedBudgetCap, "the work trees of cycles take as much disk as they may", fmt.Sprintf("%d MB of cycles.worktrees_max_mb %d", mb, most.WorktreesMaxMB), fix)
	}
	return nil
}

// reuse puts a free work tree on a new branch. Nothing of its last cycle stays.
func (e *Env) reuse(ctx context.Context, path, branch, base string) error {
	git, err := judge.OpenGit(ctx, path)
	if err != nil {
		return err
	}
	if _, err := git.Write(ctx, nil, nil, "checkout", "-q", "-f", "--no-track", "-b", branch, base); err != nil {
		return err
	}
	_, err = git.Write(ctx, nil, nil, "clean", "-q", "-ffdx")
	return err
}

func (e *Env) addWorktree(ctx context.Context, git *judge.Git, all []Worktree, branch, base string) (string, error) {
	dir := e.pool(git)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fault.Wrap(err, judge.BlockedMissingConfig, "there is no place for the work trees of cycles", "`ls -ld "+fault.Word(e.DataDir)+"`")
	}
	taken := map[string]bool{}
	for _, w := range all {
		taken[w.Path] = true
	}
	path := ""
	for n := 1; path == "" || taken[path]; n++ {
		path = filepath.Join(dir, fmt.Sprintf("%02d", n))
	}
	if _, err := git.Write(ctx, nil, nil, "worktree", "prune"); err != nil {
		return "", gitFault(err)
	}
	if _, err := git.Write(ctx, nil, nil, "worktree", "add", "-q", "--no-track", "-b", branch, path, base); err != nil {
		return "", fault.Wrap(err, judge.BlockedMissingConfig, "the cycle gets no work tree", "`git worktree list` shows those that there are")
	}
	return path, nil
}

// releaseWorktree leaves a cycle's work tree to the next one. Its branch is let go, so
// that the operator can check it out.
func (e *Env) releaseWorktree(ctx context.Context, path, uuid string) error {
	return e.locked(func() error {
		if repo, err := judge.OpenGit(ctx, e.Root); err != nil || filepath.Dir(path) != e.pool(repo) {
			return nil // none of ours
		}
		b, err := workspace.ReadFile(path+".json", 4<<10)
		var o owner
		if err != nil || json.Unmarshal(b, &o) != nil || o.UUID != uuid {
			return nil // it has another owner by now, or none
		}
		if git, err := judge.OpenGit(ctx, path); err == nil {
			if _, err := git.Write(ctx, nil, nil, "checkout", "-q", "-f", "--detach"); err != nil {
				return fault.Wrap(err, judge.BlockedCrashRecovery, "the cycle's work tree can't be let go", "`git -C "+fault.Word(path)+" status`")
			}
		}
		return os.Remove(path + ".json")
	})
}

// Collect removes the work trees that no cycle has. It gives what it removed.
func (e *Env) Collect(ctx context.Context, dry bool) ([]Worktree, error) {
	var gone []Worktree
	err := e.locked(func() error {
		all, err := e.Worktrees(ctx, true)
		if err != nil {
			return err
		}
		git, err := judge.OpenGit(ctx, e.Root)
		if err != nil {
			return gitFault(err)
		}
		for _, w := range all {
			if w.Cycle != "" {
				continue
			}
			gone = append(gone, w)
			if dry {
				continue
			}
			if _, err := git.Write(ctx, nil, nil, "worktree", "remove", "--force", "--force", w.Path); err != nil {
				if err := os.RemoveAll(w.Path); err != nil {
					return fault.Internal(err)
				}
			}
			os.Remove(w.Path + ".json")
		}
		if !dry {
			_, err = git.Write(ctx, nil, nil, "worktree", "prune")
		}
		return err
	})
	return gone, err
}
