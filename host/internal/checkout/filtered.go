package checkout

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// filter has the user's filters make what they stand for: from the work tree where git says
// that it is what a checkout has, else in a box.
func (r *refresher) filter(ctx context.Context, files []file, filtered []string) error {
	if len(filtered) == 0 {
		return nil
	}
	oids := map[string]file{}
	for _, f := range files {
		oids[f.path] = f
	}
	var ask []string
	before := map[string]fs.FileInfo{}
	for _, p := range filtered {
		f := oids[p]
		if fi, err := r.root.Lstat(p); r.was != nil && r.was.Filled[p] == f.oid && err == nil && fi.Mode().IsRegular() {
			r.now.Filled[p] = f.oid
			continue
		}
		if f.oid != "" {
			ask = append(ask, p)
			before[p], _ = os.Lstat(filepath.Join(r.live, p))
		}
	}
	if len(ask) == 0 {
		return nil
	}
	have, err := r.k.Git.Indexed(ctx, ask)
	if err != nil {
		return err
	}
	out, err := r.k.Git.Run(ctx, nil, append([]string{"--literal-pathspecs", "diff-files", "-z", "--name-only", "--"}, ask...)...)
	if err != nil {
		return err
	}
	touched := lines(out)
	if len(touched) > 0 { // or git has only not looked at them since they got where they are
		status, err := r.k.Git.Status(ctx)
		if err != nil {
			return err
		}
		touched = nil
		for _, e := range status {
			touched = append(touched, e.Path)
		}
	}
	if out, err = r.k.Git.Run(ctx, nil, append([]string{"--literal-pathspecs", "ls-files", "-v", "-z", "--"}, ask...)...); err != nil {
		return err
	}
	for _, line := range lines(out) { // "h PATH": the operator told git not to look at it
		if tag, p, _ := strings.Cut(line, " "); tag != "H" {
			touched = append(touched, p)
		}
	}
	var smudge []string
	for _, p := range ask {
		live := before[p]
		if live == nil || !live.Mode().IsRegular() || slices.Contains(touched, p) || have[p].OID != oids[p].oid {
			smudge = append(smudge, p)
			continue
		}
		if err := r.copy(oids[p], live); err != nil {
			return err
		}
		if now, err := os.Lstat(filepath.Join(r.live, p)); err != nil || !os.SameFile(now, live) || !sameTime(now, live) {
			smudge = append(smudge, p) // it was saved since git looked
		}
	}
	if len(smudge) > 0 {
		if r.k.Smudge == nil {
			return fmt.Errorf("nobody makes %q", smudge[0])
		}
		if err := r.k.Smudge(ctx, r.commit, smudge, r.tree); err != nil {
			return err
		}
	}
	for _, p := range ask {
		r.now.Filled[p] = oids[p].oid
	}
	return r.takeTimes(smudge)
}
