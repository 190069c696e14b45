package plugins

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

// devPoll is how often Develop looks at the sources.
const devPoll = 200 * time.Millisecond

// Develop tries a plugin each time that a file of its folder changes, until ctx ends:
// the rules that were named, or else the first one and the author's cases. show gets what
// came of each round.
func Develop(ctx context.Context, o TestOptions, show func(*Rules, error)) error {
	if _, err := sourcesOf(o.Path); err != nil {
		return diag.Wrap(err, judge.BlockedPlugin, "the folder "+o.Path+" can't be watched", "`relay plugin dev ./`, in the folder of the plugin's repository")
	}
	rules := o.Rules
	for {
		before, _ := sourcesOf(o.Path)
		if o.Rules = rules; rules == nil {
			o.Rules = firstRules(o)
		}
		res, err := Test(ctx, o)
		if ctx.Err() != nil {
			return nil
		}
		show(res, err)
		for now := before; now == before; now, _ = sourcesOf(o.Path) {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(devPoll):
			}
		}
	}
}

// firstRules are those that answer at once. Cases that can't be read are told by the trial.
func firstRules(o TestOptions) []string {
	rules := []string{"B1"}
	cfg, _ := readCases(o.Cases, o.Path)
	for _, c := range cfg.Cases {
		rules = append(rules, "case "+c.Name)
	}
	return rules
}

// sourcesOf describes the files of a plugin's folder by size and date, without what its
// build writes there.
func sourcesOf(dir string) (string, error) {
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		switch {
		case path == dir:
			return err
		case err != nil: // it went, or it can't be read
			return nil
		case d.IsDir() && (name[0] == '.' || slices.Contains([]string{"build", "bin", "dist", "target", "node_modules", "__pycache__"}, name)):
			return filepath.SkipDir
		case d.IsDir() || name[0] == '.' || strings.HasPrefix(name, "relay-plugin-"):
			return nil
		}
		if st, err := d.Info(); err == nil {
			fmt.Fprintln(&all, path, st.Size(), st.ModTime().UnixNano())
		}
		return nil
	})
	return all.String(), err
}
