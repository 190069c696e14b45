package pipelines

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/push"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/resultref"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Left is the result of a task that was made under a key.
type Left struct {
	Key     string `json:"key"`
	Ref     string `json:"ref"`          // where it is
	Object  string `json:"object"`       // the commit that holds it
	To      string `json:"to,omitempty"` // the remote that has it, with --push
	By      string `json:"by,omitempty"` // who signed it, as the file of signers has it
	Earlier bool   `json:"earlier"`      // it was there already, and nothing was bought
}

// keyed is where results of single tasks are left and found.
type keyed struct {
	env     *pipeline.Env
	git     *git.Repo
	signers attest.Signers
	remote  string // that has them, too; "" for none
	left    *Left
}

func newKeyed(ctx context.Context, r *host.Repo, env *pipeline.Env, o *RunOptions) (*keyed, error) {
	for _, key := range append(joined(o), o.Key) {
		if err := resultref.ValidKey(key); key != "" && err != nil {
			return nil, diag.New("", "\""+host.Safe(key)+"\" is not a key", err.Error(), "`relay pipeline run --only login --key login-1`, for example")
		}
	}
	k := &keyed{env: env}
	var err error
	if k.signers, err = r.Believed(o.Signers); err != nil {
		return nil, err
	}
	if k.git, err = git.Open(ctx, env.Root); err != nil {
		return nil, host.BlockedConfig(err)
	}
	if o.Push {
		k.remote = env.Config.Pipeline.Push.Remote
	}
	if o.Push && o.Key+o.Join != "" {
		err = push.Known(ctx, k.git, k.remote)
	}
	return k, err
}

// joined are the keys of the results to join.
func joined(o *RunOptions) []string {
	return strings.FieldsFunc(o.Join, func(r rune) bool { return r == ',' })
}

// keys readies what a call does with results, and gives the one that it asks for if that is there already.
func keys(ctx context.Context, r *host.Repo, env *pipeline.Env, o *RunOptions) (k *keyed, opts pipeline.Options, earlier *RunResult, err error) {
	if k, err = newKeyed(ctx, r, env, o); err != nil {
		return nil, opts, nil, err
	}
	if opts.Leave = k.leave; o.Key != "" {
		_, l, err := r.TaskList()
		if err == nil {
			earlier, err = k.earlier(ctx, o, l)
		}
		return k, opts, earlier, err
	}
	opts.Results, err = k.results(ctx, joined(o))
	return k, opts, nil, err
}

// find gives the result of a key with its trail; nil where there is none.
func (k *keyed) find(ctx context.Context, key string) (*resultref.Result, *pipeline.Record, error) {
	var res *resultref.Result
	object, err := "", error(nil)
	if k.remote != "" {
		object, err = push.FetchRef(ctx, k.git, k.remote, resultref.Ref(key))
	}
	switch {
	case err != nil:
		return nil, nil, err
	case object != "":
		res, err = resultref.Take(ctx, k.git, k.signers, key, object)
	default:
		res, err = resultref.Read(ctx, k.git, k.signers, key)
	}
	if no, ok := errors.AsType[*resultref.Untrusted](err); ok {
		return nil, nil, diag.New("", "the result of the key "+key+" does not count", no.Err.Error(), "the same command with --signers FILE and the machine's key in FILE, or another key")
	}
	if err != nil {
		return nil, nil, diag.Git(err)
	}
	if res == nil {
		return nil, nil, nil
	}
	t := &pipeline.Record{}
	if json.Unmarshal(res.Trail, t) != nil || t.RunID != res.Run || t.Code != res.Code || t.TaskID == "" {
		return nil, nil, diag.New("", "the result of the key "+key+" is not a task's", "it has no trail of one", "`git show "+resultref.Ref(key)+"`")
	}
	return res, t, nil
}

// asked is the digest of what a task asks for.
func asked(t *prd.Task) string {
	own := prd.Task{ID: t.ID, Title: t.Title, Description: t.Description, Scope: t.Scope, AcceptanceCriteria: t.AcceptanceCriteria, HiddenChecks: t.HiddenChecks, Validation: t.Validation}
	return resultref.Request("", attest.JSON(own))
}

// earlier is the result that the key of a call has already; nil where it is to be made.
func (k *keyed) earlier(ctx context.Context, o *RunOptions, l *prd.List) (*RunResult, error) {
	res, t, err := k.find(ctx, o.Key)
	if res == nil || err != nil {
		return nil, err
	}
	if now := l.Find(o.Only); t.TaskID != o.Only || now != nil && asked(now) != res.Request {
		return nil, diag.New("", "the key "+o.Key+" is taken", "it has the result of task "+t.TaskID+" as it was asked for then", "give this one its own key")
	}
	if err := k.deliver(ctx, res, true); err != nil {
		return nil, err
	}
	out := &pipeline.Outcome{RunID: t.PipelineID, Reason: pipeline.NothingLeft, Tasks: []*pipeline.Record{t}, Counts: l.Count()}
	return k.report(resultOf(ctx, out)), nil
}

// leave is [pipeline.Options.Leave]. An attempt that was blocked has no result: another one, or
// another machine, may get further.
func (k *keyed) leave(ctx context.Context, t *pipeline.Record, rep *report.Report) error {
	if t.Code.Outcome() == judge.OutcomeBlocked || t.Code == judge.StopInterrupted {
		return nil
	}
	if res, _, err := k.find(ctx, t.Key); err != nil { // a push failed, or another machine was first
		return err
	} else if res != nil {
		return k.deliver(ctx, res, res.Run != t.RunID)
	}
	s := resultref.Statement{Key: t.Key, Run: t.RunID, Request: asked(&t.Task), Code: t.Code, EndedAt: t.EndedAt,
		Base: cmp.Or(t.Base, k.commit(ctx, "HEAD")), Kept: cmp.Or(t.Kept, k.commit(ctx, t.Salvage), t.Base)}
	files := map[string][]byte{resultref.TrailName: attest.JSON(t)}
	var err error
	if files[resultref.ReportName], err = report.Encode(rep); err != nil {
		return diag.Internal(err)
	}
	e := k.env
	o := attest.Options{Git: k.git, StateDir: e.StateDir, Home: e.Home, Environ: e.Environ, Sign: e.Config.Evidence.Sign, Version: e.Version, Now: t.EndedAt}
	object, err := resultref.Write(ctx, o, s, files, pluginenv.Secrets(e.Config, e.Home))
	if err == nil {
		_, err = k.git.Run(ctx, nil, "cat-file", "-e", object+":"+resultref.TrailName)
	}
	if err != nil {
		return diag.Wrap(err, judge.BlockedMissingConfig, "the result of task "+t.TaskID+" can't be put into git", "`relay task show "+t.TaskID+"` shows it: it may be too large, or have a credential in it")
	}
	return k.deliver(ctx, &resultref.Result{Statement: s, Object: object}, false)
}

// commit is what a name stands for; "" for nothing.
func (k *keyed) commit(ctx context.Context, name string) string {
	out, err := k.git.Run(ctx, nil, "rev-parse", "--verify", "-q", "--end-of-options", name+"^{commit}")
	if name == "" || err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// deliver pushes a result to where the others look for it.
func (k *keyed) deliver(ctx context.Context, res *resultref.Result, earlier bool) error {
	k.left = &Left{Key: res.Key, Ref: resultref.Ref(res.Key), Object: res.Object, To: k.remote, By: res.By, Earlier: earlier}
	if k.remote == "" {
		return nil
	}
	_, err := push.Deliver(context.WithoutCancel(ctx), k.git, push.Keyed{Remote: k.remote, Ref: k.left.Ref, Object: res.Object})
	if f, ok := diag.As(err); ok && !strings.Contains(f.Fix, "`") { // a report repeats it hours later, far from the command
		f.Fix = "`relay pipeline run` continues it once the reason is gone"
	}
	return err
}

// report completes what a call with a key prints: how its task ended, and where the result is.
func (k *keyed) report(res *RunResult) *RunResult {
	if res.Left = k.left; k.left == nil {
		for _, t := range res.Tasks {
			if t.Code.Outcome() == judge.OutcomeBlocked {
				res.ExitCode = host.Explain(t.Code).ExitCode
			}
		}
		return res
	}
	if res.ExitCode == host.ExitDone {
		res.Next = "`relay pipeline run --join " + k.left.Key + "`"
	}
	return res
}

// results are those that a call joins.
func (k *keyed) results(ctx context.Context, keys []string) (all []pipeline.Handed, err error) {
	for _, key := range keys {
		res, t, err := k.find(ctx, key)
		if err != nil {
			return nil, err
		}
		if res == nil {
			return nil, diag.New(judge.BlockedMissingConfig, "there is no result of the key "+key, "no task was made under it, or its result is not here", "`relay pipeline run --only TASK --key "+key+"`; with --push, relay looks for it at the remote, too")
		}
		all = append(all, pipeline.Handed{Key: key, Kept: res.Kept, Trail: t})
	}
	return all, nil
}
