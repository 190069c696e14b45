package checkout

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinked bounds the folders that links lead to: each is a mount in every box.
const maxLinked = 64

// linked are the folders outside of the work tree that links of the commit, and links that
// git ignores, lead to: the node_modules of a second work tree, a build folder on another
// disk. A link to what holds the work tree leads to nothing that a tool writes.
func (r *refresher) linked() (dirs []string) {
	add := func(name string) {
		to, err := r.root.Readlink(name)
		if err != nil || len(dirs) >= maxLinked {
			return
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(r.live, filepath.Dir(name), to)
		}
		if to, err = filepath.EvalSymlinks(to); err != nil || !isDir(to) || to == r.live || to == "/" {
			return
		}
		_, inside := below(to, r.live)
		_, above := below(r.live, to)
		if !inside && !above && !slices.Contains(dirs, to) {
			dirs = append(dirs, to)
		}
	}
	for _, f := range r.files {
		if f.mode == link {
			add(f.path)
		}
	}
	for _, p := range r.now.Ignored {
		if fi, err := r.root.Lstat(strings.TrimSuffix(p, "/")); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			add(p)
		}
	}
	slices.Sort(dirs)
	return dirs
}
