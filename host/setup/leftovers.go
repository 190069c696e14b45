package setup

import (
	"context"
	"os"
	"path/filepath"

	"github.com/paxiom/relay/judge/git"
)

// leftovers are what the usual build of a project leaves at its root, where nothing of that name
// is there yet and git would show it: to the judge it is a part of the change.
func leftovers(ctx context.Context, git *git.Repo) (left []string) {
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(git.Root, name))
		return err == nil
	}
	for _, l := range []struct{ of, name, sample string }{
		{"CMakeLists.txt", "build/", "build/CMakeCache.txt"},
		{"Cargo.toml", "Cargo.lock", "Cargo.lock"},
		{"Cargo.toml", "target/", "target/debug/a"},
		{"package.json", "node_modules/", "node_modules/a/index.js"},
	} {
		if !there(l.of) || there(l.name) {
			continue
		}
		if ignored, err := git.CheckIgnore(ctx, []string{l.sample}); err == nil && !ignored[l.sample] {
			left = append(left, l.name)
		}
	}
	return left
}
