package pipelines

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/push"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/judge/git"
)

// Pushed is what became of the pushes of a run.
type Pushed struct {
	To     string `json:"to"`               // "origin/main"
	Commit string `json:"commit,omitempty"` // that it was brought to; "" when no push went through
	// What, Why and Fix are of the last push, when it did not go through. The task is done
	// and landed all the same, and the next push takes it along.
	Code host.Code `json:"code,omitempty"`
	What string    `json:"what,omitempty"`
	Why  string    `json:"why,omitempty"`
	Fix  string    `json:"next,omitempty"`
}

// pusher pushes after each task.
type pusher struct {
	git *git.Repo
	ws  *workspace.Workspace
	now func() time.Time
	// head is what is pushed: the branch as the run found it, then relay's newest commit on it.
	// What the operator has put on top since is pushed with the next one, or by himself.
	head string
	to   push.Target
	obs  host.Observer
	res  Pushed
	// refused is told of a push that did not go through, once for each reason.
	refused func(*pipeline.Record, *diag.Error)
}

// newPusher makes sure before anything is paid that a push could go ahead.
func newPusher(ctx context.Context, r *host.Repo, repo *host.Opened, before *host.PipelineSeen, obs host.Observer) (*pusher, error) {
	git, err := git.Open(ctx, repo.Root)
	if err != nil {
		return nil, host.BlockedConfig(err)
	}
	branch, err := before.BranchOf(ctx, git)
	if err != nil {
		return nil, err
	}
	ref := "HEAD"
	if branch != "" {
		ref = "refs/heads/" + branch
	}
	own := repo.Loaded.Config.Pipeline.Push
	to, err := push.To(ctx, git, own.Remote, cmp.Or(own.Branch, branch))
	if err != nil {
		return nil, err
	}
	out, err := git.Run(ctx, nil, "rev-parse", "--verify", ref+"^{commit}")
	if err != nil {
		return nil, host.BlockedConfig(err)
	}
	head := strings.TrimSpace(string(out))
	return &pusher{git: git, ws: repo.WS, now: r.Now, head: head, to: to, obs: obs, res: Pushed{To: to.String()}}, push.Check(ctx, git, to, head)
}

// after pushes a commit of relay's and what lies below it. A push that fails ends no run: it is
// said, noted for those who look, and tried again after the next task.
func (p *pusher) after(ctx context.Context, t *pipeline.Record, commit string) error {
	if commit != "" {
		if _, err := p.git.Run(ctx, nil, "merge-base", "--is-ancestor", commit, p.head); err != nil {
			p.head = commit
		}
	}
	_, err := push.Push(ctx, p.git, p.to, p.head)
	if err != nil && ctx.Err() != nil {
		return nil // the operator has ended the run: the one that continues it pushes
	}
	before := p.res.What + p.res.Why
	p.res.Code, p.res.What, p.res.Why, p.res.Fix = "", "", "", ""
	if err == nil {
		p.res.Commit = p.head
		p.notes(ctx)
		return pipeline.NoteUnpushed(p.ws, nil)
	}
	f := diag.Internal(err)
	p.res.Code, p.res.What, p.res.Why, p.res.Fix = f.Code, f.What, f.Why, f.Fix
	if t != nil && before != f.What+f.Why {
		p.refused(t, f)
	}
	if p.obs != nil {
		p.obs.Observe(progress.Event{Kind: progress.Notice, Text: f.What + ": " + f.Why + " (" + f.Fix + ")"})
	}
	return pipeline.NoteUnpushed(p.ws, &pipeline.Unpushed{Since: p.now().UTC(), To: p.to.String(), Tracking: "refs/remotes/" + p.to.String(), Commit: p.head, Why: f.What + ": " + f.Why, Next: f.Fix})
}

// notes pushes the attestations. The branch is there without them, so that is only said.
func (p *pusher) notes(ctx context.Context) {
	if err := push.Ref(ctx, p.git, p.to, attest.Ref); err != nil && p.obs != nil {
		f := diag.Internal(err)
		p.obs.Observe(progress.Event{Kind: progress.Notice, Text: f.What + ": " + f.Why + " (" + f.Fix + ")"})
	}
}

// report pushes what did not go through before, and puts it into the result: work that
// did not reach the remote is no good end.
func (p *pusher) report(ctx context.Context, res *RunResult) {
	if p == nil {
		return
	}
	if ctx.Err() == nil && (p.res.Commit == "" || p.res.What != "") {
		_ = p.after(ctx, nil, "") // how it went is in the result
	}
	res.Pushed = &p.res
	if p.res.What != "" && res.ExitCode == host.ExitDone {
		res.ExitCode, res.Next = host.ExitStopped, p.res.Fix
	}
}
