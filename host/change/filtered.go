package change

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge/box"
)

// filtered are files of which a commit has a pointer and a checkout the bytes, as git-lfs
// keeps them. Git in a box has neither the user's filters nor all that they have stored:
// there it works with the pointers, and the bytes are put in place afterwards.
type filtered struct {
	paths []string // that differ between two commits and are there in the second
	old   []string // those that are there in the first
	off   []string // what keeps git from filtering
}

// filtered finds them between two commits of the repository.
func (c *Change) filtered(ctx context.Context, from, tip string) (f filtered, err error) {
	changes, err := diffTree(ctx, c.env.Git, from, tip)
	if err != nil || len(changes) == 0 {
		return f, err
	}
	var paths []string
	for _, ch := range changes {
		paths = append(paths, ch.path)
	}
	k := newCommitter(c.env, c.layer)
	defer k.remove()
	own := []string{"GIT_INDEX_FILE=" + k.index}
	if _, err := c.env.write(ctx, own, nil, "read-tree", tip); err != nil {
		return f, err
	}
	out, err := c.env.write(ctx, own, nulList(paths), "check-attr", "--cached", "-z", "--stdin", "filter")
	if err != nil {
		return f, err
	}
	driver := map[string]string{}
	for rest := strings.Split(string(out), "\x00"); len(rest) > 2; rest = rest[3:] {
		if v := rest[2]; v != "unspecified" && v != "unset" && v != "set" {
			driver[rest[0]] = v
		}
	}
	var drivers []string
	for _, ch := range changes {
		d := driver[ch.path]
		if d == "" {
			continue
		}
		if ch.newMode != 0 {
			f.paths = append(f.paths, ch.path)
		}
		if ch.oldMode != 0 {
			f.old = append(f.old, ch.path)
		}
		if !slices.Contains(drivers, d) {
			drivers = append(drivers, d)
			f.off = append(f.off, "-c", "filter."+d+".required=false", "-c", "filter."+d+".process=", "-c", "filter."+d+".smudge=", "-c", "filter."+d+".clean=")
		}
	}
	return f, nil
}

// bare puts pointers in the place of the bytes, so that git finds its files unchanged.
func (f *filtered) bare(ctx context.Context, c *Change) (why string, err error) {
	if len(f.old) == 0 {
		return "", nil
	}
	_, why, err = c.inside(ctx, maxStanding, append(append(slices.Clone(f.off), "--literal-pathspecs", "checkout", "-f", "HEAD", "--"), f.old...)...)
	return why, err
}

// fill puts the bytes in place, as a checkout of the commit has them.
func (f *filtered) fill(ctx context.Context, c *Change, tip string) (why string, err error) {
	if len(f.paths) == 0 {
		return "", nil
	}
	k := newCommitter(c.env, c.layer)
	defer k.remove()
	if err := os.MkdirAll(k.stage, 0o700); err != nil {
		return "", err
	}
	if err := c.env.filtering().smudge(ctx, c.env.Git, tip, f.paths, k.stage); err != nil {
		return "", err
	}
	_, why, err = c.within(ctx, maxStanding, "putting large files in place", []box.Bind{{Path: k.stage}}, []string{"cp", "-R", k.stage + "/.", "."})
	return why, err
}
