package pluginenv

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/confine"
	"github.com/paxiom/relay/judge/box"
)

// granted are the places that a plugin's grants bring into its box. One that holds
// credentials is shown where the grant names it: that of a folder above it, or by way of a
// link, says nothing of them. Hidden checks are shown by no grant.
func (e Env) granted(entry catalog.Entry) []box.Bind {
	never := slices.Clone(e.Config.Verification.CheckDirs)
	for _, h := range e.Config.Verification.Hidden {
		never = append(never, h.Folder)
	}
	named := func(path string) bool {
		path = realBelow(path, e.Home)
		for _, dir := range never {
			if under(path, realBelow(dir, e.Home)) || under(path, dir) {
				return false
			}
		}
		for _, place := range Credentials(e.Config, e.Home) {
			if under(path, place.Path) {
				return true
			}
		}
		return false
	}
	return slices.DeleteFunc(confine.Writable(entry, e.Root, e.Home), func(b box.Bind) bool { return b.Shown && !named(b.Path) })
}

// realBelow is a path without the links that lead to the home, and with those below it.
func realBelow(path, home string) string {
	if real, err := filepath.EvalSymlinks(home); err == nil && home != "" && under(path, home) {
		path = real + strings.TrimPrefix(filepath.Clean(path), filepath.Clean(home))
	}
	return filepath.Clean(path)
}

func under(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
