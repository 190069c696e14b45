package host

import (
	"context"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/judge"
)

// refPrefix is where what was rejected is kept; see host/change.
const refPrefix = "refs/relay/"

// HistoryList lists runs, newest first; limit 0 lists all.
func (r *Repo) HistoryList(ctx context.Context, limit int) (*HistoryListResult, error) {
	o, err := r.look()
	if err != nil {
		return nil, err
	}
	metas, err := o.hist.List(limit)
	if err != nil {
		return nil, err
	}
	res := &HistoryListResult{Doc: Doc{"relay.history", 1}, Runs: []RunLine{}}
	for _, m := range metas {
		res.Runs = append(res.Runs, runLine(m))
	}
	res.Bytes, res.Total, err = o.hist.Size()
	return res, err
}

// HistoryPrune removes old runs, the refs that keep what they rejected, and the files of
// the attempts at tasks that they were. It holds
// the workspace's lock, since a running tick writes there.
func (r *Repo) HistoryPrune(ctx context.Context, p PruneOptions) (*PruneResult, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	if !p.DryRun {
		release, err := o.lock("relay history prune")
		if err != nil {
			return nil, err
		}
		defer release()
	}
	pruned, err := o.hist.Prune(history.Prune{Keep: p.Keep, OlderThan: p.OlderThan, MaxBytes: p.MaxBytes, DryRun: p.DryRun}, time.Now())
	res := &PruneResult{Doc: Doc{"relay.history.prune", 1}, Runs: pruned.Runs, Bytes: pruned.Bytes, DryRun: p.DryRun}
	if err != nil {
		return res, err
	}
	for _, id := range pruned.Runs {
		if !p.DryRun {
			o.ws.Withdraw(o.hist.Path(id, ""))
		}
	}
	attempts, bytes, err := pipeline.Prune(o.ws, pruned.Runs, p.DryRun)
	res.Attempts, res.Bytes = attempts, res.Bytes+bytes
	if err != nil || p.DryRun {
		return res, err
	}
	res.Refs, err = dropRefs(ctx, o.root, pruned.Runs)
	return res, err
}

// dropRefs removes the refs of the runs that are gone.
func dropRefs(ctx context.Context, root string, runs []string) ([]string, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	git, err := judge.OpenGit(ctx, root)
	if err != nil {
		return nil, err
	}
	out, err := git.Run(ctx, nil, "for-each-ref", "--format=%(refname)", refPrefix)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, id := range runs {
		gone[refPrefix+id] = true
	}
	var dropped []string
	for ref := range strings.Lines(string(out)) {
		ref = strings.TrimSpace(ref)
		if !gone[ref] {
			continue
		}
		if _, err := git.Write(ctx, nil, nil, "update-ref", "-d", ref); err != nil {
			return dropped, err
		}
		dropped = append(dropped, ref)
	}
	return dropped, nil
}

// RecentRuns are the newest runs, for completion; errors give none.
func (r *Repo) RecentRuns() []RunLine {
	root, err := workspace.FindRoot(r.dir)
	if err != nil {
		return nil
	}
	rel := workspace.DefaultDir
	if l, err := r.loadConfig(root); err == nil {
		rel = l.Config.WorkspaceDir
	}
	ws, err := workspace.Open(root, rel)
	if err != nil {
		return nil
	}
	metas, err := history.Open(ws.History()).List(50)
	if err != nil {
		return nil
	}
	var runs []RunLine
	for _, m := range metas {
		runs = append(runs, runLine(m))
	}
	return runs
}
