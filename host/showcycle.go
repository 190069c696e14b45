package host

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// CycleShow is one cycle in full.
type CycleShow struct {
	Doc
	Cycle    *Cycle        `json:"cycle"`
	Findings []FindingLine `json:"findings,omitempty"`
	Rules    []RuleLook    `json:"rules,omitempty"` // how the revision came to its verdict, one rule after the other
	Changes  []FileDiff    `json:"diff,omitempty"`  // with --diff
	Files    []HistoryFile `json:"files"`
	Diff     string        `json:"-"`
	Tests    string        `json:"-"`
	Plan     string        `json:"-"`
	CutOff   bool          `json:"cut_off,omitempty"` // it was under way when its relay ended
	Next     diag.Steps    `json:"next"`
	ExitCode int           `json:"exit_code"`
}

// FindingLine is one finding with its standing in the present iteration.
type FindingLine = cycle.FindingLine

// FindCycle gives the id of the cycle that a name means, "" when it means none.
func (r *Repo) FindCycle(name string) string {
	o, err := r.Look()
	if err != nil || name == "" {
		return ""
	}
	id, err := cycle.Find(o.WS, name)
	if err != nil {
		return ""
	}
	return id
}

// ShowCycle gives one cycle.
func (r *Repo) ShowCycle(_ context.Context, id string) (*CycleShow, error) {
	o, err := r.Look()
	if err != nil {
		return nil, err
	}
	uuid, err := cycle.Find(o.WS, id)
	if err != nil {
		return nil, err
	}
	rec, err := cycle.ReadRecord(o.WS, uuid)
	if err != nil {
		return nil, err
	}
	_ = rec.AddUp(o.WS) // otherwise it is as of the last transition
	dir := filepath.Join(cycle.Dir(o.WS), uuid)
	s := &CycleShow{Doc: DocOf("relay.cycle.show", 1), Cycle: rec, Next: rec.Next(), ExitCode: CycleExit(rec), Findings: cycle.Findings(o.WS, rec), CutOff: cutOff(o.WS, rec)}
	if s.CutOff {
		s.Next, s.ExitCode = []string{"`relay audit resume " + cycle.Short(uuid) + "`", "`relay audit abort " + cycle.Short(uuid) + "`"}, ExitWaiting
	}
	changes := rec.ChangeDir(o.WS)
	for path, to := range map[string]*string{filepath.Join(changes, "revision.diff"): &s.Diff, filepath.Join(changes, "test-output.txt"): &s.Tests, filepath.Join(dir, "plan.md"): &s.Plan} {
		if b, err := workspace.ReadFile(path, 64<<20); err == nil {
			*to = string(b)
		}
	}
	s.Rules = ofCycle(rec).looks()
	s.Files, err = files(dir)
	return s, err
}

// SplitDiff takes the revision apart into its files, each with the rules that it broke.
func (s *CycleShow) SplitDiff() {
	s.Changes = SplitDiff(s.Diff)
	if s.Cycle.Revision != nil && !s.Cycle.Earlier() {
		attach(s.Changes, s.Cycle.Revision.Rules)
	}
}

// CycleIDs are the short ids of cycles that begin with a prefix, newest first, for
// completion.
func (r *Repo) CycleIDs(prefix string) []string {
	o, err := r.Look()
	if err != nil {
		return nil
	}
	all, _ := cycle.List(o.WS)
	var out []string
	for _, c := range all {
		if id := cycle.Short(c.UUID); strings.HasPrefix(id, prefix) {
			out = append(out, id+"\t"+c.ServiceID+" "+string(c.State))
		}
	}
	return out
}

// runOrCycle gives the id of the run or cycle that a name means.
func (o *Opened) runOrCycle(name string) (string, error) {
	if id, err := cycle.Find(o.WS, name); err == nil {
		return id, nil
	}
	m, err := o.History.Find(name)
	if err != nil {
		return "", noCycle(name)
	}
	return m.RunID, nil
}

// noCycle is what a command says that names a run where a cycle is meant.
func noCycle(id string) error {
	return diag.New(judge.Code(""), "there is neither a run nor a cycle \""+Safe(id)+"\"", "no id of this repository begins so", "`relay history list` shows runs, `relay queue --all` cycles")
}
