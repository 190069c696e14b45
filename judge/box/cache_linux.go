package box

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// Cached is the folder that takes what processes write to the i-th cache; "" where this box
// has none.
func (b *Box) Cached(i int) string {
	if b.layer == "" || b.spec.Means != Overlay {
		return ""
	}
	return filepath.Join(b.layer, "cache", strconv.Itoa(i), "up")
}

// addCaches plans the caches. They lie on disk: what builds write is too much for memory.
func (b *Box) addCaches(pl *planner) error {
	if len(b.caches) == 0 || b.Cached(0) == "" || b.spec.Home == "" {
		return nil
	}
	if !pl.planned(b.spec.Home) { // so that there is a place for each
		pl.mirror(b.spec.Home, false)
	}
	for i, c := range b.caches {
		up := b.Cached(i)
		real, missing := placeOf(c.Path)
		s := step{Kind: stepOverlay, Path: filepath.Join(real, missing), Source: c.Kept, Upper: up, Work: filepath.Join(filepath.Dir(up), "work"), Optional: true}
		if missing == "" {
			s.Source, s.Above = real, c.Kept
		}
		if real == "" || tree.Within(s.Path, b.spec.Root) || tree.Within(s.Path, b.spec.StateDir) || pl.planned(s.Path) {
			continue
		}
		info, err := os.Stat(s.Source)
		if err == nil {
			err = os.MkdirAll(up, 0o700)
		}
		if err == nil {
			err = unix.Chmod(up, tree.UnixMode(info.Mode()))
		}
		if err == nil {
			err = emptied(s.Work)
		}
		if err != nil {
			return &Error{Op: "prepare the cache", Path: c.Path, Err: err}
		}
		pl.steps = append(pl.steps, s)
	}
	return nil
}

// placeOf is where a path leads: what of it is there, without links, and the rest of it; "" for
// a link to nothing. A folder made in the place of a link would hide what the link leads to.
func placeOf(path string) (real, missing string) {
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return real, missing
		}
		if _, err = os.Lstat(path); err == nil || path == "/" {
			return "", ""
		}
		missing = filepath.Join(filepath.Base(path), missing)
		path = filepath.Dir(path)
	}
}
