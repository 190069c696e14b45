package worktree

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

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Tree is one work tree of a pool.
type Tree struct {
	Path  string
	Owner string // "" when it is free
	Bytes int64  // 0 when sizes were not asked for
}

// Pool is the work trees of one repository for one purpose.
type Pool struct {
	Git *git.Repo // the repository
	Dir string    // where they lie
	// Alive reports whether an owner still needs its tree. nil: every owner does.
	Alive func(owner string) bool
	// Room refuses one more where there are n already, which take so many bytes. nil:
	// there is always room.
	Room func(n int, bytes int64) error
	// Fill puts what the user's filters (LFS) make of it into a work tree that was just
	// checked out: git does that without any. nil: nothing.
	Fill func(context.Context, *git.Repo) error
	Now  func() time.Time
}

// Dir gives the folder of a repository's pool below base.
func Dir(base string, git *git.Repo) string {
	sum := sha256.Sum256([]byte(git.CommonDir))
	return filepath.Join(base, hex.EncodeToString(sum[:8]))
}

// mark is <tree>.json: who has it.
type mark struct {
	Owner string    `json:"uuid"`
	At    time.Time `json:"at"`
}

// List gives all of them. sizes costs a walk through each.
func (p *Pool) List(sizes bool) ([]Tree, error) {
	entries, err := os.ReadDir(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diag.Internal(err)
	}
	var out []Tree
	for _, d := range entries {
		if !d.IsDir() {
			continue
		}
		t := Tree{Path: filepath.Join(p.Dir, d.Name())}
		if o := ownerOf(t.Path); o != "" && (p.Alive == nil || p.Alive(o)) {
			t.Owner = o
		}
		if sizes {
			t.Bytes = workspace.Size(t.Path)
		}
		out = append(out, t)
	}
	return out, nil
}

func ownerOf(path string) string {
	var m mark
	b, err := workspace.ReadFile(path+".json", 4<<10)
	if err != nil || json.Unmarshal(b, &m) != nil {
		return ""
	}
	return m.Owner
}

// Take gives an owner a work tree on a new branch at base: a free one, or a new one
// while there is room. Branch "" detaches it.
func (p *Pool) Take(ctx context.Context, owner, branch, base string) (path string, err error) {
	all, err := p.List(p.Room != nil)
	if err != nil {
		return "", err
	}
	var total int64
	for _, t := range all {
		total += t.Bytes
		if t.Owner == "" && path == "" && Reset(ctx, t.Path, branch, base) == nil {
			path = t.Path
		}
	}
	if path == "" {
		if p.Room != nil {
			if err := p.Room(len(all), total); err != nil {
				return "", err
			}
		}
		if path, err = p.add(ctx, all, branch, base); err != nil {
			return "", err
		}
	}
	if p.Fill != nil {
		git, err := git.Open(ctx, path)
		if err == nil {
			err = p.Fill(ctx, git)
		}
		if err != nil {
			return "", diag.Git(err)
		}
	}
	return path, workspace.WriteJSON(path+".json", mark{owner, p.now().UTC()})
}

func (p *Pool) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

// on are git's words for a new branch, or none.
func on(branch string) []string {
	if branch == "" {
		return []string{"--detach"}
	}
	return []string{"--no-track", "-b", branch}
}

// Reset puts a work tree on a new branch at base, or on none. Nothing of what it held
// before stays.
func Reset(ctx context.Context, path, branch, base string) error {
	git, err := git.Open(ctx, path)
	if err != nil {
		return err
	}
	args := append([]string{"checkout", "-q", "-f"}, on(branch)...)
	if _, err := git.Write(ctx, nil, nil, append(args, base)...); err != nil {
		return err
	}
	_, err = git.Write(ctx, nil, nil, "clean", "-q", "-ffdx")
	return err
}

func (p *Pool) add(ctx context.Context, all []Tree, branch, base string) (string, error) {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return "", diag.Wrap(err, judge.BlockedMissingConfig, "relay can't make a folder for work trees", "`ls -ld "+diag.Word(filepath.Dir(p.Dir))+"`")
	}
	taken := map[string]bool{}
	for _, t := range all {
		taken[t.Path] = true
	}
	path := ""
	for n := 1; path == "" || taken[path]; n++ {
		path = filepath.Join(p.Dir, fmt.Sprintf("%02d", n))
	}
	if _, err := p.Git.Write(ctx, nil, nil, "worktree", "prune"); err != nil {
		return "", diag.Git(err)
	}
	args := append([]string{"worktree", "add", "-q"}, on(branch)...)
	if _, err := p.Git.Write(ctx, nil, nil, append(args, path, base)...); err != nil {
		return "", diag.Wrap(err, judge.BlockedMissingConfig, "no work tree is available", "`git worktree list` shows those that there are")
	}
	return path, nil
}

// Release leaves an owner's work tree to the next one. Its branch is let go, so that
// the operator can check it out. What the owner does not have stays as it is.
func (p *Pool) Release(ctx context.Context, path, owner string) error {
	if filepath.Dir(path) != p.Dir || ownerOf(path) != owner {
		return nil
	}
	if git, err := git.Open(ctx, path); err == nil {
		if _, err := git.Write(ctx, nil, nil, "checkout", "-q", "-f", "--detach"); err != nil {
			return diag.Wrap(err, judge.BlockedCrashRecovery, "a work tree can't be released", "`git -C "+diag.Word(path)+" status`")
		}
	}
	return os.Remove(path + ".json")
}

// Collect removes those that nobody has, and gives them. dry only says which.
func (p *Pool) Collect(ctx context.Context, dry bool) ([]Tree, error) {
	all, err := p.List(true)
	if err != nil {
		return nil, err
	}
	var gone []Tree
	for _, t := range all {
		if t.Owner != "" {
			continue
		}
		gone = append(gone, t)
		if dry {
			continue
		}
		if _, err := p.Git.Write(ctx, nil, nil, "worktree", "remove", "--force", "--force", t.Path); err != nil {
			if err := os.RemoveAll(t.Path); err != nil {
				return gone, diag.Internal(err)
			}
		}
		os.Remove(t.Path + ".json")
	}
	if !dry {
		_, err = p.Git.Write(ctx, nil, nil, "worktree", "prune")
	}
	return gone, err
}
