package box

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Wrote lists the regular files that processes wrote into this box's layer at the
// repository's path and that match: slashed, and at most most of them. What the layer
// already held counts too. Only an overlay tells what was written.
func (b *Box) Wrote(match func(name string) bool, most int) (names []string) {
	if b.layer == "" || b.spec.Means != Overlay {
		return nil
	}
	for i, lower := range b.lowers() {
		at, err := filepath.Rel(b.spec.Root, lower)
		if err != nil || at == ".." || strings.HasPrefix(at, "../") {
			continue // git's own folder, elsewhere
		}
		root, err := os.OpenRoot(b.upper(i))
		if err != nil {
			continue
		}
		fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil && d != nil && d.IsDir(), d != nil && d.IsDir() && (d.Name() == ".git" || strings.Count(name, "/") > 64):
				return fs.SkipDir
			case err != nil || !d.Type().IsRegular():
				return nil
			}
			if name = filepath.ToSlash(filepath.Join(at, name)); !match(name) {
				return nil
			} else if len(names) == most {
				return fs.SkipAll
			}
			names = append(names, name)
			return nil
		})
		root.Close()
	}
	return names
}
