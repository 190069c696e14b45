package cycle

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/host/attempt"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/netproxy"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/stoprequest"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Kind and Version name the workflow in its record.
const (
	Kind    = "cycle"
	Version = 1
)

// Env is where the cycles of a repository run. It is filled once.
type Env struct {
	Root    string // the operator's checkout
	Config  *config.Config
	WS      *workspace.Workspace
	Catalog *catalog.Catalog
	// StateDir is relay's state on this machine, DataDir where work trees lie, Home the
	// user's home.
	StateDir, DataDir, Home string
	Environ                 []string
	Version                 string
	Now                     func() time.Time // nil means time.Now
	Clock                   durable.Clock    // by which it waits; nil is the machine's
	Observer                progress.Observer
	// RaisedCap: the cap of a cycle's dollars is what the operator has just typed.
	RaisedCap bool
	// Notify is told when a cycle waits for the operator; may be nil.
	Notify func(Notice)
	// Log writes one line about a cycle into the daily log; may be nil.
	Log func(uuid, service, text string)

	mu sync.Mutex // of Observer
}

// Notice says that a cycle waits.
type Notice struct {
	UUID    string     `json:"uuid"`
	Short   string     `json:"short_id"`
	Service string     `json:"service_id"`
	Name    string     `json:"service_name,omitempty"`
	State   State      `json:"state"`
	Title   string     `json:"title"`
	Text    string     `json:"text"`
	Next    diag.Steps `json:"next"`
}

func (e *Env) now() time.Time {
	if e.Now != nil {
		return e.Now()
	}
	return time.Now()
}

// Cycle is one cycle in hand.
type Cycle struct {
	env      *Env
	store    *durable.Files
	git      *git.Repo // of the cycle's work tree; nil before it is opened
	reserved *ledger.Reservations
	caller   *modelcall.Caller
	plugins  map[string]*pluginenv.Plugin
	begin    *beginning // of a cycle that is new

	mu    sync.Mutex // of plugins and rec.Calls
	rec   Record
	steps int // transitions so far, for the names of their steps
	used  progress.Usage
	stop  context.CancelCauseFunc
}

// beginning is what a new cycle begins with; the first step records it.
type beginning struct {
	Service    config.Service `json:"service"`
	Branch     string         `json:"branch"`
	Base       string         `json:"base"`
	BaseBranch string         `json:"base_branch"`
	Worktree   string         `json:"worktree"`
	Reviser    string         `json:"reviser"`
	Warnings   []string       `json:"warnings"`
	At         time.Time      `json:"at"`
	Seal       string         `json:"seal"`
}

func newUUID() string {
	b := make([]byte, 16)
	rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func open(e *Env, uuid string) (*Cycle, error) {
	if err := e.WS.Ensure(); err != nil {
		return nil, err
	}
	if err := e.WS.MkdirAll(Dir(e.WS)); err != nil {
		return nil, err
	}
	store, err := durable.NewFiles(Dir(e.WS), e.Clock)
	if err != nil {
		return nil, diag.Internal(err)
	}
	return &Cycle{env: e, store: store, plugins: map[string]*pluginenv.Plugin{}, rec: Record{UUID: uuid, SchemaVersion: 1}}, nil
}

func (c *Cycle) path(name string) string { return filepath.Join(folder(c.env.WS, c.rec.UUID), name) }

// run executes the workflow until it ends, waits, or ctx ends.
func (c *Cycle) run(ctx context.Context) (*Record, error) {
	ctx, stop := c.watchAbort(ctx)
	defer stop()
	defer c.sayEnd()
	var saved error
	_, err := c.store.Run(ctx, c.rec.UUID, Kind, Version, func(f durable.Flow) error {
		err := c.flow(f)
		c.closePlugins(ctx) // what they were refused is part of the record
		if err == nil || durable.Parked(err) || ctx.Err() != nil {
			// While the engine still has its lock: an abort or an answer from another terminal waits
			// for that, and what it writes is not to be overwritten with what this process remembers.
			saved = c.save()
		}
		return err
	})
	if saved != nil {
		return nil, saved
	}
	switch {
	case err == nil:
		if c.rec.Problem != nil && !c.rec.State.Gate() {
			return &c.rec, c.rec.Problem.Diagnostic()
		}
		return &c.rec, nil
	case errors.Is(err, durable.ErrBusy):
		return nil, diag.New(judge.BlockedLockHeld, "cycle "+Short(c.rec.UUID)+" is running already", "another process is working on it", "`relay show "+Short(c.rec.UUID)+"`")
	case errors.Is(err, durable.ErrEnded):
		return nil, diag.New("", "cycle "+Short(c.rec.UUID)+" has ended", "it was accepted or aborted", "`relay show "+Short(c.rec.UUID)+"`")
	case ctx.Err() != nil:
		return &c.rec, c.interrupted(ctx)
	}
	if f, ok := diag.As(err); ok {
		return nil, f
	}
	return nil, diag.Wrap(err, judge.StopInterrupted, "cycle "+Short(c.rec.UUID)+" can't continue", "`relay audit abort "+Short(c.rec.UUID)+"`, then `relay audit start "+c.rec.ServiceID+"` starts over; its files stay")
}

// sayEnd says that nothing more is done in this process.
func (c *Cycle) sayEnd() {
	e := progress.Event{Kind: progress.Ended}
	if c.rec.Problem != nil {
		e.Code = c.rec.Problem.Code
	}
	c.observe(e)
}

func (c *Cycle) interrupted(ctx context.Context) error {
	cause := context.Cause(ctx)
	if f, ok := diag.As(cause); ok {
		return f
	}
	if errors.Is(cause, errAborted) {
		return diag.New("", "cycle "+Short(c.rec.UUID)+" was aborted", "`relay audit abort` was called while it ran", "`relay show "+Short(c.rec.UUID)+"`")
	}
	return &diag.Error{Code: judge.StopInterrupted, What: "cycle " + Short(c.rec.UUID) + " was interrupted in " + string(c.rec.State), Why: cause.Error(),
		Fix: "`relay audit resume " + Short(c.rec.UUID) + "`", Err: cause}
}

// flow is the workflow: deterministic code over recorded steps.
func (c *Cycle) flow(f durable.Flow) error {
	if err := c.start(f); err != nil {
		return err
	}
	for c.rec.Iteration = 1; ; c.rec.Iteration++ {
		if err := c.audit(f); err != nil {
			return err
		}
		again, err := c.gates(f)
		if err != nil || !again {
			return err
		}
		if err := c.archive(f); err != nil {
			return err
		}
	}
}

// start gives the cycle its record.
func (c *Cycle) start(f durable.Flow) error {
	b, err := durable.Step(f, "begin", func(context.Context, durable.Attempt) (beginning, error) {
		if c.begin == nil {
			return beginning{}, errors.New("the cycle was never started")
		}
		return *c.begin, nil
	})
	if err != nil {
		return err
	}
	bare := b
	bare.Seal = ""
	if why, err := c.sealed(b.Seal, bare); why != "" || err != nil {
		return c.halt(diag.New(judge.BlockedUntrustedConfig, "cycle "+Short(c.rec.UUID)+" was not started by relay on this machine", orDefault(why, fmt.Sprint(err))+"; it names programs that would be run",
			"`relay audit abort "+Short(c.rec.UUID)+"`, then `relay audit start "+diag.Word(b.Service.Service.ID)+"` begins your own"))
	}
	c.rec.ServiceID, c.rec.ConfigSnapshot, c.rec.Branch, c.rec.BaseCommit, c.rec.BaseBranch = b.Service.Service.ID, b.Service, b.Branch, b.Base, b.BaseBranch
	c.rec.Worktree, c.rec.Reviser, c.rec.Warnings, c.rec.StartedAt, c.rec.Iteration = b.Worktree, b.Reviser, b.Warnings, b.At, 1
	c.rec.Tokens = map[string]int64{}
	if c.git, err = git.Open(f.Context(), b.Worktree); err != nil {
		return c.halt(diag.Wrap(err, judge.BlockedCrashRecovery, "the work tree of cycle "+Short(c.rec.UUID)+" can't be used", "`git worktree repair "+diag.Word(b.Worktree)+"`"))
	}
	var lost []string
	if c.reserved, lost, err = ledger.OpenReservations(c.env.WS, c.budgets(), c.env.StateDir, c.rec.UUID, c.answers().Kept); err != nil {
		return c.halt(err)
	}
	c.reserved.Again = "relay audit resume " + Short(c.rec.UUID)
	c.caller = c.openCaller()
	for _, id := range lost {
		c.note("the call " + id + " was under way when relay ended; what it cost is unknown, and it is asked again if it is still needed")
	}
	return c.enter(f, Initialized, byRelay, "")
}

// budgets are the configuration's, with the service's own cap unless the operator has
// just given another one.
func (c *Cycle) budgets() config.Budgets {
	b := c.env.Config.Budgets
	if own := c.rec.ConfigSnapshot.Cycle.MaxCostUSD; own > 0 && !c.env.RaisedCap && (b.PerCycle.MaxCostUSD == 0 || own < b.PerCycle.MaxCostUSD) {
		b.PerCycle.MaxCostUSD = own
	}
	return b
}

// save writes state.json and the queue.
func (c *Cycle) save() error {
	if c.rec.State == "" {
		return nil
	}
	if err := c.rec.AddUp(c.env.WS); err != nil {
		c.log("the ledger can't be added up: " + err.Error())
	}
	if err := c.rec.write(c.env.WS); err != nil {
		return err
	}
	err := c.rec.publish(c.env.WS)
	_ = c.env.WS.Publish() // old copies harm nothing
	return err
}

// notify tells the operator that the cycle waits.
func (c *Cycle) notify() {
	if c.env.Notify == nil {
		return
	}
	r := &c.rec
	n := Notice{UUID: r.UUID, Short: Short(r.UUID), Service: r.ServiceID, Name: r.ConfigSnapshot.Service.Name, State: r.State, Next: r.Next(),
		Title: fmt.Sprintf("%s %s", r.ServiceID, r.State), Text: r.Detail()}
	if r.Problem != nil && !r.State.Gate() {
		n.Title = r.ServiceID + " needs you"
	}
	c.env.Notify(n)
}

func (c *Cycle) log(text string) {
	if c.env.Log != nil {
		c.env.Log(c.rec.UUID, c.rec.ServiceID, text)
	}
}

func (c *Cycle) note(text string) {
	c.log("notice " + text)
	c.observe(progress.Event{Kind: progress.Notice, Text: text})
}

func (c *Cycle) observe(e progress.Event) {
	if c.env.Observer == nil {
		return
	}
	c.env.mu.Lock()
	defer c.env.mu.Unlock()
	e.At, e.RunID, e.Usage = c.env.now(), c.rec.UUID, c.used
	if e.State == "" {
		e.State = string(c.rec.State)
	}
	c.env.Observer.Observe(e)
}

// at is where the work on this cycle is done. Its journal is the cycle's own, so that
// cycles, and ticks, do not settle each other's.
func (c *Cycle) at() attempt.Env {
	at := c.env.where(c.git)
	at.Journal = c.path("journal")
	at.Refused = func(n netproxy.Refusal) { c.note(attempt.RefusedText(n)) }
	at.Heard = func(n report.Network) { c.rec.Network = n.Add(c.rec.Network) }
	return at
}

// tip is the commit of the cycle's branch; the work tree must be clean and on it.
func (c *Cycle) tip(ctx context.Context) (string, error) {
	commit, branch, err := c.git.Head(ctx)
	if err == nil && branch != c.rec.Branch {
		return "", diag.New(judge.StopHeadMoved, "the cycle's work tree is not on its branch", fmt.Sprintf("it is on %q and not on %q", branch, c.rec.Branch),
			"`git -C "+diag.Word(c.rec.Worktree)+" switch "+diag.Word(c.rec.Branch)+"`")
	}
	var status []git.StatusEntry
	if err == nil {
		status, err = c.env.where(nil).Filtering().Decide(c.git).Status(ctx)
	}
	if err != nil {
		return "", diag.Wrap(err, judge.BlockedCrashRecovery, "the cycle's work tree can't be read", "`git -C "+diag.Word(c.rec.Worktree)+" status`")
	}
	status = slices.DeleteFunc(status, func(e git.StatusEntry) bool { return c.env.WS.Holds(strings.TrimSuffix(e.Path, "/")) })
	if len(status) > 0 {
		return "", diag.New(judge.BlockedDirtyWorktree, "the cycle's work tree has changes that are not committed", fmt.Sprintf("%d paths, the first is %q", len(status), status[0].Path),
			"`git -C "+diag.Word(c.rec.Worktree)+" status`, then commit them on the cycle's branch or take them back")
	}
	return commit, nil
}

var errAborted = errors.New("aborted")

// halt ends the work without recording it: what went wrong is no result, and resume
// continues from here once it is fixed.
func (c *Cycle) halt(err error) error {
	c.stop(err)
	return err
}

// watchAbort ends the work when the operator aborts the cycle from another terminal.
func (c *Cycle) watchAbort(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.stop = cancel
	stop := stoprequest.Every(200*time.Millisecond, func() bool {
		_, err := os.Lstat(c.path(abortFile))
		if err == nil {
			cancel(errAborted)
		}
		return err == nil
	})
	return ctx, func() { stop(); cancel(nil) }
}

const abortFile = "abort"

func orDash(s State) State {
	if s == "" {
		return "-"
	}
	return s
}

func after(sep, text string) string {
	if text == "" {
		return ""
	}
	return sep + text
}
