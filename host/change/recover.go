package change

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/host/change/fault"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
)

// Recovery is what was done about one unfinished run.
type Recovery struct {
	RunID string
	// Did is one line: "discarded the box", "finished the apply", …
	Did string
	// Landed: what the run had judged is in the work tree; Commit is its commit, ""
	// when none was to be made.
	Landed bool
	Commit string
	Base   string
	// State is the last state that the workflow entered; Note its own word about the
	// landing. Either may be empty.
	State string
	Note  json.RawMessage
	// Conflict says why it can't be settled without the operator; "" when it is.
	Conflict string
	Notes    []string
}

// Recover settles every unfinished change: it discards boxes, and finishes an apply
// that had begun. Where a file was changed by somebody else in between it stops with
// Conflict and changes nothing, unless force: then that file stays as it is, the rest
// is reverted, and what was to land is kept under refs/relay. told, if any, hears of each run
// that is settled while the journal still has it: where it fails, the next Recover tells it again.
func Recover(ctx context.Context, env Env, force bool, told func(Recovery) error) ([]Recovery, error) {
	runs, err := env.Journal.Unfinished()
	if err != nil {
		return nil, err
	}
	var done []Recovery
	for i := range runs {
		r, err := recoverRun(ctx, env, &runs[i], force, told)
		if err != nil {
			return done, fmt.Errorf("recover run %s: %w", runs[i].ID, err)
		}
		done = append(done, r)
	}
	return done, nil
}

func recoverRun(ctx context.Context, env Env, run *journal.Run, force bool, told func(Recovery) error) (Recovery, error) {
	r := Recovery{RunID: run.ID}
	if told == nil {
		told = func(Recovery) error { return nil }
	}
	if rec, ok := run.Last(recState); ok {
		var s stateRecord
		if rec.Decode(&s) == nil {
			r.State = s.State
		}
	}
	why := cmp.Or(run.Damaged, foreign(run, env))
	if why != "" && !force {
		r.Conflict = "its journal is damaged: " + why
		return r, nil
	}
	if why != "" {
		aside, err := run.SetAside()
		r.Did = fmt.Sprintf("its journal is damaged and is now %s; nothing in the work tree was touched (%s)", aside, why)
		if err == nil {
			err = told(r)
		}
		return r, err
	}
	var begin beginning
	if rec, ok := run.Last(recBegin); ok {
		if err := rec.Decode(&begin); err != nil {
			return r, err
		}
		r.Base = begin.Base
	}
	log, err := run.Resume()
	if err != nil {
		return r, err
	}
	defer log.Close()
	r.Did = "discarded the box"
	if rec, ok := run.Last(recApply); ok {
		if err := recoverApply(ctx, env, run, log, rec, force, &r); err != nil || r.Conflict != "" {
			return r, err
		}
	}
	if err := removeScratch(env, begin.Layer); err != nil {
		return r, err
	}
	if err := told(r); err != nil {
		return r, err
	}
	return r, log.Settle()
}

// foreign says why what a journal tells can't be what relay was about to do, no matter who wrote
// it; "" when it can.
func foreign(run *journal.Run, env Env) string {
	rec, ok := run.Last(recApply)
	if !ok {
		return ""
	}
	p := &plan{}
	if err := rec.Decode(p); err != nil {
		return err.Error()
	}
	paths := make([]string, 0, 3*len(p.Entries)+len(p.Dirs))
	for _, e := range p.Entries {
		paths = append(paths, string(e.Path), string(e.Tmp))
		if path.Dir(string(e.Tmp)) != path.Dir(string(e.Path)) {
			return fmt.Sprintf("%q is not a name beside %q", e.Tmp, e.Path)
		}
		for _, s := range []side{e.Old, e.New} {
			if s.Mode&^(fs.ModePerm|fs.ModeSymlink|fs.ModeDir) != 0 || s.Size < 0 || s.Image < 0 {
				return fmt.Sprintf("%q would be no ordinary file", e.Path)
			}
		}
		if judge.Match(env.Owned, string(e.Path)) {
			return fmt.Sprintf("%q belongs to relay", e.Path)
		}
	}
	for _, m := range p.Moves {
		if paths = append(paths, string(m.Path)); len(m.To) != hexLen(env.Git.ObjectFormat) {
			return fmt.Sprintf("%q is not a commit", m.To)
		}
	}
	for _, d := range p.Dirs {
		if d.Path != "." && d.Path != "" {
			paths = append(paths, string(d.Path))
		}
	}
	for _, at := range paths {
		if !filepath.IsLocal(at) || path.Clean(at) != at {
			return fmt.Sprintf("%q is not in the work tree", at)
		}
		if why := judge.UnsafeName(at); why != "" {
			return fmt.Sprintf("the name %q %s", at, why)
		}
	}
	return ""
}

// recoverApply finishes what recApply began, or takes it back.
func recoverApply(ctx context.Context, env Env, run *journal.Run, log *journal.Log, rec journal.Record, force bool, r *Recovery) error {
	p := &plan{}
	if err := rec.Decode(p); err != nil {
		return err
	}
	r.Note, r.Base = p.Note, p.Base
	if _, ok := run.Last(recReverted); ok {
		r.Did = "had reverted the apply already"
		return nil
	}
	real, err := openReal(env.Git.Root)
	if err != nil {
		return err
	}
	defer real.Close()
	for _, e := range p.Entries {
		if e.Old.link() || e.New.link() {
			real.trading[string(e.Path)] = true
		}
	}
	l := &lander{env: env, log: log, real: real, base: p.Base, branch: p.Branch}
	a := &applier{real: real, log: log, plan: p}
	a.check = a.byContent
	defer func() { r.Notes = l.notes }()

	head, branch, err := env.Git.Head(ctx)
	if err != nil {
		return err
	}
	if _, ok := run.Last(recLanded); ok {
		r.Did, r.Landed, r.Commit = "had landed already", true, p.Commit
		return nil
	}
	switch {
	case p.Beside && !l.hasLanded(ctx, p):
		return nil
	case p.Commit != "" && head == p.Commit && branch == p.Branch && !p.Beside:
		r.Did, r.Landed, r.Commit = "finished the commit", true, p.Commit
		return l.settleCommitted(ctx, a)
	case head == p.Base && branch == p.Branch:
		return l.redo(ctx, a, force, r)
	case p.Commit != "" && l.hasLanded(ctx, p):
		r.Did, r.Landed, r.Commit = "had been committed, and later work is on top", true, p.Commit
		defer a.shutDirs()
		return a.clean()
	}
	return l.takeBack(ctx, a, force, r, "HEAD has moved since")
}

// settleCommitted does what is left after the branch has moved.
func (l *lander) settleCommitted(ctx context.Context, a *applier) error {
	if err := a.clean(); err != nil {
		return err
	}
	if err := a.finish(); err != nil {
		return err
	}
	l.mendIndex(ctx, a.plan)
	return l.log.Append(recLanded, nil)
}

// redo finishes an apply from the journal's images.
func (l *lander) redo(ctx context.Context, a *applier, force bool, r *Recovery) error {
	if _, err := a.pending(); err != nil {
		return l.takeBack(ctx, a, force, r, "the apply can't be finished")
	}
	if err := a.clean(); err != nil {
		return err
	}
	if err := l.finish(ctx, a); err != nil {
		if f, ok := fault.As(err); ok && f.Code() != judge.BlockedCrashRecovery {
			r.Did = "reverted the apply: " + f.Reason()
			return nil
		}
		return err
	}
	r.Did, r.Landed, r.Commit = "finished the apply", true, a.plan.Commit
	return nil
}

// takeBack reverts what can be reverted. Files that somebody else has changed are a
// conflict; with force they stay as they are and what was to land is kept.
func (l *lander) takeBack(ctx context.Context, a *applier, force bool, r *Recovery, why string) error {
	if !force {
		foreign, err := a.foreign()
		if err != nil {
			return err
		}
		if len(foreign) > 0 {
			r.Conflict = fmt.Sprintf("%s; %q was changed since", why, foreign[0])
			return nil
		}
	}
	foreign, err := a.revert()
	if err != nil {
		return err
	}
	r.Did = "reverted the apply: " + why
	for _, f := range foreign {
		l.note("%q stays as you changed it", f)
	}
	if len(foreign) > 0 && a.plan.Commit != "" {
		ref := refName(l.log.ID())
		if _, err := l.env.write(ctx, nil, nil, "update-ref", ref, a.plan.Commit); err != nil {
			return err
		}
		l.note("what was to land is kept as %s", ref)
	}
	return l.log.Append(recReverted, nil)
}

// hasLanded reports whether the plan's commit is on its branch, wherever HEAD is.
func (l *lander) hasLanded(ctx context.Context, p *plan) bool {
	on := "HEAD"
	if p.Branch != "" {
		on = "refs/heads/" + p.Branch
	}
	_, err := l.env.Git.Run(ctx, nil, "merge-base", "--is-ancestor", p.Commit, on)
	return err == nil
}

// foreign are the paths that are neither what they were nor what was to land.
func (a *applier) foreign() ([]string, error) {
	var out []string
	for i := range a.plan.Entries {
		e := &a.plan.Entries[i]
		now, err := a.real.describe(string(e.Path), nil)
		if err != nil && !errors.Is(err, errThroughLink) {
			return nil, err
		}
		mine, unread := a.caught(e)
		if err != nil || unread != nil || mine != "" || !e.isNew(now) && !e.isOld(now) {
			out = append(out, string(e.Path))
		}
	}
	return out, nil
}

// removeScratch removes a layer and what lies beside it, if it is one of ours.
func removeScratch(env Env, layer string) error {
	boxes := filepath.Join(env.StateDir, "boxes") + string(filepath.Separator)
	if layer == "" || !strings.HasPrefix(filepath.Clean(layer), boxes) {
		return nil
	}
	k := newCommitter(env, layer)
	k.quiet()
	return errors.Join(removeLayer(layer), k.remove())
}
