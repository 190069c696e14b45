package root

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// The reasons for which there is no working tree.
var (
	ErrNone   = errors.New("no repository")
	ErrInside = errors.New("inside of a .git folder")
	ErrBare   = errors.New("a bare repository")
)

// Find gives the root of the working tree that dir lies in, whether dir is a
// subfolder, a linked worktree or a submodule, with links resolved. With [ErrNone] at
// is dir itself, with [ErrInside] the root of the repository whose .git dir lies in, with
// [ErrBare] the bare repository that it lies in.
// Any other error says why dir can't be entered.
func Find(dir string) (at string, err error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", err
	}
	bare := ""
	for at := abs; ; at = filepath.Dir(at) {
		if isGit(filepath.Join(at, ".git")) {
			if rel, _ := filepath.Rel(at, abs); rel == ".git" || strings.HasPrefix(rel, ".git/") {
				return at, ErrInside
			}
			return at, nil
		}
		if bare == "" && isBare(at) {
			bare = at
		}
		switch {
		case at != filepath.Dir(at):
		case bare != "":
			return bare, ErrBare
		default:
			return abs, ErrNone
		}
	}
}

// isBare tells a bare repository from any other folder by what git looks for.
func isBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || fi.IsDir() == (name == "HEAD") {
			return false
		}
	}
	return true
}

// GitDir gives the git directory of the working tree at root, links resolved: its .git, or
// what the file of that name points at. Where there is none, it is where git would make it.
func GitDir(root string) string {
	dir := filepath.Join(root, ".git")
	if fi, err := os.Stat(dir); err == nil && fi.Mode().IsRegular() && fi.Size() < 64<<10 {
		if text, err := os.ReadFile(dir); err == nil {
			if at, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); ok {
				if dir = at; !filepath.IsAbs(at) {
					dir = filepath.Join(root, at)
				}
			}
		}
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// isGit tells a repository's .git, folder or pointer file, from anything else of that name.
func isGit(p string) bool {
	fi, err := os.Stat(p)
	if err != nil {
		return false
	}
	if fi.IsDir() {
		_, err := os.Lstat(filepath.Join(p, "HEAD"))
		return err == nil
	}
	f, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	const mark = "gitdir: "
	head := make([]byte, len(mark))
	_, err = io.ReadFull(f, head)
	return fi.Mode().IsRegular() && err == nil && string(head) == mark
}
