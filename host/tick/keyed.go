package tick

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/resultref"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Earlier is the run that had ended before with the key that was asked for.
type Earlier struct {
	Key string    `json:"key"`
	Run string    `json:"run"` // its id
	At  time.Time `json:"at"`
	// By is who signed its result, as the file of signers has it; "" where this machine made it
	// and its own history says so.
	By string `json:"by,omitempty"`
	// Object is the commit that holds the result, "" where there is none in git.
	Object string `json:"object,omitempty"`
	// Here: HEAD has what landed.
	Here bool `json:"here"`
	// Kept: the history of this machine has the run.
	Kept bool `json:"kept"`
}

// ended reports whether a run came to an end that stays the end, however often the same is
// asked for. One that was blocked or interrupted, met a vendor's limit, or planned nothing
// since an earlier run's question is open, did not; nor did one whose change waits for the
// answer to a question of the policy.
func ended(r *report.Report) bool {
	if r.Question != nil && (r.Task.TaskID == "" || len(r.Policy.Asks()) > 0) {
		return false
	}
	return r.Code != "" && r.Code != judge.StopInterrupted && r.Code.Outcome() != judge.OutcomeBlocked && len(r.Limits) == 0
}

// Find gives the outcome of the ended run with the key of o, nil where there is none.
// It asks the signed results in git and the history of this machine, and no network.
func Find(ctx context.Context, env *Env, o Options) (*Outcome, error) {
	out, _, err := newRun(env, o).earlier(ctx)
	return out, err
}

// earlier is Find; note says what was found and does not count.
func (r *run) earlier(ctx context.Context) (out *Outcome, note string, err error) {
	if r.o.Key == "" || r.cfg == nil {
		return nil, "", nil
	}
	ws, err := workspace.Open(r.env.Root, r.cfg.WorkspaceDir)
	if err != nil {
		return nil, "", nil // the tick itself says so
	}
	ws.Claim(r.env.Private...)
	if r.o.Own {
		out, err = r.inHistory(ws)
		return out, "", err
	}
	git, err := git.Open(ctx, r.env.Root)
	if err != nil {
		return nil, "", nil // as above
	}
	res, err := resultref.Read(ctx, git, r.o.Signers, r.o.Key)
	if no, ok := errors.AsType[*resultref.Untrusted](err); ok {
		note, err = no.Error()+"; nobody that this machine trusts has said so", nil
	}
	if err != nil {
		return nil, note, diag.Git(err)
	}
	if res == nil {
		if out, err = r.inHistory(ws); out == nil || err != nil {
			return nil, note, err
		}
		// A crash, or a full disk, came between the run's end and its result in git.
		res = &resultref.Result{}
		if res.Object, err = r.keep(ctx, git, ws, out.Report, out.Was); err != nil {
			note = "the result of run " + out.Report.RunID + " is not in git: " + err.Error()
		}
		out.Earlier.Object = res.Object
	} else {
		if res.Request != r.asked {
			return nil, note, r.otherRequest(res.Run)
		}
		out = &Outcome{Report: res.Report, Was: res.Milestone, Earlier: &Earlier{Key: r.o.Key, Run: res.Run, At: res.EndedAt, By: res.By, Object: res.Object}}
		_, none := history.Open(ws.History()).Find(res.Run)
		out.Earlier.Kept = none == nil
	}
	if c := out.Report.Commit; c != "" {
		_, err := git.Run(ctx, nil, "merge-base", "--is-ancestor", c, "HEAD")
		out.Earlier.Here = err == nil
	}
	return out, note, nil
}

// again looks for an earlier run before this one is begun, and says what does not count.
func (r *run) again(ctx context.Context) (*Outcome, error) {
	if r.o.Own {
		return nil, nil // it asks by itself when it continues
	}
	out, note, err := r.earlier(ctx)
	if note != "" && out == nil && err == nil {
		r.note(note)
	}
	return out, err
}

// endedMeanwhile looks once more now that no other run is under way: one may have ended
// while this one began, or been settled after a crash just now.
func (r *run) endedMeanwhile(ctx context.Context) (bool, error) {
	if r.o.Own {
		return false, nil
	}
	r.found, _, r.taken = r.earlier(ctx)
	return r.found != nil || r.taken != nil, r.taken
}

// withdraw takes back that this run was begun.
func (r *run) withdraw() (*Outcome, error) {
	err := r.hist.Drop()
	r.ws.Withdraw(r.hist.Dir())
	err = errors.Join(r.taken, err, r.held.Release())
	r.publish()
	return r.found, err
}

// inHistory looks for the run in what this machine has kept, the newest first.
func (r *run) inHistory(ws *workspace.Workspace) (*Outcome, error) {
	hist := history.Open(ws.History())
	all, err := hist.All()
	if err != nil {
		return nil, nil
	}
	for m := range all {
		if m.Key != r.o.Key || m.Code == "" {
			continue
		}
		raw, err := workspace.ReadFile(hist.Path(m.RunID, resultref.ReportName), report.MaxBytes)
		if err != nil {
			continue
		}
		rep, err := report.Decode(raw)
		if err != nil || !ended(rep) {
			continue
		}
		if m.Request != "" && m.Request != r.asked {
			return nil, r.otherRequest(m.RunID)
		}
		out := &Outcome{Report: rep, Was: m.WasMilestone, Earlier: &Earlier{Key: r.o.Key, Run: m.RunID, At: rep.EndedAt, Here: true, Kept: true}}
		if _, err := workspace.ReadFile(hist.Path(m.RunID, "diff.patch"), 1); err == nil || !errors.Is(err, fs.ErrNotExist) {
			out.Patch = hist.Path(m.RunID, "diff.patch")
		}
		return out, nil
	}
	return nil, nil
}

// takePlanned takes over the task of the last run with the same key, which was cut off, met a
// limit or was blocked after its task had been paid for. It is the orchestrator's, as it was.
// Without a key it is that of the run before this one, if that was killed or stopped by a signal and asked for the same.
// A task for another builder than the one that is preferred now is planned anew: its instructions were written for that one.
func (r *run) takePlanned() {
	all, err := history.Open(r.ws.History()).All()
	if err != nil {
		return
	}
	for m := range all {
		if m.RunID == r.rep.RunID || m.Workflow != history.Tick || r.o.Key != "" && m.Key != r.o.Key {
			continue
		}
		if r.o.Key == "" && (m.Key != "" || m.Loop != "" || !m.Cut) {
			return
		}
		raw := r.file(r.ws.Task())
		if now := catalog.Canonical(r.cfg.Builder.DefaultMode); catalog.Canonical(m.Prefers) != now && catalog.Canonical(r.builderOf([]byte(raw))) != now {
			return
		}
		if m.TaskID == "" || m.Request != r.asked || !IsTask([]byte(raw), m.TaskID, m.Intent) || r.accept([]byte(raw)) != nil {
			return // another run has put its own there since, or it can't be built any more
		}
		r.o.Task, r.o.Again = []byte(raw), true
		r.note("the task of run " + m.RunID + " is built, which was planned but never finished; with another goal, key or builder a new one is planned")
		return
	}
}

// IsTask reports whether a task's JSON is the task of this id and intent.
func IsTask(raw []byte, id, intent string) bool {
	var t struct {
		ID     string `json:"task_id"`
		Intent string `json:"intent"`
	}
	return json.Unmarshal(raw, &t) == nil && t.ID == id && t.Intent == intent
}

// request is the digest of what was asked for; "" for a step of a loop, whose workflow
// answers for that.
func (o Options) request() string {
	if o.Own {
		return ""
	}
	task := o.Task
	if o.Again {
		task = nil // the orchestrator's own: nobody asked for it
	}
	return resultref.Request(o.Goal, task)
}

func (r *run) otherRequest(run string) error {
	return diag.New("", "the key "+r.o.Key+" is taken", "run "+run+" had it, for another goal or task", "give this one its own key; `relay show "+run+"` has the other where it was made")
}

// withKey adds the run's key to what a commit says of it.
func (r *run) withKey(t []change.Trailer) []change.Trailer {
	if r.o.Key == "" || r.o.Own {
		return t
	}
	return append(t, change.Trailer{Key: "Relay-Key", Value: r.o.Key})
}

// keepResult keeps the result of this run for the next call with its key.
func (r *run) keepResult() {
	if r.o.Key == "" || r.o.Own || r.hist == nil || r.git == nil || !ended(r.rep) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	object, err := r.keep(ctx, r.git, r.ws, report.Fit(r.rep), r.was)
	if err != nil {
		r.note("the run's result is not in git, so other machines will not find it: " + err.Error())
	}
	r.resultObject = object
}

// keep puts the result of an ended run of this machine into git.
func (r *run) keep(ctx context.Context, git *git.Repo, ws *workspace.Workspace, rep *report.Report, was string) (string, error) {
	s := resultref.Statement{Key: r.o.Key, Run: rep.RunID, Request: r.asked, Code: rep.Code, EndedAt: rep.EndedAt, Base: rep.BaseCommit, Commit: rep.Commit, Milestone: was}
	if rep.Salvage != "" {
		out, err := git.Run(ctx, nil, "rev-parse", "--verify", "--end-of-options", rep.Salvage+"^{commit}")
		if err == nil {
			s.Kept = strings.TrimSpace(string(out))
		}
	}
	files, hist := map[string][]byte{}, history.Open(ws.History())
	for _, name := range []string{resultref.ReportName, "report.md", "diff.patch", "verify.log"} {
		b, err := workspace.ReadFile(hist.Path(rep.RunID, name), report.MaxBytes)
		if err == nil {
			files[name] = b
		} else if !errors.Is(err, fs.ErrNotExist) {
			s.Left = append(s.Left, name)
		}
	}
	if note := resultref.Attestation(ctx, git, rep.Commit); note != nil {
		files[resultref.AttestationName] = note
	}
	o := attest.Options{Git: git, StateDir: r.env.StateDir, Home: r.env.Home, Environ: r.env.Environ, Sign: r.cfg.Evidence.Sign, Version: r.env.Version, Now: r.now()}
	return resultref.Write(ctx, o, s, files, pluginenv.Secrets(r.cfg, r.env.Home))
}
