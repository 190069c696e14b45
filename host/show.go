package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/judge"
)

// Show gives one run; "" means the last one.
func (r *Repo) Show(ctx context.Context, run string) (*ShowResult, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	m, err := o.find(run)
	if err != nil {
		return nil, err
	}
	s := &ShowResult{Doc: Doc{"relay.show", 1}, Run: runLine(m)}
	if raw, err := workspace.ReadFile(o.hist.Path(m.RunID, "report.json"), 64<<20); err == nil {
		if s.Report, err = report.Decode(raw); err != nil {
			return nil, fault.Wrap(err, judge.BlockedCrashRecovery, "the report of run "+m.RunID+" can't be read", "`relay history list` shows the other runs")
		}
	}
	s.Rules = looks(s.Report)
	if md, err := workspace.ReadFile(o.hist.Path(m.RunID, "report.md"), 1<<20); err == nil {
		s.Markdown = string(md)
	}
	if m.Code != "" {
		e := Explain(m.Code)
		s.Explain = &e
	}
	if s.Files, err = files(filepath.Dir(o.hist.Path(m.RunID, "report.json"))); err != nil {
		return nil, err
	}
	s.Landed = m.Commit != "" && isAncestor(ctx, o.root, m.Commit)
	s.Next = s.next()
	return s, nil
}

// next lists what one would do with such a run, most useful first.
func (s *ShowResult) next() []string {
	id := s.Run.RunID
	switch {
	case s.Report != nil && s.Report.Question != nil && s.Run.Code == judge.Success:
		return []string{"`relay answer \"…\"`"}
	case s.Run.Workflow == history.Task && s.Run.Code != judge.Success:
		next := []string{"`relay task show " + s.Run.TaskID + "`", "`relay task retry " + s.Run.TaskID + "`"}
		if s.hasPatch() {
			next = append(next, "`relay salvage "+id+"`")
		}
		return next
	case s.Landed:
		return []string{"`git show " + s.Run.Commit + "`", "`relay undo " + id + "`"}
	case s.Run.Code == "":
		return []string{"`relay recover`"}
	case s.Explain != nil && s.Run.Code != judge.Success:
		next := []string{s.Explain.Command}
		if s.hasPatch() {
			next = append(next, "`relay salvage "+id+"`")
		}
		return next
	}
	return nil
}

func (s *ShowResult) hasPatch() bool {
	for _, f := range s.Files {
		if f.Name == "diff.patch" && f.Bytes > 0 {
			return true
		}
	}
	return false
}

func runLine(m history.Meta) RunLine {
	return RunLine{Meta: m, ExitCode: Explain(m.Code).ExitCode}
}

// find gives the run with this id, or with an id that begins so, or the last one; of a
// task its last attempt.
func (o *opened) find(run string) (history.Meta, error) {
	if run == "" {
		id, err := o.hist.Latest()
		if err != nil {
			return history.Meta{}, err
		}
		if id == "" {
			return history.Meta{}, fault.New("", "there is no run yet", "the history of this repository is empty", "`relay run`")
		}
		run = id
	}
	m, err := o.hist.Find(run)
	if err == nil {
		return m, nil
	}
	attempts, _ := pipeline.Attempts(o.ws, run)
	for _, t := range attempts {
		if m, err := o.hist.Get(t.RunID); err == nil {
			return m, nil
		}
	}
	return m, err
}

// files lists what a run left behind, plain files only.
func files(dir string) ([]HistoryFile, error) {
	var all []HistoryFile
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, p)
		all = append(all, HistoryFile{Name: filepath.ToSlash(name), Path: p, Bytes: fi.Size()})
		return err
	})
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, err
}

// isAncestor tells whether a commit is part of HEAD's history. A commit that git does
// not know is not.
func isAncestor(ctx context.Context, root, commit string) bool {
	git, err := judge.OpenGit(ctx, root)
	if err != nil {
		return false
	}
	_, err = git.Run(ctx, nil, "merge-base", "--is-ancestor", commit, "HEAD")
	return err == nil
}
