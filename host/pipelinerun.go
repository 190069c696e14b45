package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/pulse"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
)

// Types of pipelines that the commands show.
type (
	// TaskTrail is all that is known of one attempt at a task.
	TaskTrail = pipeline.Trail
	// PipelineSeen is the newest run over the task list as it stands.
	PipelineSeen = pipeline.Seen
	// PipelineEstimate is what a run over the task list may cost.
	PipelineEstimate = pipeline.Estimate
	// PipelineOrders are what the operator asks of a run.
	PipelineOrders = pipeline.Orders
	// Replacement says who took over a role for the rest of a run.
	Replacement = pipeline.Replacement
)

// PipelineRunOptions are one call of relay pipeline run.
type PipelineRunOptions struct {
	PipelineOrders // none at all: those of the run that it goes on with
	Observer       Observer
	OnTask         func(*TaskTrail) // after each task
}

// PipelineRun is how a run over the task list ended.
type PipelineRun struct {
	Doc
	RunID    string            `json:"run_id"`
	Reason   string            `json:"reason"`
	Why      string            `json:"why,omitempty"`
	Tasks    []*TaskTrail      `json:"tasks"` // in the order of their ends
	Counts   map[string]int    `json:"counts"`
	Waiting  []string          `json:"waiting,omitempty"`  // for you
	Held     map[string]string `json:"held,omitempty"`     // by a failed task
	Replaced []Replacement     `json:"replaced,omitempty"` // for the rest of the run
	Pushed   *PipelinePushed   `json:"pushed,omitempty"`   // with --push
	Estimate *PipelineEstimate `json:"estimate,omitempty"` // from before it began
	Spend    LoopSpend         `json:"spend"`
	Next     string            `json:"next,omitempty"`
	ExitCode int               `json:"exit_code"`
}

// Ended says to a person why it ended.
func (r *PipelineRun) Ended() string { return pipeline.Reason(r.Reason).Words() }

// PipelineRun works through the task list. A task that failed is a result, not an error.
// When ctx ends by [Interrupt] the step under way is ended in order, and the next run goes
// on with it.
func (r *Repo) PipelineRun(ctx context.Context, o PipelineRunOptions) (*PipelineRun, error) {
	before, asBegun, err := r.begun(&o)
	if err != nil {
		return nil, err
	}
	env, repo, err := r.pipelineEnv(o.Observer)
	if err != nil {
		return nil, err
	}
	if err := r.trust().Check(repo.loaded, r.getenv); err != nil {
		return nil, err
	}
	if f := r.untouched(); f != nil {
		return nil, f
	}
	if err := r.ready(ctx, repo.loaded, env.Catalog, r.pipelineTeam(&repo.loaded.Config.Pipeline)); err != nil {
		return nil, err
	}
	ctx, asked, done := stoppable(ctx, repo.ws)
	defer done()
	pulse := pulse.Record(repo.ws, "relay pipeline run", env.Observer)
	defer pulse.End()
	env.Observer = pulse
	if f := tooLowForTasks(env.Config.Pipeline); f != nil {
		return nil, f
	}
	if asBegun != "" {
		env.Observer.Observe(Event{Kind: progress.Notice, At: r.now(), Text: "goes on as it was begun: " + asBegun + "; a flag of yours, as --parallel 1, takes their place, and a --set that of its own"})
	}
	estimate, err := r.foresee(repo, o.Only)
	if err != nil {
		return nil, err
	}
	env.Observer.Observe(Event{Kind: progress.Notice, At: r.now(), Text: estimate.Words()})
	opts := pipeline.Options{Orders: o.PipelineOrders, Set: r.opts.Set, Drain: asked}
	opts.OnTask = func(t *TaskTrail) {
		if o.OnTask != nil {
			o.OnTask(t)
		}
		r.tellTask(repo, t)
	}
	var to *pusher
	if o.Push {
		if to, err = newPusher(ctx, repo, before, o.Observer); err != nil {
			return nil, err
		}
		to.refused = func(t *TaskTrail, f *fault.Fault) {
			r.tellPipeline(repo, PipelineNotice{RunID: t.PipelineID, TaskID: t.TaskID, Event: "push", Title: "relay: a push was refused", Text: f.What + ": " + f.Why, Next: f.Fix, ExitCode: ExitStopped})
		}
		opts.After = to.after
	}
	defer r.noteNeeds(false)
	out, err := pipeline.Run(ctx, env, opts)
	if err != nil {
		err = tasksFault(err)
		r.tellRun(repo, nil, err)
		return nil, err
	}
	res := pipelineResult(ctx, out)
	res.Estimate = estimate
	to.report(ctx, res)
	r.tellRun(repo, res, nil)
	return res, nil
}

// foresee says what the tasks that are still to be done may cost.
func (r *Repo) foresee(repo *opened, only string) (*PipelineEstimate, error) {
	_, l, err := r.taskList()
	if err != nil {
		return nil, err
	}
	return pipeline.Foresee(repo.loaded.Config.Pipeline, repo.ws, l, only)
}

// tooLowForTasks names a cap under which no call of a pipeline could be made; nil when each
// has room for one.
func tooLowForTasks(c config.Pipeline) *fault.Fault {
	call := max(c.MaxCallUSD, c.MaxSessionUSD)
	for key, usd := range map[string]float64{"pipeline.max_task_usd": c.MaxTaskUSD, "pipeline.max_run_usd": c.MaxRunUSD} {
		switch {
		case usd == 0:
		case c.MaxCallUSD == 0 || c.MaxSessionUSD == 0:
			return fault.New(judge.BlockedMissingConfig, key+" could not be kept", "pipeline.max_call_usd or pipeline.max_session_usd is 0, so nothing limits what one call may cost",
				"`relay pipeline run --set pipeline.max_call_usd=2 --set pipeline.max_session_usd=10`, or `--set "+key+"=0` for no cap")
		case usd < call:
			return fault.New(judge.BlockedMissingConfig, fmt.Sprintf("%s is %g dollars, and one call may cost %g", key, usd, call), "not every call could be made",
				fmt.Sprintf("`relay pipeline run --set pipeline.max_call_usd=%g --set pipeline.max_session_usd=%g`, or raise the cap", min(usd, c.MaxCallUSD), min(usd, c.MaxSessionUSD)))
		}
	}
	return nil
}

// pipelineTeam are the plugins that a pipeline can't do without: a role with a fallback
// can, and the checks of criteria while no task has any.
func (r *Repo) pipelineTeam(c *config.Pipeline) []member {
	var team []member
	add := func(role, name, model string, kind catalog.Kind, fallback []string) {
		if len(fallback) == 0 {
			team = append(team, member{role, name, kind, model})
		}
	}
	add("plan", c.Plan.Provider, c.Plan.Model, catalog.Provider, c.Plan.Fallback)
	add("code", c.Code.Builder, c.Code.Model, catalog.Builder, c.Code.Fallback)
	add("review", c.Review.Provider, c.Review.Model, catalog.Provider, c.Review.Fallback)
	add("cleanup", c.Cleanup.Builder, c.Cleanup.Model, catalog.Builder, c.Cleanup.Fallback)
	_, list, err := r.taskList()
	if err == nil && slices.ContainsFunc(list.Tasks, func(t prd.Task) bool { return len(t.AcceptanceCriteria) > 0 }) {
		add("criteria", c.Criteria.Provider, c.Criteria.Model, catalog.Provider, c.Criteria.Fallback)
	}
	return distinct(team)
}

func (r *Repo) pipelineEnv(obs Observer) (*pipeline.Env, *opened, error) {
	repo, err := r.open()
	if err != nil {
		return nil, nil, err
	}
	if repo.loaded.File == "" {
		return nil, nil, fault.New(judge.BlockedMissingConfig, "this repository has no configuration for relay", "there is no relay.config.json, .yaml, .yml or .toml in "+repo.root, "`relay init`")
	}
	cat, err := r.catalog(repo.root)
	if err != nil {
		return nil, nil, err
	}
	return &pipeline.Env{Root: repo.root, Config: repo.loaded.Config, WS: repo.ws, Catalog: cat, StateDir: r.stateDir(), DataDir: r.dataDir(), Home: r.home(),
		Environ: r.opts.Env, Version: r.opts.Version, Clock: r.opts.Clock,
		Observer: r.watched("pipeline", repo.loaded.Config, obs)}, repo, nil
}

func pipelineResult(ctx context.Context, out *pipeline.Outcome) *PipelineRun {
	res := &PipelineRun{Doc: Doc{"relay.pipeline.run", 1}, RunID: out.RunID, Reason: string(out.Reason), Why: out.Why, Tasks: out.Tasks, Waiting: out.Waiting,
		Held: out.Held, Replaced: out.Replaced, Spend: out.Spend, Counts: map[string]int{}}
	if res.Tasks == nil {
		res.Tasks = []*TaskTrail{}
	}
	for s, n := range out.Counts {
		res.Counts[string(s)] = n
	}
	res.ExitCode, res.Next = pipelineEnd(out)
	var sig Interrupted
	if out.Reason == pipeline.Interrupted && errors.As(context.Cause(ctx), &sig) {
		res.ExitCode = sig.ExitCode()
	}
	return res
}

// pipelineEnd gives the exit code and what to type: what waits for a person goes before
// what failed.
func pipelineEnd(out *pipeline.Outcome) (code int, next string) {
	var failed *TaskTrail
	for _, t := range out.Tasks {
		if t.Code != "" && t.Code != judge.Success {
			failed = t
		}
	}
	switch {
	case out.Reason == pipeline.LimitLasts:
		return ExitStopped, "`relay pipeline run` again when the limit is over; pipeline.*.fallback in the configuration names who may stand in"
	case out.Reason == pipeline.Interrupted:
		return ExitStopped, "`relay pipeline run` goes on with it"
	case len(out.Waiting) > 0:
		for _, t := range out.Tasks {
			if t.Waiting != nil {
				return ExitWaiting, t.Waiting.Next(t.TaskID)
			}
		}
		return ExitWaiting, "`relay task show " + out.Waiting[0] + "` shows what is asked"
	case failed != nil:
		return ExitStopped, failedNext(failed.TaskID, failed)
	case len(out.Held) > 0:
		for id, by := range out.Held {
			return ExitStopped, fmt.Sprintf("`relay task retry %s`: %s waits for it", by, id)
		}
	}
	return ExitDone, "`relay task list`"
}

// PipelineStatus is where the tasks stand.
type PipelineStatus struct {
	Doc
	Running bool           `json:"running"`
	PID     int            `json:"pid,omitempty"`
	Counts  map[string]int `json:"counts"`
	Ready   []string       `json:"ready,omitempty"` // what may start now, the next one first
	Open    []*TaskTrail   `json:"open"`            // attempts that have not ended
	// Needs is what waits: for the operator first, then for vendors' limits.
	Needs []Need `json:"needs,omitempty"`
	// Held are the tasks that can't start, by the failed task that holds them.
	Held     map[string]string `json:"held,omitempty"`
	Next     string            `json:"next,omitempty"`
	ExitCode int               `json:"exit_code"` // 1 while something waits for the operator
}

// PipelineStatus says what the pipeline is at. It starts nothing.
func (r *Repo) PipelineStatus(ctx context.Context) (*PipelineStatus, error) {
	_, l, err := r.taskList()
	if err != nil {
		return nil, err
	}
	res := &PipelineStatus{Doc: Doc{"relay.pipeline.status", 1}, Counts: map[string]int{}, Open: append([]*TaskTrail{}, r.openTasks(l)...), Held: l.Held()}
	for s, n := range l.Count() {
		res.Counts[string(s)] = n
	}
	line := taskLines(l, res.Open)
	for _, t := range l.Ready() {
		if line(t).Ready {
			res.Ready = append(res.Ready, t.ID)
		}
	}
	res.Next = res.next(l)
	st, err := r.Status(ctx, false)
	if err != nil {
		return nil, err
	}
	for _, n := range slices.Concat(st.Needs, st.Waits) {
		if n.Of == "task" || n.Of == "pipeline" {
			res.Needs = append(res.Needs, n)
		}
	}
	if p := st.Pipeline; p != nil && p.Running {
		res.Running, res.PID, res.Next = true, p.PID, "`relay stop --drain` ends it after the task under way"
	}
	if len(res.Needs) > 0 {
		res.Next = res.Needs[0].Next
		if res.Needs[0].Until.IsZero() {
			res.ExitCode = ExitWaiting
		}
	}
	return res, nil
}

// next is the command that leads on while nothing waits for an answer.
func (s *PipelineStatus) next(l *prd.List) string {
	if len(s.Open)+len(s.Ready) > 0 {
		return "`relay pipeline run`"
	}
	for i := range l.Tasks {
		if t := &l.Tasks[i]; t.Status == prd.Failed {
			return failedNext(t.ID, nil)
		}
	}
	return "`relay task list`"
}

// openTasks are the attempts that have not ended at tasks that are still to be done, in
// the order of the list; none where relay is not set up.
func (r *Repo) openTasks(l *prd.List) []*TaskTrail {
	repo, err := r.open()
	if err != nil {
		return nil
	}
	open, err := pipeline.Open(repo.ws)
	if err != nil {
		return nil
	}
	return todo(l, open)
}

// TaskAnswer gives the operator's answer to a task that waits: yes or no to unsure
// criteria, a text to a planner's question. asked is the question that was read, so that
// an answer is given to no other; "" is whichever waits.
func (r *Repo) TaskAnswer(ctx context.Context, id, asked, text string) (*TaskResult, error) {
	repo, err := r.open()
	if err != nil {
		return nil, err
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	yes := strings.EqualFold(word, "yes")
	if trails, err := pipeline.Attempts(repo.ws, id); err == nil && len(trails) > 0 && trails[0].Waiting != nil {
		q := trails[0].Waiting
		if asked != "" && q.Text != asked {
			return nil, fault.New("", "nothing was answered", "the question that you read waits no more; another one does now: "+q.Text, "`relay task show "+id+"`")
		}
		if q.YesNo() {
			if !yes && !strings.EqualFold(word, "no") {
				return nil, fault.New("", "that is no answer to this question", "it is answered with yes or no", q.Next(id))
			}
			text = strings.TrimSpace(rest)
		}
	}
	now := time.Now()
	if r.opts.Clock != nil {
		now = r.opts.Clock.Now()
	}
	var unsigned error
	approve := func(t *pipeline.Trail) *attest.Approval {
		git, err := judge.OpenGit(ctx, repo.root)
		touched := ""
		if err == nil {
			touched, err = attest.TouchedBetween(ctx, git, t.Base, change.KeptRef(t.RunID))
		}
		yes := attest.Approval{Kind: "policy", At: now.UTC().Format(attest.Time)}
		if unsigned = err; err == nil {
			yes, unsigned = r.approve(ctx, repo.root, attest.Approved{Kind: "policy", Touched: touched}, now)
		}
		return &yes
	}
	if _, err := pipeline.Answer(repo.ws, id, yes, text, now, approve); err != nil {
		return nil, err
	}
	res, err := r.Task(ctx, id)
	if err == nil && unsigned != nil {
		res.Unsigned = unsigned.Error()
	}
	return res, err
}

// trails are the attempts at a task, newest first; none where relay is not set up.
func (r *Repo) trails(id string) []*TaskTrail {
	repo, err := r.open()
	if err != nil {
		return nil
	}
	all, err := pipeline.Attempts(repo.ws, id)
	if err != nil {
		return nil
	}
	return all
}

// abandon forgets what was begun of a task.
func (r *Repo) abandon(id, why string) error {
	repo, err := r.open()
	if err != nil {
		return nil // without a configuration nothing can have been begun
	}
	return pipeline.Abandon(repo.ws, id, why)
}
