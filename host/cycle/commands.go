package cycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// StartOptions are one call of start.
type StartOptions struct {
	Service *config.LoadedService
	Base    string // commit or branch; "" is HEAD of the operator's checkout
	Force   bool   // although another cycle has the service
	Command string // what begins it, for whom a cap refuses
}

// Start begins a cycle and runs it to the first gate. The caller has made sure that the
// plugins of all roles can work. began is called with its record
// before the first model is asked; may be nil.
func Start(ctx context.Context, e *Env, o StartOptions, began func(*Record)) (*Record, error) {
	c, err := open(e, newUUID())
	if err != nil {
		return nil, err
	}
	c.rec.ConfigSnapshot = *o.Service.Service
	if c.reserved, _, err = ledger.OpenReservations(e.WS, c.budgets(), e.StateDir, c.rec.UUID, nil); err != nil {
		return nil, err
	}
	if err := c.auditorsCovered(o.Command); err != nil {
		return nil, err
	}
	if err := e.locked(func() error { return c.claim(ctx, o) }); err != nil {
		return nil, err
	}
	if began != nil {
		began(&Record{UUID: c.rec.UUID, ServiceID: c.begin.Service.Service.ID, Branch: c.begin.Branch, Worktree: c.begin.Worktree, Reviser: c.begin.Reviser})
	}
	e.log(c.rec.UUID, c.begin.Service.Service.ID, "operator start")
	return c.run(ctx)
}

func (e *Env) log(uuid, service, text string) {
	if e.Log != nil {
		e.Log(uuid, service, text)
	}
}

// claim takes what a new cycle needs: the service, a work tree, a turn of the rotation.
func (c *Cycle) claim(ctx context.Context, o StartOptions) error {
	e, s := c.env, o.Service.Service
	git, err := git.Open(ctx, e.Root)
	if err != nil {
		return diag.Git(err)
	}
	head, branch, err := git.Head(ctx)
	if err != nil {
		return diag.Git(err)
	}
	if o.Base != "" {
		out, err := git.Run(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", o.Base+"^{commit}")
		if err != nil {
			return diag.New("", "there is no commit "+fmt.Sprintf("%q", o.Base), "git has no commit or branch of that name", "`git branch -a`")
		}
		head, branch = strings.TrimSpace(string(out)), o.Base
	}
	if err := e.lockService(s.Service.ID, c.rec.UUID, o.Force); err != nil {
		return err
	}
	b := &beginning{Service: *s, Branch: branchOf(s, c.rec.UUID), Base: head, BaseBranch: branch, Warnings: o.Service.Warnings, At: e.now().UTC().Truncate(time.Millisecond)}
	if b.Worktree, err = e.takeWorktree(ctx, c.rec.UUID, b.Branch, head); err != nil {
		return errors.Join(err, os.Remove(e.servicePath(s.Service.ID)))
	}
	if b.Reviser, _, err = e.rotate(s); err != nil {
		return err
	}
	b.Seal, err = e.seal(*b)
	c.begin = b
	return err
}

// at opens a cycle that waits in a state, replayed up to there, and gives the name of
// the wait. What a cycle waits for is the engine's word; state.json decides nothing.
func (e *Env) at(ctx context.Context, uuid string, want State, command string) (*Cycle, string, error) {
	c, err := open(e, uuid)
	if err != nil {
		return nil, "", err
	}
	st, err := c.store.State(uuid)
	if err != nil {
		return nil, "", unknown(err, uuid)
	}
	if st.Status != durable.Waiting || !e.stateOf(uuid, st).Gate() {
		return nil, "", e.notNow(uuid, st, want, command)
	}
	disk, _ := ReadRecord(e.WS, uuid)
	if _, err := c.run(ctx); err != nil {
		return nil, "", err
	}
	if disk == nil || disk.State != c.rec.State || disk.Iteration != c.rec.Iteration || len(disk.Transitions) != len(c.rec.Transitions) {
		c.note("state.json was not what relay had written; it was written again from the cycle's log")
	}
	if c.rec.State != want && !c.beside(command) {
		return nil, "", e.notNow(uuid, st, want, command)
	}
	if want == AwaitingReview {
		if err := c.takeEdit(); err != nil {
			return nil, "", err
		}
	}
	return c, st.Waiting, nil
}

// beside says that a command is possible at the other gate, too: the plan of a revision that
// landed nothing can be edited and carried out once more, and what an earlier iteration
// landed can be accepted in place of another revision.
func (c *Cycle) beside(command string) bool {
	switch command {
	case "review", "continue":
		return c.rec.State == AwaitingAcceptance && !c.rec.Revision.Landed
	case DecideAccept:
		return c.rec.State == AwaitingReview && c.rec.LastLanded != nil
	}
	return false
}

// takeEdit makes the plan in the workspace the plan, where the operator has edited that
// copy while the cycle waits for him.
func (c *Cycle) takeEdit() error {
	text, err := c.edited()
	if text == nil || err != nil {
		return err
	}
	if err := workspace.WriteFile(c.path(planFile), text); err != nil {
		return err
	}
	c.log("operator review: the plan was edited in the workspace")
	return c.env.WS.Publish()
}

// edited is the copy of the plan in the workspace where it is newer than the plan; nil
// otherwise. It is the one thing of a cycle's copies that is read.
func (c *Cycle) edited() ([]byte, error) {
	rel, err := filepath.Rel(c.env.WS.Dir(), c.path(planFile))
	if err != nil {
		return nil, diag.Internal(err)
	}
	edited, err := beneath.Open(c.env.WS.Root(), c.env.WS.Rel()+"/"+filepath.ToSlash(rel))
	if err != nil {
		return nil, nil // there is no copy, or nothing that relay would read
	}
	defer edited.Close()
	its, err1 := edited.Stat()
	ours, err2 := os.Stat(c.path(planFile))
	if err := errors.Join(err1, err2); err != nil || !its.ModTime().After(ours.ModTime()) {
		return nil, nil
	}
	text, err := beneath.Read(edited, 16<<20)
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedCrashRecovery, "the edited plan can't be read", "`ls -l "+diag.Word(filepath.Join(c.env.WS.Shared(), rel))+"`")
	}
	return text, nil
}

// notNow says why a command can't be given now, and which one can.
func (e *Env) notNow(uuid string, st durable.State, want State, command string) error {
	id := Short(uuid)
	what := "`relay audit " + command + "` is not possible now"
	state := e.stateOf(uuid, st)
	why := fmt.Sprintf("it is for %s, and cycle %s is in %s", want, id, state)
	fix := "`relay show " + id + "`"
	switch {
	case st.Status == durable.Running:
		why += "; a process has it in hand"
	case st.Status == durable.Interrupted:
		fix = "`relay audit resume " + id + "`"
	case state.Ended():
		fix = "`relay show " + id + "` says how it ended"
		if r, err := ReadRecord(e.WS, uuid); err == nil {
			fix = "`relay audit start " + diag.Word(r.ServiceID) + "` begins a new cycle"
		}
	default:
		if r, err := ReadRecord(e.WS, uuid); err == nil {
			fix = r.Next()[0]
		}
	}
	return diag.New("", what, why, fix)
}

// stateOf is where a cycle stands by the engine's word, and by state.json only where
// the engine does not say.
func (e *Env) stateOf(uuid string, st durable.State) State {
	switch {
	case st.Status == durable.Done:
		return Complete
	case st.Status == durable.Cancelled:
		return Aborted
	case strings.HasPrefix(st.Waiting, "plan-"):
		return AwaitingReview
	case strings.HasPrefix(st.Waiting, "accept-"):
		return AwaitingAcceptance
	}
	if r, err := ReadRecord(e.WS, uuid); err == nil && !r.State.Gate() && !r.State.Ended() {
		return r.State
	}
	return State(strings.ToUpper(string(st.Status)))
}

func unknown(err error, uuid string) error {
	if errors.Is(err, durable.ErrUnknown) {
		return diag.New("", "cycle "+Short(uuid)+" has no log", "its folder lacks log.jsonl, or that is empty", "`relay audit abort "+Short(uuid)+"`")
	}
	return diag.Wrap(err, judge.BlockedCrashRecovery, "the log of cycle "+Short(uuid)+" can't be read", "`relay audit abort "+Short(uuid)+"`")
}

// Resume continues a cycle that a crash or a signal cut off, or that has a problem.
func Resume(ctx context.Context, e *Env, uuid string, without []string) (*Record, error) {
	c, err := open(e, uuid)
	if err != nil {
		return nil, err
	}
	st, err := c.store.State(uuid)
	if err != nil {
		return nil, unknown(err, uuid)
	}
	switch {
	case st.Status == durable.Done || st.Status == durable.Cancelled || st.Status == durable.Failed:
		return nil, e.notNow(uuid, st, "a cycle that was cut off", "resume")
	case len(without) > 0 && !strings.HasPrefix(st.Waiting, "again-"):
		return nil, diag.New("", "--without is for a cycle that has a problem", "cycle "+Short(uuid)+" has none now", "`relay audit resume "+Short(uuid)+"`")
	}
	service := "-"
	if rec, err := ReadRecord(e.WS, uuid); err == nil {
		service = rec.ServiceID
	}
	e.log(uuid, service, "operator resume"+after(" without ", strings.Join(without, ",")))
	if strings.HasPrefix(st.Waiting, "again-") {
		if err := c.store.Answer(uuid, st.Waiting, Go{Without: without}); err != nil && !errors.Is(err, durable.ErrAnswered) {
			return nil, diag.Internal(err)
		}
	}
	return c.run(ctx)
}

// Abort ends a cycle for good. Its files, its branch and what was rejected stay; its
// work tree and its service are free.
func Abort(ctx context.Context, e *Env, uuid, reason string) (*Record, error) {
	c, err := open(e, uuid)
	if err != nil {
		return nil, err
	}
	st, err := c.store.State(uuid)
	if err != nil && !errors.Is(err, durable.ErrUnknown) {
		st.Status = durable.Failed // a damaged log can still be aborted
	}
	if st.Status == durable.Done || st.Status == durable.Cancelled {
		return nil, e.notNow(uuid, st, "a cycle in progress", "abort")
	}
	if err := workspace.WriteFile(c.path(abortFile), []byte(reason+"\n")); err != nil {
		return nil, err
	}
	if err := c.awaitEnd(ctx); err != nil {
		return nil, err
	}
	if err := c.store.Cancel(uuid, orDefault(reason, "aborted by the operator")); err != nil && !errors.Is(err, durable.ErrEnded) && !errors.Is(err, durable.ErrUnknown) {
		e.log(uuid, "-", "abort: the log can't be ended: "+err.Error())
	}
	if rec, err := ReadRecord(e.WS, uuid); err == nil {
		c.rec = *rec
	} // otherwise its state is lost, and only that it ended is written
	if c.rec.State != Aborted {
		c.rec.Problem = nil
		c.move(Transition{To: Aborted, At: e.now().UTC().Truncate(time.Millisecond), By: byOperator, Iteration: c.rec.Iteration, Note: reason})
	}
	if err := c.save(); err != nil {
		return nil, err
	}
	c.log("operator abort" + after(": ", reason))
	c.throwAway(ctx)
	return &c.rec, c.letGo(ctx)
}

// throwAway removes the boxes of a cycle that will not continue.
func (c *Cycle) throwAway(ctx context.Context) {
	var err error
	if c.git, err = git.Open(ctx, c.rec.Worktree); err == nil {
		_, err = c.at().Recover(ctx, true, nil)
	}
	if err != nil {
		c.log("abort: a box may be left: " + err.Error())
	}
}

// awaitEnd waits until no process has the cycle in hand: the one that has sees the
// abort and ends.
func (c *Cycle) awaitEnd(ctx context.Context) error {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		st, err := c.store.State(c.rec.UUID)
		if err != nil || st.Status != durable.Running {
			return nil
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return diag.New(judge.BlockedLockHeld, "cycle "+Short(c.rec.UUID)+" did not end", "the process that is working on it does not respond", "`relay audit abort "+Short(c.rec.UUID)+"` again, or end that process")
		}
	}
}
