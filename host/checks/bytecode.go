package checks

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/judge"
)

// withoutBytecode adds to the changes of a check's box that what Python compiled of the
// changed modules is gone. Python believes a compilation that has the size and the second
// of its source, and some whatever the source is; the work tree's are of other versions.
func (c *Checker) withoutBytecode(kept []judge.Change) []judge.Change {
	root := c.of.Root()
	have := map[string]bool{}
	for _, ch := range kept {
		have[ch.Path] = true
	}
	all := kept[:len(kept):len(kept)]
	for _, ch := range kept {
		module, ok := strings.CutSuffix(path.Base(ch.Path), ".py")
		if !ok {
			continue
		}
		dir := path.Join(path.Dir(ch.Path), "__pycache__")
		entries, _ := os.ReadDir(filepath.Join(root, dir)) // most have none
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if !strings.HasPrefix(e.Name(), module+".") || !e.Type().IsRegular() || have[name] {
				continue
			}
			have[name] = true
			all = append(all, judge.Change{Path: name, Kind: judge.Deleted, OldMode: 0o644})
		}
	}
	return all
}
