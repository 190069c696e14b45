package pipelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/health"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/presence"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// RunOptions are one call of relay pipeline run.
type RunOptions struct {
	host.PipelineOrders        // none at all: those of the run that it continues with
	Signers             string // whose results of other machines count, besides this one's
	Observer            host.Observer
	OnTask              func(*host.TaskAttempt) // after each task
}

// RunResult is how a run over the task list ended.
type RunResult struct {
	host.Doc
	RunID    string                 `json:"run_id"`
	Reason   string                 `json:"reason"`
	Why      string                 `json:"why,omitempty"`
	Tasks    []*host.TaskAttempt    `json:"tasks"` // in the order of their ends
	Counts   map[string]int         `json:"counts"`
	Waiting  []string               `json:"waiting,omitempty"`  // for you
	Held     map[string]string      `json:"held,omitempty"`     // by a failed task
	Replaced []host.Replacement     `json:"replaced,omitempty"` // for the rest of the run
	Pushed   *Pushed                `json:"pushed,omitempty"`   // with --push
	Left     *Left                  `json:"left,omitempty"`     // with --key
	Estimate *host.PipelineEstimate `json:"estimate,omitempty"` // from before it began
	Spend    host.LoopSpend         `json:"spend"`
	Next     string                 `json:"next,omitempty"`
	ExitCode int                    `json:"exit_code"`
}

// Ended says to a person why it ended.
func (r *RunResult) Ended() string { return pipeline.Reason(r.Reason).Words() }

// Run works through the task list. A task that failed is a result, not an error. Where an
// error ended a run that had begun, the result says what it did until then.
// When ctx ends by [Interrupt] the step under way is ended in order, and the next run goes
// on with it.
func Run(ctx context.Context, r *host.Repo, o RunOptions) (*RunResult, error) {
	before, asBegun, err := begun(r, &o)
	if err != nil {
		return nil, err
	}
	env, repo, err := r.PipelineEnv(o.Observer)
	if err != nil {
		return nil, err
	}
	if err := r.TrustStore().Check(repo.Loaded, r.Getenv); err != nil {
		return nil, err
	}
	if f := untouched(r); f != nil {
		return nil, f
	}
	k, opts, earlier, err := keys(ctx, r, env, &o)
	if earlier != nil || err != nil {
		return earlier, err
	}
	if err := r.Ready(ctx, repo.Loaded, env.Catalog, health.PipelineTeam(&repo.Loaded.Config.Pipeline, r.TasksHaveCriteria())); err != nil {
		return nil, err
	}
	ctx, asked, done := host.Stoppable(ctx, repo.WS)
	defer done()
	present := presence.Record(repo.WS, "relay pipeline run", env.Observer)
	defer present.End()
	env.Observer = present
	if f := tooLowForTasks(env.Config.Pipeline); f != nil {
		return nil, f
	}
	if asBegun != "" {
		env.Observer.Observe(host.Event{Kind: progress.Notice, At: r.Now(), Text: "continues as it was started: " + asBegun + "; your own flags, such as --parallel 1 or --set, replace those"})
	}
	var estimate *host.PipelineEstimate
	if o.Join == "" {
		if estimate, err = foresee(r, repo, o.Only); err != nil {
			return nil, err
		}
		env.Observer.Observe(host.Event{Kind: progress.Notice, At: r.Now(), Text: estimate.Words()})
	}
	opts.Orders, opts.Set, opts.Drain = o.PipelineOrders, r.Options.Set, asked
	opts.OnTask = func(t *host.TaskAttempt) {
		if o.OnTask != nil {
			o.OnTask(t)
		}
		tellTask(r, repo, t)
	}
	var to *pusher
	if o.Push && o.Key == "" {
		if to, err = newPusher(ctx, r, repo, before, o.Observer); err != nil {
			return nil, err
		}
		to.refused = func(t *host.TaskAttempt, f *diag.Error) {
			tell(r, repo, Notice{RunID: t.PipelineID, TaskID: t.TaskID, Event: "push", Title: "relay: a push was refused", Text: f.What + ": " + f.Why, Next: f.Fix, ExitCode: host.ExitStopped})
		}
		opts.After = to.after
	}
	defer r.NoteNeeds(false)
	out, err := pipeline.Run(ctx, env, opts)
	if out == nil {
		err = host.TasksFault(host.AsInterrupted(ctx, err, "the run", "`relay pipeline run` begins it again"))
		tellRun(r, repo, nil, err)
		return nil, err
	}
	res := resultOf(ctx, out)
	res.Estimate = estimate
	to.report(ctx, res)
	if o.Key != "" {
		k.report(res)
	}
	if err != nil {
		err = host.TasksFault(err)
		res.Reason, res.Next, res.ExitCode = string(pipeline.Blocked), "", host.Explain(diag.Internal(err).Code).ExitCode
	}
	tellRun(r, repo, res, err)
	return res, err
}

// foresee says what the tasks that are still to be done may cost.
func foresee(r *host.Repo, repo *host.Opened, only string) (*host.PipelineEstimate, error) {
	_, l, err := r.TaskList()
	if err != nil {
		return nil, err
	}
	return pipeline.Foresee(repo.Loaded.Config.Pipeline, repo.WS, l, only)
}

// tooLowForTasks names a cap under which no call of a pipeline could be made; nil when each
// has room for one.
func tooLowForTasks(c config.Pipeline) *diag.Error {
	call := max(c.MaxCallUSD, c.MaxSessionUSD)
	for key, usd := range map[string]float64{"pipeline.max_task_usd": c.MaxTaskUSD, "pipeline.max_run_usd": c.MaxRunUSD} {
		switch {
		case usd == 0:
		case c.MaxCallUSD == 0 || c.MaxSessionUSD == 0:
			return diag.New(judge.BlockedMissingConfig, key+" could not be kept", "pipeline.max_call_usd or pipeline.max_session_usd is 0, so nothing limits what one call may cost",
				"`relay pipeline run --set pipeline.max_call_usd=2 --set pipeline.max_session_usd=10`, or `--set "+key+"=0` for no cap")
		case usd < call:
			return diag.New(judge.BlockedMissingConfig, fmt.Sprintf("%s is %g dollars, and one call may cost %g", key, usd, call), "not every call could be made",
				fmt.Sprintf("`relay pipeline run --set pipeline.max_call_usd=%g --set pipeline.max_session_usd=%g`, or raise the cap", min(usd, c.MaxCallUSD), min(usd, c.MaxSessionUSD)))
		}
	}
	return nil
}

func resultOf(ctx context.Context, out *pipeline.Outcome) *RunResult {
	res := &RunResult{Doc: host.DocOf("relay.pipeline.run", 1), RunID: out.RunID, Reason: string(out.Reason), Why: out.Why, Tasks: out.Tasks, Waiting: out.Waiting,
		Held: out.Held, Replaced: out.Replaced, Spend: out.Spend, Counts: map[string]int{}}
	if res.Tasks == nil {
		res.Tasks = []*host.TaskAttempt{}
	}
	for s, n := range out.Counts {
		res.Counts[string(s)] = n
	}
	res.ExitCode, res.Next = endOf(out)
	var sig host.Interrupted
	if out.Reason == pipeline.Interrupted && errors.As(context.Cause(ctx), &sig) {
		res.ExitCode = sig.ExitCode()
	}
	return res
}

// endOf gives the exit code and what to type: what waits for a person goes before
// what failed.
func endOf(out *pipeline.Outcome) (code int, next string) {
	var failed *host.TaskAttempt
	for _, t := range out.Tasks {
		if t.Code != "" && t.Code != judge.Success {
			failed = t
		}
	}
	switch {
	case out.Reason == pipeline.LimitLasts:
		return host.ExitStopped, "`relay pipeline run` again when the limit is over; pipeline.*.fallback in the configuration names who may stand in"
	case out.Reason == pipeline.Interrupted:
		return host.ExitStopped, "`relay pipeline run` continues it"
	case len(out.Waiting) > 0:
		for _, t := range out.Tasks {
			if t.Waiting != nil {
				return host.ExitWaiting, t.Waiting.Next(t.TaskID)
			}
		}
		return host.ExitWaiting, "`relay task show " + out.Waiting[0] + "` shows what is asked"
	case failed != nil:
		return host.ExitStopped, host.FailedNext(failed.TaskID, failed)
	case len(out.Failed) > 0: // in an earlier run
		return host.ExitStopped, host.FailedNext(out.Failed[0].TaskID, out.Failed[0])
	case len(out.Held) > 0:
		for id, by := range out.Held {
			return host.ExitStopped, fmt.Sprintf("`relay task retry %s`: %s waits for it", by, id)
		}
	}
	return host.ExitDone, "`relay task list`"
}

// StatusResult is where the tasks stand.
type StatusResult struct {
	host.Doc
	Running bool                `json:"running"` // a process works on the list
	PID     int                 `json:"pid,omitempty"`
	Counts  map[string]int      `json:"counts"`
	Ready   []string            `json:"ready,omitempty"` // what may start now, the next one first
	Open    []*host.TaskAttempt `json:"open"`            // attempts that have not ended
	// Needs is what waits: for the operator first, then for vendors' limits.
	Needs []host.Need `json:"needs,omitempty"`
	// Held are the tasks that can't start, by the failed task that holds them.
	Held     map[string]string `json:"held,omitempty"`
	Problem  *health.Check     `json:"problem,omitempty"` // why nothing can begin
	Next     string            `json:"next,omitempty"`
	ExitCode int               `json:"exit_code"` // 1 while something waits for the operator
}

// Status says what the pipeline is at. It starts nothing.
func Status(ctx context.Context, r *host.Repo) (*StatusResult, error) {
	_, l, err := r.TaskList()
	if err != nil {
		return nil, err
	}
	res := &StatusResult{Doc: host.DocOf("relay.pipeline.status", 1), Counts: map[string]int{}, Open: append([]*host.TaskAttempt{}, r.OpenTasks(l)...), Held: l.Held()}
	for s, n := range l.Count() {
		res.Counts[string(s)] = n
	}
	line := taskLines(l, res.Open)
	for _, t := range l.Ready() {
		if line(t).Ready {
			res.Ready = append(res.Ready, t.ID)
		}
	}
	if res.Next = res.next(l); untouched(r) != nil {
		res.Next = untouched(r).Fix
	}
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
			res.ExitCode = host.ExitWaiting
		}
	}
	if st.Problem != nil {
		res.Problem, res.Next, res.ExitCode = st.Problem, st.Next, st.ExitCode
	}
	return res, nil
}

// next is the command that leads on while nothing waits for an answer.
func (s *StatusResult) next(l *prd.List) string {
	if len(s.Open)+len(s.Ready) > 0 {
		return "`relay pipeline run`"
	}
	for i := range l.Tasks {
		if t := &l.Tasks[i]; t.Status == prd.Failed {
			return host.FailedNext(t.ID, nil)
		}
	}
	return "`relay task list`"
}

// AnswerTask gives the operator's answer to a task that waits: yes or no to unsure
// criteria, a text to a planner's question. asked is the question that was read, so that
// an answer is given to no other; "" is whichever waits.
func AnswerTask(ctx context.Context, r *host.Repo, id, asked, text string) (*TaskResult, error) {
	repo, err := r.Open()
	if err != nil {
		return nil, err
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	yes := strings.EqualFold(word, "yes")
	if trails, err := pipeline.Attempts(repo.WS, id); err == nil && len(trails) > 0 && trails[0].Waiting != nil {
		q := trails[0].Waiting
		if asked != "" && q.Text != asked {
			return nil, diag.New("", "nothing was answered", "the question that you read is no longer open; another one is: "+q.Text, "`relay task show "+id+"`")
		}
		if q.YesNo() {
			if !yes && !strings.EqualFold(word, "no") {
				return nil, diag.New("", "that is not an answer to this question", "it is answered with yes or no", q.Next(id))
			}
			text = strings.TrimSpace(rest)
		}
	}
	now := time.Now()
	if r.Options.Clock != nil {
		now = r.Options.Clock.Now()
	}
	var unsigned error
	approve := func(t *pipeline.Record) *attest.Approval {
		var yes attest.Approval
		yes, unsigned = r.Approve(ctx, repo.Root, now, func(git *git.Repo) (attest.Approved, error) {
			touched, err := attest.TouchedBetween(ctx, git, t.Base, change.KeptRef(t.RunID))
			return attest.Approved{Kind: "policy", Touched: touched}, err
		})
		return &yes
	}
	if _, err := pipeline.Answer(repo.WS, id, yes, text, now, approve); err != nil {
		return nil, err
	}
	res, err := Task(ctx, r, id)
	if err == nil && unsigned != nil {
		res.Unsigned = unsigned.Error()
	}
	return res, err
}

// abandon forgets what was begun of a task.
func abandon(r *host.Repo, id, why string) error {
	repo, err := r.Open()
	if err != nil {
		return nil // without a configuration nothing can have been begun
	}
	return pipeline.Abandon(repo.WS, id, why)
}
