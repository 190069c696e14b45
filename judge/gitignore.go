package judge

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// CheckIgnore says which of the paths (relative to Root) git ignores here. Tracked
// paths are never ignored. The paths need not exist.
//
// Git refuses the whole question when one path lies behind a symbolic link or in a
// submodule. The former are ignored with the link, which they took the place of; the
// latter are asked of the submodule.
func (g *Git) CheckIgnore(ctx context.Context, paths []string) (map[string]bool, error) {
	if len(paths) == 0 {
		return map[string]bool{}, nil
	}
	return g.CheckIgnoreLater(ctx, func() []string { return paths })
}

// CheckIgnoreLater is [Git.CheckIgnore] of paths that are not known yet: git starts
// while they are found. paths is called once, by another goroutine, and may wait.
func (g *Git) CheckIgnoreLater(ctx context.Context, paths func() []string) (map[string]bool, error) {
	ignored := make(map[string]bool)
	beyond := map[dirKind]map[string][]string{dirLink: {}, dirRepository: {}} // by what is in the way
	ask := func() []string {
		var ask []string
		kinds := make(map[string]dirKind)
		for _, path := range paths() {
			dir, kind := g.boundary(path, kinds)
			if kind == dirPlain {
				ask = append(ask, path)
				continue
			}
			if beyond[kind][dir] == nil {
				ask = append(ask, dir)
			}
			beyond[kind][dir] = append(beyond[kind][dir], path)
		}
		return ask
	}
	if err := g.match(ctx, ask, ignored); err != nil {
		return nil, err
	}
	for link, behind := range beyond[dirLink] {
		for _, path := range behind {
			if ignored[link] {
				ignored[path] = true
			}
		}
	}
	for repo, inside := range beyond[dirRepository] {
		if err := g.checkNested(ctx, repo, inside, ignored); err != nil {
			return nil, err
		}
	}
	return ignored, nil
}

// match adds those of the paths that lie in this repository and are ignored.
//
// Asked with the index, git takes time in proportion to paths times files. So it is
// asked without, and then which of the matching paths are tracked after all.
func (g *Git) match(ctx context.Context, ask func() []string, ignored map[string]bool) error {
	out, err := g.feed(ctx, ask, "./", "check-ignore", "--no-index", "-z", "--stdin") // "./" takes its meaning from a leading ':'
	if fail, ok := errors.AsType[*GitError](err); ok && fail.Exit == 1 {
		return nil // none is ignored
	} else if err != nil {
		return err
	}
	var match []string
	for path := range strings.SplitSeq(string(out), "\x00") {
		// What has a line break would confuse the second answer; such a name is
		// refused wherever it is.
		if path = strings.TrimPrefix(path, "./"); path != "" && !strings.Contains(path, "\n") {
			match = append(match, path)
		}
	}
	if len(match) == 0 {
		return nil
	}
	out, err = g.feed(ctx, func() []string { return match }, ":0:", "cat-file", "-z", "--batch-check=%(objecttype)")
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err == nil && len(lines) != len(match) {
		err = &GitError{Kind: GitFailed, Dir: g.Root, Args: []string{"cat-file"}, Stderr: "one answer for each path was expected"}
	}
	if err != nil {
		return err
	}
	for i, path := range match {
		if lines[i] == ":0:"+path+" missing" {
			ignored[path] = true
		}
	}
	return nil
}

// feed calls git with the paths on its standard input, each after a prefix.
func (g *Git) feed(ctx context.Context, paths func() []string, prefix string, args ...string) ([]byte, error) {
	return g.Run(ctx, &late{paths: paths, prefix: prefix}, args...)
}

// late reads as a list of paths that is first asked for when the reader is.
type late struct {
	paths  func() []string
	prefix string
	list   *bytes.Buffer
}

func (l *late) Read(p []byte) (int, error) {
	if l.list == nil {
		l.list = new(bytes.Buffer)
		for _, path := range l.paths() {
			l.list.WriteString(l.prefix + path + "\x00")
		}
	}
	return l.list.Read(p)
}

// checkNested adds the ignored ones of the paths that lie in the repository at repo.
func (g *Git) checkNested(ctx context.Context, repo string, paths []string, ignored map[string]bool) error {
	if ignored[repo] {
		for _, path := range paths {
			ignored[path] = true
		}
		return nil
	}
	sub, err := OpenGit(ctx, filepath.Join(g.Root, repo))
	if err != nil || sub.Root == g.Root {
		return nil // a broken one can't excuse a change
	}
	inside := make([]string, len(paths))
	for i, path := range paths {
		inside[i] = path[len(repo)+1:]
	}
	found, err := sub.CheckIgnore(ctx, inside)
	if err != nil {
		return err
	}
	for i, path := range paths {
		if found[inside[i]] {
			ignored[path] = true
		}
	}
	return nil
}

type dirKind uint8

const (
	dirPlain dirKind = iota + 1
	dirLink
	dirRepository
)

// boundary finds the first folder above path that is a link or a repository.
func (g *Git) boundary(path string, known map[string]dirKind) (string, dirKind) {
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		dir := path[:i]
		kind, ok := known[dir]
		if !ok {
			kind = dirPlain
			if info, err := os.Lstat(filepath.Join(g.Root, dir)); err == nil && info.Mode()&os.ModeSymlink != 0 {
				kind = dirLink
			} else if err == nil && info.IsDir() {
				if _, err := os.Lstat(filepath.Join(g.Root, dir, ".git")); err == nil {
					kind = dirRepository
				}
			}
			known[dir] = kind
		}
		if kind != dirPlain {
			return dir, kind
		}
	}
	return "", dirPlain
}
