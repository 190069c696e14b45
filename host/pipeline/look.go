package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/queue"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/memory"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Seen is the newest run over the task list as it stands.
type Seen struct {
	RunID     string    `json:"run_id"`
	StartedAt time.Time `json:"started_at"`
	Since     time.Time `json:"since"`   // when it came to stand still, or its newest attempt began
	Running   bool      `json:"running"` // a process works on it
	PID       int       `json:"pid,omitempty"`
	// Branch is whose task list the run works through; HEAD where none was checked out.
	Branch string   `json:"branch,omitempty"`
	Orders Orders   `json:"orders,omitzero"`
	Set    []string `json:"-"`
	Hold
	// Ended: it came to its end. The next one continues a run that did not.
	Ended bool `json:"ended"`
	Stop
	Unpushed *Unpushed `json:"unpushed,omitempty"` // what did not reach the remote, in this run or an earlier one
	// Open are the attempts that have not ended.
	Open []*Record `json:"-"`
}

// Hold is what keeps a running run waiting until the operator changes it: his checkout is on
// another branch, or the task list can't be read. The zero Hold is that nothing does.
type Hold struct {
	Held    string `json:"held,omitempty"`      // why it does not continue
	HeldFix string `json:"held_next,omitempty"` // what to type about it
}

// Stop is how a run came to stand still.
type Stop struct {
	Reason Reason `json:"reason,omitempty"` // "" while it runs, and after a crash
	Why    string `json:"why,omitempty"`
	Fix    string `json:"next,omitempty"` // what to type where a fault ended it
	// ByOperator: a person ended it before its time, and only a person continues it.
	ByOperator bool `json:"by_operator,omitempty"`
}

// GoOn is what to type then. A fix that is the command itself continues at once.
func (s Stop) GoOn() string {
	switch {
	case s.Fix == "":
		return "`relay pipeline run` continues it"
	case strings.Contains(s.Fix, "`relay pipeline run"):
		return s.Fix
	}
	return s.Fix + "; then `relay pipeline run`"
}

// GoOn is what to type then: a push of the operator's own will do.
func (u *Unpushed) GoOn() string {
	if strings.Contains(u.Next, "`relay pipeline run") {
		return u.Next
	}
	return u.Next + "; `relay pipeline run --push` tries again"
}

// Reached reports whether the commit is at the remote meanwhile, as far as git notes that here, or
// on no branch any more.
func (u *Unpushed) Reached(ctx context.Context, root string) bool {
	git, err := git.Open(ctx, root)
	if err != nil {
		return false
	}
	out, err := git.Run(ctx, nil, "for-each-ref", "--contains="+u.Commit, "--format=%(refname)", u.Tracking, "refs/heads/")
	return err != nil || len(out) == 0 || strings.Contains(string(out), u.Tracking)
}

// CutOff says that a process was ended in the middle of the run.
func (s *Seen) CutOff() bool {
	return !s.Running && !s.Ended && (s.Reason == "" || s.Reason == Interrupted)
}

// Begun says that an attempt of the run waits to be gone on with, though the run may have ended
// beside it.
func (s *Seen) Begun() bool {
	return slices.ContainsFunc(s.Open, func(t *Record) bool { return t.Lost == "" })
}

// Asleep is the attempt whose wait for a vendor's limit ends first; nil when none waits.
func (s *Seen) Asleep() *Record {
	var first *Record
	for _, t := range s.Open {
		if t.Wait != nil && (first == nil || t.Wait.Until.Before(first.Wait.Until)) {
			first = t
		}
	}
	return first
}

// Look gives the newest run of the workspace, nil when there was none. It changes nothing;
// pid is the process that runs it, 0 when none does.
func Look(ws *workspace.Workspace, pid int) (*Seen, error) {
	rec, err := readRecord(ws)
	if rec == nil || err != nil {
		return nil, err
	}
	s := &Seen{RunID: rec.RunID, StartedAt: rec.StartedAt, Since: rec.StartedAt, Branch: rec.Branch, Orders: rec.Orders, Set: rec.Set, Running: pid > 0, PID: pid, Ended: !rec.EndedAt.IsZero(), Stop: rec.Stop}
	if !rec.StoppedAt.IsZero() {
		s.Since = rec.StoppedAt
	}
	if s.Running {
		s.Ended, s.Stop, s.Hold = false, Stop{}, rec.Hold
	}
	open, err := Open(ws)
	unpushed, noted := readUnpushed(ws)
	_, memory := memory.Read(dir(ws, memoryFile))
	s.Open, s.Unpushed, err = open, unpushed, cmp.Or(err, noted, memory)
	for _, t := range open {
		err = cmp.Or(err, logged(ws, t))
	}
	for _, t := range s.Open {
		if rec.StoppedAt.IsZero() && s.Since.Before(t.StartedAt) {
			s.Since = t.StartedAt
		}
	}
	return s, err
}

// Damaged are the files of a run and its attempts that can't be read. Without them a pending task is
// begun anew.
func Damaged(ws *workspace.Workspace) (files []string) {
	note := func(path string, err error) {
		if err != nil {
			files = append(files, path)
		}
	}
	_, err := readRecord(ws)
	note(dir(ws, recordFile), err)
	_, err = readUnpushed(ws)
	note(dir(ws, unpushedFile), err)
	_, err = memory.Read(dir(ws, memoryFile))
	note(dir(ws, memoryFile), err)
	attempts, _ := os.ReadDir(dir(ws, tasksDir))
	for _, f := range attempts {
		t, err := readTrail(ws, f.Name())
		if err == nil && t != nil && !t.Settled {
			if err = logged(ws, t); err != nil { // a trail without its log goes nowhere
				note(dir(ws, tasksDir, f.Name(), logFile), err)
			}
		}
		note(dir(ws, tasksDir, f.Name(), trailFile), err)
	}
	return files
}

// logged reports whether the log of an attempt can be read.
func logged(ws *workspace.Workspace, t *Record) error {
	store, err := durable.NewFiles(dir(ws, tasksDir), nil)
	if err == nil {
		_, err = store.State(t.Attempt)
	}
	if err == nil || t.Waiting == nil && errors.Is(err, durable.ErrUnknown) { // nothing had begun
		return nil
	}
	return workspace.Unreadable(dir(ws, tasksDir, t.Attempt, logFile), err)
}

// Failures are the last attempts at the tasks that failed and were neither tried again nor left
// out. Who took a task back, or wrote in the list that it failed, knows that.
func Failures(ws *workspace.Workspace, l *prd.List) (out []*Record) {
	for i := range l.Tasks {
		if l.Tasks[i].Status != prd.Failed {
			continue
		}
		if t, err := newest(ws, l.Tasks[i].ID); err == nil && t != nil && t.Code != "" && t.Code != judge.Success {
			out = append(out, t)
		}
	}
	return out
}

// sleeps reports whether the wait of an attempt is still to be ended: `relay wake` notes its
// end in the attempt's log, not in its trail, which belongs to the run.
func sleeps(ws *workspace.Workspace, t *Record) bool {
	store, err := durable.NewFiles(dir(ws, tasksDir), nil)
	if err != nil {
		return false
	}
	st, err := store.State(t.Attempt)
	return err == nil && st.Status == durable.Sleeping
}

// BranchOf is the branch that a run begun now works on: that of the attempts which have not
// ended, since their task list and their commits lie there, or else the one that is checked
// out. A branch that is gone takes nothing along; "" is a detached HEAD.
func (s *Seen) BranchOf(ctx context.Context, git *git.Repo) (string, error) {
	_, branch, err := git.Head(ctx)
	if err != nil {
		return "", diag.Git(err)
	}
	if s == nil || s.Branch == "" || s.Branch == orHead(branch) || !s.Begun() {
		return branch, nil
	}
	if s.Branch == "HEAD" {
		return "", nil
	}
	found, err := git.Run(ctx, nil, "for-each-ref", "--format=%(refname)", refOf(s.Branch))
	if err != nil {
		return "", diag.Git(err)
	}
	if len(found) == 0 {
		return branch, nil
	}
	return s.Branch, nil
}

// hold notes what keeps the run waiting, for those who look.
func (p *Pipeline) hold(h Hold) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rec.RunID == "" || p.rec.Hold == h { // before the run has its record it has nothing to show
		return nil
	}
	p.rec.Hold = h
	return firstOf(p.writeRecord(), p.show())
}

// runKind is that of a run over the task list in the operator's queue.
const runKind = "pipeline"

// show puts the run into queue.md, which nobody renews once it is killed: so its entry
// says what to do then.
func (p *Pipeline) show() error {
	return queue.Put(p.env.WS, queue.Entry{ID: p.rec.RunID, Kind: runKind, Since: p.rec.StartedAt, What: cmp.Or(p.rec.Held, fmt.Sprintf("works on the tasks as process %d", os.Getpid())),
		Next: "Where that process is gone, `relay pipeline run` continues it", Running: true})
}

// stopped notes how the run came to stand still, for those who look.
func (p *Pipeline) stopped(by error, err error) error {
	p.rec.StoppedAt = p.now().UTC()
	p.rec.Stop, p.rec.Hold = Stop{Reason: p.out.Reason, Why: p.out.Why}, Hold{}
	var who interface{ ByOperator() bool }
	switch {
	case p.out.Reason == NothingLeft:
		p.rec.EndedAt = p.rec.StoppedAt
	case p.out.Reason == Interrupted:
		p.rec.ByOperator = errors.As(by, &who) && who.ByOperator()
	case p.out.Reason == "" && err != nil:
		f := diag.Internal(err)
		p.rec.Stop = Stop{Reason: Blocked, Why: strings.TrimSuffix(f.What+": "+f.Why, ": "), Fix: f.Fix}
	}
	if r := p.rec.Stop; r.Reason == Blocked || r.Reason == LimitLasts {
		e := queue.Entry{ID: p.rec.RunID, Kind: runKind, Since: p.rec.StoppedAt, What: oneLine(r.Why), Next: r.GoOn()}
		return firstOf(queue.Put(p.env.WS, e), p.writeRecord())
	}
	return firstOf(queue.Drop(p.env.WS, runKind, ""), p.writeRecord()) // also that of a run whose record is lost
}
