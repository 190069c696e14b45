package checkout

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/paxiom/relay/host/internal/beneath"
)

// What a folder that git ignores may have to be copied; a larger one is shown as it is.
// A copy can be removed as a whole, as build tools do; what is shown is the place of a
// mount, of which only the content can be.
const (
	maxFiles = 4000
	maxBytes = 64 << 20
)

// ignored lists what lies in the work tree and is ignored by the rules of the commit, which
// need not be those of the work tree's own files and index, and removes what was copied of
// it before and is not in the list any more.
func (r *refresher) ignored(ctx context.Context) error {
	out, err := r.k.Git.At(r.live, r.index).Run(ctx, nil, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return err
	}
	theirs := func(p string) bool { return strings.HasPrefix(p, r.k.Own+"/") || r.tracks(strings.TrimSuffix(p, "/")) }
	found, err := r.lawful(ctx, slices.DeleteFunc(lines(out), theirs))
	if err != nil {
		return err
	}
	for _, name := range []string{".gitignore", "TASK.json"} {
		p := path.Join(r.k.Own, name)
		if fi, err := os.Lstat(filepath.Join(r.live, p)); r.k.Own != "" && err == nil && fi.Mode().IsRegular() && !r.tracks(p) {
			found = append(found, p)
		}
	}
	have := map[string]bool{}
	for _, p := range found {
		if !have[p] && !under(p, have) {
			have[p], r.now.Ignored = true, append(r.now.Ignored, p)
		}
	}
	if r.was == nil {
		return nil
	}
	for _, p := range r.was.Ignored {
		if name := strings.TrimSuffix(p, "/"); !have[p] && !r.tracks(name) {
			if err := r.root.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// lawful gives those of the paths that the rules of the commit ignore, and folders that
// ignore themselves.
func (r *refresher) lawful(ctx context.Context, paths []string) ([]string, error) {
	var names []string
	for _, p := range paths {
		name, isDir := strings.CutSuffix(p, "/")
		if names = append(names, name); !isDir {
			continue
		}
		if err := r.root.MkdirAll(name, 0o755); err != nil { // git looks whether a rule for folders is meant
			return nil, err
		}
	}
	ignored, err := r.git.CheckIgnore(ctx, names)
	var found []string
	for _, p := range slices.Backward(paths) { // what lies in a folder comes after it
		name, isDir := strings.CutSuffix(p, "/")
		switch {
		case ignored[name], isDir && r.ignoresItself(name):
			found = append(found, p)
		case isDir:
			r.root.Remove(name) // unless something is in it
		}
	}
	slices.Reverse(found)
	return found, err
}

// ignoresItself reports whether a folder has a .gitignore of its own that covers all of it,
// as uv, pytest, mypy and others make theirs. No commit has a rule for it.
func (r *refresher) ignoresItself(dir string) bool {
	rules, err := beneath.ReadFile(r.live, path.Join(dir, ".gitignore"), 4096)
	return err == nil && slices.Contains(strings.Fields(string(rules)), "*")
}

// giveWay removes what was copied when the commit did not have these paths.
func (r *refresher) giveWay() error {
	if r.was == nil {
		return nil
	}
	for _, p := range r.was.Ignored {
		if name := strings.TrimSuffix(p, "/"); r.tracks(name) {
			if err := r.root.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// tracks reports whether the commit has a path, one below it, or a file in the place of a
// folder above it.
func (r *refresher) tracks(name string) bool {
	has := func(path string, match func(have, path string) bool) bool {
		i := sort.Search(len(r.files), func(i int) bool { return r.files[i].path >= path })
		return i < len(r.files) && match(r.files[i].path, path)
	}
	same := func(have, path string) bool { return have == path }
	for at := path.Dir(name); at != "."; at = path.Dir(at) {
		if has(at, same) {
			return true
		}
	}
	return has(name, same) || has(name+"/", strings.HasPrefix)
}

// under says that one of the folders holds a path.
func under(p string, dirs map[string]bool) bool {
	for at := path.Dir(strings.TrimSuffix(p, "/")); at != "."; at = path.Dir(at) {
		if dirs[at+"/"] {
			return true
		}
	}
	return false
}

// place copies what git ignores, or has it shown.
func (r *refresher) place() error {
	for _, p := range r.now.Ignored {
		name, isDir := strings.CutSuffix(p, "/")
		src, dst := filepath.Join(r.live, name), filepath.Join(r.tree, name)
		if err := r.root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		switch {
		case isDir && large(src):
			if err := r.show(name); err != nil {
				return err
			}
		case isDir:
			if err := mirror(src, dst); err != nil {
				return err
			}
		default:
			if err := copyPlain(src, dst); err != nil {
				return err
			}
		}
	}
	return nil
}

// show has a folder of the work tree shown as it is.
func (r *refresher) show(name string) error {
	fi, err := r.root.Lstat(name)
	entries, _ := os.ReadDir(filepath.Join(r.tree, name))
	if err != nil || !fi.IsDir() || len(entries) > 0 {
		if err := r.root.RemoveAll(name); err != nil {
			return err
		}
		if err := r.root.MkdirAll(name, 0o755); err != nil {
			return err
		}
	}
	r.shown = append(r.shown, filepath.Join(r.live, name))
	return nil
}

// large reports whether a folder holds more than is copied.
func large(dir string) bool {
	files, bytes := 0, int64(0)
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if files++; d.Type().IsRegular() {
			if fi, err := d.Info(); err == nil {
				bytes += fi.Size()
			}
		}
		if files > maxFiles || bytes > maxBytes {
			return fs.SkipAll
		}
		return nil
	})
	return files > maxFiles || bytes > maxBytes
}
