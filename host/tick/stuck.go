package tick

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// maxSummary is what fits into one line of a question, in characters.
const maxSummary = 300

// No progress, no spending: a task that ended in a STOP, or changed nothing, is remembered
// with the commit and the configuration that it ended on. The same task on the same ground
// would end the same way, so it is not built again, and after a few times a person is asked.

// stop is one remembered end, a line of stuck.json.
type stop struct {
	Fingerprint string         `json:"fingerprint"`
	Base        string         `json:"base_commit"`
	RunID       string         `json:"run_id"`
	Code        judge.Code     `json:"code"` // SUCCESS: it was carried out and changed nothing
	Kind        judge.TaskKind `json:"kind,omitempty"`
	Summary     string         `json:"summary"`
	Refused     int            `json:"refused"` // how often it was asked for again
}

func (s stop) idle() bool { return s.Code == judge.Success }

// maxStops is how many ends are remembered; all of them are of one commit.
const maxStops = 64

// fingerprint is what a task asks for, on what ground: ids and the order of globs make
// no difference. It is that of the task as it was proposed, before it is cut.
func (r *run) fingerprint() (string, error) {
	if r.mark != "" {
		return r.mark, nil
	}
	t := *r.task
	t.TaskID, t.MilestoneID = "", ""
	t.Scope.AllowedGlobs, t.Scope.ForbiddenGlobs = slices.Clone(t.Scope.AllowedGlobs), slices.Clone(t.Scope.ForbiddenGlobs)
	slices.Sort(t.Scope.AllowedGlobs)
	slices.Sort(t.Scope.ForbiddenGlobs)
	raw, err := json.Marshal([]any{t, r.rep.BaseCommit, r.cfg})
	if err != nil {
		return "", internal(err)
	}
	sum := sha256.Sum256(raw)
	r.mark = hex.EncodeToString(sum[:])
	return r.mark, nil
}

// stops are the remembered ends. A file that can't be read remembers nothing: the
// worst that follows is one build too many.
func (r *run) stops() []stop {
	var all []stop
	if raw := r.file(r.ws.Stuck()); raw == "" || strictjson.Unmarshal([]byte(raw), &all) != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(s stop) bool { return s.Base != r.rep.BaseCommit })
}

func (r *run) writeStops(all []stop) error {
	if len(all) > maxStops {
		all = all[len(all)-maxStops:]
	}
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return internal(err)
	}
	return workspace.WriteFile(r.ws.Stuck(), append(raw, '\n'))
}

// refuseRepeat ends a tick whose task is a repeat, before anything is built. done
// without an error means that the operator is asked. A task that the operator gave is
// always carried out.
func (r *run) refuseRepeat() (done bool, err error) {
	if r.o.operators() {
		return false, nil
	}
	mark, err := r.fingerprint()
	if err != nil {
		return false, err
	}
	all := r.stops()
	i := slices.IndexFunc(all, func(s stop) bool { return s.Fingerprint == mark })
	if i < 0 || all[i].idle() && r.task.Kind != judge.Execute {
		return false, nil
	}
	s := &all[i]
	s.Refused++
	r.repeat = true
	if err := r.writeStops(all); err != nil {
		return false, err
	}
	if s.idle() {
		r.rep.Question = &report.Question{Prompt: fmt.Sprintf("The orchestrator asks for the same task again (%s). In run %s it was built and changed nothing. What should be done differently?",
			format.Clip(report.Safe(r.task.Intent), maxSummary), s.RunID)}
		return true, nil
	}
	if s.Refused < r.cfg.Runner.StuckAfter {
		return true, diag.New(s.Code, "the task is the same as that of run "+s.RunID+", which ended so, and was not built again",
			s.Summary, "`relay show "+s.RunID+"`; relay builds it again once the commit or the configuration is another")
	}
	r.rep.Question = &report.Question{Prompt: fmt.Sprintf("The orchestrator keeps asking for the same task (%s). It ended in %s: %s. It was asked for %d more times and not built again. What should be done differently?",
		format.Clip(report.Safe(r.task.Intent), maxSummary), s.Code, format.Clip(report.Safe(s.Summary), maxSummary), s.Refused)}
	return true, nil
}

// noteIdle remembers a task that was carried out and changed nothing, and asks the operator
// when that continues: a loop would spend its whole budget on it. Checks that a task asks for
// without a change may differ from run to run; only the same ones again are no progress.
func (r *run) noteIdle() error {
	kind, end := r.task.Kind, ""
	switch {
	case r.o.operators() || kind == judge.Question || len(r.verdict.Kept) > 0:
		return nil
	case r.task.Control == nil:
		end = "it was carried out and changed nothing"
	case r.task.Control.Action == "stop":
		return nil
	default:
		end = "it was a word to continue, and no task"
	}
	mark, err := r.fingerprint()
	if err != nil {
		return err
	}
	now := stop{Fingerprint: mark, Base: r.rep.BaseCommit, RunID: r.rep.RunID, Code: judge.Success, Kind: kind, Summary: end}
	all, count := r.stops(), 1
	for _, s := range all {
		switch {
		case !s.idle():
		case s.Fingerprint == mark:
			now.Refused = s.Refused + 1
			count += now.Refused
		case kind != judge.VerifyOnly && s.Kind != judge.VerifyOnly:
			count += 1 + s.Refused
		}
	}
	all = slices.DeleteFunc(all, func(s stop) bool { return s.Fingerprint == mark })
	if err := r.writeStops(append(all, now)); err != nil {
		return err
	}
	if count > r.cfg.Runner.StuckAfter {
		r.rep.Question = &report.Question{Prompt: fmt.Sprintf("Nothing has changed in %d runs. The last task was: %s. What should be done differently?",
			count, format.Clip(report.Safe(r.task.Intent), maxSummary))}
	}
	return nil
}

// remember keeps the end of this run when the same task would end so again.
func (r *run) remember() error {
	if r.task == nil || r.o.operators() || r.repeat || r.task.Control != nil || r.rep.Verdict != judge.OutcomeStop {
		return nil
	}
	switch r.rep.Code {
	case judge.StopInterrupted, judge.StopPluginCrashed, judge.StopProviderQuota, judge.StopHeadMoved:
		return nil // says nothing about the task
	}
	if slices.ContainsFunc(r.results, func(c verify.Result) bool { return c.Err != nil }) {
		return nil // a check that could not be tried says nothing about it, either
	}
	mark, err := r.fingerprint()
	if err != nil {
		return err
	}
	all := slices.DeleteFunc(r.stops(), func(s stop) bool { return s.Fingerprint == mark })
	return r.writeStops(append(all, stop{Fingerprint: mark, Base: r.rep.BaseCommit, RunID: r.rep.RunID, Code: r.rep.Code, Summary: format.Clip(r.rep.Summary, maxSummary)}))
}
