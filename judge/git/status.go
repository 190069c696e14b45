package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// StatusEntry is one line of git status: index and work tree state, and the path.
type StatusEntry struct {
	Index, Work byte // as in "git status --porcelain": ' ', M, T, A, D, U, ?
	Path        string
}

// Status gives everything that differs from HEAD: staged, unstaged and untracked,
// submodules included, ignored files not. It is the one call that scans the tree. No
// filter runs for it: what looks changed without one is for Decide.
func (g *Repo) Status(ctx context.Context) ([]StatusEntry, error) {
	entries, err := g.ownStatus(ctx)
	if err != nil {
		return nil, err
	}
	// Git would start itself in each submodule, with that one's own configuration.
	found, err := g.submodules(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, e := range entries {
		known[e.Path] = true
	}
	for _, e := range found {
		if !known[e.Path] {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// ownStatus is Status without what lies in submodules.
func (g *Repo) ownStatus(ctx context.Context) ([]StatusEntry, error) {
	out, err := g.Run(ctx, nil, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	var entries []StatusEntry
	var changed []string
	lines, err := g.records(out, "status")
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		if len(line) < 4 || line[2] != ' ' {
			return nil, &Error{Kind: Failed, Dir: g.Root, Args: []string{"status"}, Stderr: fmt.Sprintf("unexpected line %q", line)}
		}
		entries = append(entries, StatusEntry{Index: line[0], Work: line[1], Path: line[3:]})
		if line[0] == ' ' && line[1] == 'M' {
			changed = append(changed, line[3:])
		}
	}
	same, err := g.unchanged(ctx, changed)
	if err != nil || len(same) == 0 {
		return entries, err
	}
	kept := entries[:0]
	for _, e := range entries {
		if e.Index != ' ' || e.Work != 'M' || !same[e.Path] {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

// unchanged asks Decide about those of the paths that a filter stands for.
func (g *Repo) unchanged(ctx context.Context, paths []string) (map[string]bool, error) {
	if g.Decide == nil || len(paths) == 0 {
		return nil, nil
	}
	filtered, err := g.Filters(ctx, "", nil, paths)
	if err != nil || len(filtered) == 0 {
		return nil, err
	}
	index, err := g.Indexed(ctx, filtered)
	if err != nil {
		return nil, err
	}
	var ask []string // content alone is the filter's
	for _, path := range filtered {
		fi, err := os.Lstat(filepath.Join(g.Root, path))
		mode := index[path].Mode
		if err != nil || !fi.Mode().IsRegular() || mode != "100644" && mode != "100755" ||
			!g.config.loose && (mode == "100755") != (fi.Mode()&0o100 != 0) {
			continue
		}
		ask = append(ask, path)
	}
	if len(ask) == 0 {
		return nil, nil
	}
	return g.Decide(ctx, g, ask)
}

// Indexed is what git's index has of a path.
type Indexed struct{ Mode, OID string }

// Indexed looks paths up in the index; those that it has not are left out.
func (g *Repo) Indexed(ctx context.Context, paths []string) (map[string]Indexed, error) {
	wanted := make(map[string]bool, len(paths))
	for _, p := range paths {
		wanted[p] = true
	}
	found := map[string]Indexed{}
	err := g.index(ctx, func(mode, oid, path string) {
		if wanted[path] {
			found[path] = Indexed{mode, oid}
		}
	})
	return found, err
}

// index gives each entry of the index that is no conflict.
func (g *Repo) index(ctx context.Context, each func(mode, oid, path string)) error {
	out, err := g.Run(ctx, nil, "ls-files", "-s", "-z")
	if err != nil {
		return err
	}
	lines, err := g.records(out, "ls-files")
	for _, line := range lines {
		about, path, _ := strings.Cut(line, "\t")
		if f := strings.Fields(about); len(f) == 3 && f[2] == "0" {
			each(f[0], f[1], path)
		}
	}
	return err
}

// submodules are those in which something differs from their own HEAD.
func (g *Repo) submodules(ctx context.Context) ([]StatusEntry, error) {
	var links []string
	err := g.index(ctx, func(mode, _, path string) {
		if mode == "160000" {
			links = append(links, path)
		}
	})
	if err != nil {
		return nil, err
	}
	var entries []StatusEntry
	for _, path := range links {
		if _, err := os.Lstat(filepath.Join(g.Root, path, ".git")); err != nil {
			continue // not checked out
		}
		sub, err := g.nested(ctx, path)
		if err != nil {
			return nil, err
		}
		if sub == nil {
			continue
		}
		inside, err := sub.Status(ctx)
		if err != nil {
			return nil, err
		}
		if len(inside) > 0 {
			entries = append(entries, StatusEntry{' ', 'M', path})
		}
	}
	return entries, nil
}

// records takes apart what git prints with -z; each record has its end.
func (g *Repo) records(out []byte, verb string) ([]string, error) {
	text := string(out)
	if text == "" {
		return nil, nil
	}
	if !strings.HasSuffix(text, "\x00") {
		return nil, &Error{Kind: Failed, Dir: g.Root, Args: []string{verb}, Stderr: "the answer is cut off"}
	}
	return strings.Split(text[:len(text)-1], "\x00"), nil
}
