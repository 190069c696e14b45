package git

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
func (g *Repo) CheckIgnore(ctx context.Context, paths []string) (map[string]bool, error) {
	if len(paths) == 0 {
		return map[string]bool{}, nil
	}
	ignored := make(map[string]bool)
	beyond := map[dirKind]map[string][]string{dirLink: {}, dirRepository: {}} // by what is in the way
	var ask []string
	kinds := make(map[string]dirKind)
	for _, path := range paths {
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
// asked without, and then which of the matching paths are tracked after all. Each path
// has to have an answer both times: an answer that was cut off decides nothing.
func (g *Repo) match(ctx context.Context, ask []string, ignored map[string]bool) error {
	if len(ask) == 0 {
		return nil
	}
	args := []string{"check-ignore", "--no-index", "--verbose", "--non-matching", "-z", "--stdin"}
	out, err := g.feed(ctx, ask, "./", args...)                                        // "./" takes its meaning from a leading ':'
	if fail, ok := errors.AsType[*Error](err); err != nil && (!ok || fail.Exit != 1) { // 1: none is ignored
		return err
	}
	answers := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") // source, line, pattern, path
	if len(answers) != 4*len(ask) || !strings.HasSuffix(string(out), "\x00") {
		return g.cutOff(args)
	}
	var match []string
	for i, path := range ask {
		pattern, about := answers[4*i+2], answers[4*i+3]
		if about != "./"+path {
			return g.cutOff(args)
		}
		// What has a line break would confuse the second answer; such a name is
		// refused wherever it is.
		if pattern != "" && pattern[0] != '!' && !strings.Contains(path, "\n") {
			match = append(match, path)
		}
	}
	if len(match) == 0 {
		return nil
	}
	args = []string{"cat-file", "-z", "--batch-check=%(objecttype)"}
	if out, err = g.feed(ctx, match, ":0:", args...); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(match) || !strings.HasSuffix(string(out), "\n") {
		return g.cutOff(args)
	}
	for i, path := range match {
		switch lines[i] {
		case ":0:" + path + " missing":
			ignored[path] = true
		case "blob", "tree", "commit", "tag":
		default:
			return g.cutOff(args)
		}
	}
	return nil
}

// cutOff is the error of an answer that is not one for each question.
func (g *Repo) cutOff(args []string) error {
	return &Error{Kind: Failed, Dir: g.Root, Args: args, Stderr: "one answer for each path was expected"}
}

// feed calls git with the paths on its standard input, each after a prefix.
func (g *Repo) feed(ctx context.Context, paths []string, prefix string, args ...string) ([]byte, error) {
	var list bytes.Buffer
	for _, path := range paths {
		list.WriteString(prefix + path + "\x00")
	}
	return g.Run(ctx, &list, args...)
}

// checkNested adds the ignored ones of the paths that lie in the repository at repo.
func (g *Repo) checkNested(ctx context.Context, repo string, paths []string, ignored map[string]bool) error {
	if ignored[repo] {
		for _, path := range paths {
			ignored[path] = true
		}
		return nil
	}
	sub, err := g.nested(ctx, repo)
	if err != nil || sub == nil {
		return err
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

// nested opens the repository in a folder of this one; nil when there is none that works:
// a broken one excuses no change, and none lands in it.
func (g *Repo) nested(ctx context.Context, dir string) (*Repo, error) {
	sub, err := Open(ctx, filepath.Join(g.Root, dir))
	if fail, ok := errors.AsType[*Error](err); ok && (fail.Kind == NotRepository || fail.Kind == Bare) {
		return nil, nil
	}
	if err != nil || sub.Root == g.Root {
		return nil, err
	}
	sub.Decide = g.Decide
	return sub, nil
}

type dirKind uint8

const (
	dirPlain dirKind = iota + 1
	dirLink
	dirRepository
)

// boundary finds the first folder above path that is a link or a repository.
func (g *Repo) boundary(path string, known map[string]dirKind) (string, dirKind) {
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
