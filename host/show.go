package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/verify"
)

// Show gives one run; "" means the last one.
func (r *Repo) Show(ctx context.Context, run string) (*ShowResult, error) {
	o, err := r.Look()
	if err != nil {
		return nil, err
	}
	s := &ShowResult{Doc: DocOf("relay.show", 1), Files: []HistoryFile{}}
	if err := s.fromHistory(o, run); err != nil {
		return nil, err
	}
	s.Rules = o.rulesOfRun(s.Run, s.Report)
	if s.Run.Code != "" {
		e := Explain(s.Run.Code)
		s.Explain = &e
	}
	if s.Report != nil && len(s.Report.Verification.ChangedTests) > 0 {
		if err := r.ReadDiff(s); err != nil {
			return nil, err
		}
		s.Tests = slices.DeleteFunc(s.Diff, func(f FileDiff) bool { return !slices.Contains(s.Report.Verification.ChangedTests, f.Path) })
		s.Diff = nil
	}
	s.Way = s.way()
	s.Landed, s.LandedOn = landed(ctx, o.Root, s.Run.Commit)
	s.Next = s.next()
	return s, nil
}

// fromHistory takes what the history has of a run.
func (s *ShowResult) fromHistory(o *Opened, run string) error {
	m, err := o.find(run)
	if err != nil {
		return err
	}
	s.Run = runLine(m)
	if s.Report, err = o.reportOf(m); err != nil {
		return diag.Wrap(err, judge.BlockedCrashRecovery, "the report of run "+m.RunID+" can't be read", "`relay history list` shows the other runs")
	}
	if md, err := workspace.ReadFile(o.History.Path(m.RunID, "report.md"), 1<<20); err == nil {
		s.Markdown = string(md)
	}
	if s.Files, err = files(filepath.Dir(o.History.Path(m.RunID, "report.json"))); err != nil {
		return err
	}
	if m.Workflow == history.Tick && (m.Code == judge.StopVerifyFailedFast || m.Code == judge.StopVerifyFailedSlow) {
		s.Output = lastOutput(o.History.Path(m.RunID, "verify.log"))
	}
	if m.Code == judge.StopHiddenFailed {
		s.Output = o.hiddenOutput(m.RunID)
	}
	return nil
}

// reportOf gives the report of a run, nil where none was kept: without a history it is that of
// the last run, REPORT.json.
func (o *Opened) reportOf(m history.Meta) (*report.Report, error) {
	rep, err := ReadReport(o.History.Path(m.RunID, "report.json"))
	if rep != nil || err != nil {
		return rep, err
	}
	if rep, err = ReadReport(o.WS.Report()); err != nil || rep == nil || rep.RunID != m.RunID {
		return nil, nil
	}
	return rep, nil
}

// outputLines is how much of a failed check's output is shown.
const outputLines = 25

// lastOutput gives the last lines of what the last check printed, which is the one that
// failed; none where no log was kept.
func lastOutput(path string) []string {
	raw, err := workspace.ReadFile(path, verify.MaxLog)
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	lines = lines[:len(lines)-1] // how it ended, which the report says
	lines = lines[max(len(lines)-outputLines, 0):]
	for i, l := range slices.Backward(lines) {
		if strings.HasPrefix(l, "== ") { // where the check begins
			return lines[i+1:]
		}
	}
	return lines
}

// hiddenOutput is what hidden checks printed, which lies where no box shows it.
func (o *Opened) hiddenOutput(run string) []string {
	raw, err := workspace.ReadFile(pluginenv.HiddenLog(o.StateDir, run), verify.MaxLog)
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return lines[max(len(lines)-2*outputLines, 0):]
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
		return s.again(next)
	case s.LandedOn != "":
		return []string{"`git show " + s.Run.Commit + "`", "`git switch " + diag.Word(s.LandedOn) + "` has it"}
	case s.Landed:
		return []string{"`git show " + s.Run.Commit + "`", "`relay undo " + id + "`"}
	case s.Run.Code == "":
		return []string{"`relay recover`"}
	case s.Explain != nil && s.Run.Code != judge.Success:
		var next []string
		if s.Way != "" {
			next = append(next, s.Way)
		}
		if s.hasPatch() {
			next = append(next, "`relay salvage "+id+"`")
		}
		return s.again(next)
	}
	return nil
}

// again adds how hidden checks that failed run once more with the values that they had.
func (s *ShowResult) again(next []string) []string {
	if s.Run.Code == judge.StopHiddenFailed && s.Report != nil {
		next = append(next, fmt.Sprintf("`relay check run --hidden --seed %d`", s.Report.Verification.Seed))
	}
	return next
}

// way is the shortest way on from a verdict: what the run itself suggests, or else its code.
func (s *ShowResult) way() string {
	if s.Explain == nil || s.Run.Code == judge.Success {
		return ""
	}
	if s.Report != nil {
		if way := onward(s.Report.Next); way != "" {
			return way
		}
	}
	return onward(s.Explain.Command)
}

// onward is a suggestion without the look at the run that it may begin with: the reader of
// it in relay show has just had that.
func onward(next string) string {
	rest, looks := strings.CutPrefix(next, "`relay show`")
	if !looks {
		return next
	}
	i := strings.IndexAny(rest, ",;")
	if i < 0 {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSpace(rest[i+1:]), "then ")
}

func (s *ShowResult) hasPatch() bool {
	return slices.ContainsFunc(s.Files, func(f HistoryFile) bool { return f.Name == "diff.patch" && f.Bytes > 0 })
}

func runLine(m history.Meta) RunLine {
	return RunLine{Meta: m, ExitCode: Explain(m.Code).ExitCode}
}

// FindTask gives the id of the task that a name means, by its id or by that of its attempt's
// run, where its last attempt is not over or there was none: then the history has nothing newer
// of it. "" is no such task.
func (r *Repo) FindTask(name string) string {
	_, list, err := r.TaskList()
	o, oerr := r.Look()
	if name == "" || err != nil || oerr != nil {
		return ""
	}
	open, _ := pipeline.Open(o.WS)
	for _, t := range open {
		if _, err := o.History.Find(name); t.TaskID == name || err != nil && strings.HasPrefix(t.RunID, name) {
			return t.TaskID
		}
	}
	if all, err := pipeline.Attempts(o.WS, name); list.Find(name) == nil || err != nil || len(all) > 0 {
		return ""
	}
	return name
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

// isAncestor reports whether a commit is part of HEAD's history. A commit that git does
// not know is not.
// landed reports whether a commit is in the history of HEAD, or of which other branch.
func landed(ctx context.Context, root, commit string) (is bool, on string) {
	git, err := git.Open(ctx, root)
	if commit == "" || err != nil {
		return false, ""
	}
	if _, err := git.Run(ctx, nil, "merge-base", "--is-ancestor", commit, "HEAD"); err == nil {
		return true, ""
	}
	out, err := git.Run(ctx, nil, "for-each-ref", "--count=1", "--format=%(refname:lstrip=2)", "--contains", commit, "refs/heads")
	if err != nil {
		return false, ""
	}
	on = strings.TrimSpace(string(out))
	return on != "", on
}

// RunLine is one run in a list.
type RunLine struct {
	history.Meta
	ExitCode int `json:"exit_code"`
}

// ShowResult is one run in full.
type ShowResult struct {
	Doc
	Run      RunLine       `json:"run"`
	Report   *Report       `json:"report,omitempty"`
	Markdown string        `json:"-"`
	Explain  *Explanation  `json:"explain,omitempty"`
	Files    []HistoryFile `json:"files"`
	Rules    []RuleLook    `json:"rules,omitempty"`     // what decided, one rule after the other
	Output   []string      `json:"output,omitempty"`    // the last lines of the check that failed
	Tests    []FileDiff    `json:"tests,omitempty"`     // what was done to tests, where they decided
	Diff     []FileDiff    `json:"diff,omitempty"`      // with --diff
	Landed   bool          `json:"landed"`              // its commit is in the history of a branch
	LandedOn string        `json:"landed_on,omitempty"` // of which one, where it is not in that of HEAD
	Way      string        `json:"-"`                   // out of a verdict that is none of success
	Next     diag.Steps    `json:"next,omitempty"`
}

// HistoryFile is one file that a run left behind.
type HistoryFile struct {
	Name  string `json:"name"` // in the run's folder
	Path  string `json:"path"` // absolute
	Bytes int64  `json:"bytes"`
}
