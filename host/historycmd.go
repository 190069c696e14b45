package host

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/judge/git"
)

// HistoryList lists runs, newest first; limit 0 lists all.
func (r *Repo) HistoryList(ctx context.Context, limit int) (*HistoryListResult, error) {
	o, err := r.Look()
	if err != nil {
		return nil, err
	}
	metas, err := o.History.List(limit)
	if err != nil {
		return nil, err
	}
	res := &HistoryListResult{Doc: DocOf("relay.history", 1), Runs: []RunLine{}}
	for _, m := range metas {
		res.Runs = append(res.Runs, runLine(m))
	}
	res.Bytes, res.Total, err = o.History.Size()
	return res, err
}

// HistoryPrune removes old runs. They stay beside the history until the next prune, which also removes
// the refs that keep what they rejected, and the files of the attempts at tasks that they were. It holds
// the workspace's lock, since a running tick writes there.
func (r *Repo) HistoryPrune(ctx context.Context, p PruneOptions) (*PruneResult, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	if !p.DryRun {
		release, err := o.Lock("relay history prune")
		if err != nil {
			return nil, err
		}
		defer release()
	}
	pruned, err := o.History.Prune(history.Prune{Keep: p.Keep, OlderThan: p.OlderThan, MaxBytes: p.MaxBytes, DryRun: p.DryRun}, time.Now())
	res := &PruneResult{Doc: DocOf("relay.history.prune", 1), Runs: pruned.Runs, Bytes: pruned.Bytes, DryRun: p.DryRun}
	if err != nil {
		return res, err
	}
	for _, id := range pruned.Runs {
		if !p.DryRun {
			o.WS.Withdraw(o.History.Path(id, ""))
		}
	}
	if p.DryRun || len(pruned.Runs) == 0 {
		return res, nil
	}
	res.Kept, _ = o.History.Pruned()
	if err := pipeline.Prune(o.WS, pruned.Gone); err != nil {
		return res, err
	}
	return res, dropRefs(ctx, o.Root, pruned.Gone)
}

// dropRefs removes the refs of the runs that are gone.
func dropRefs(ctx context.Context, root string, runs []string) error {
	if len(runs) == 0 {
		return nil
	}
	git, err := git.Open(ctx, root)
	if err != nil {
		return err
	}
	out, err := git.Run(ctx, nil, "for-each-ref", "--format=%(refname)", refPrefix)
	if err != nil {
		return err
	}
	for ref := range strings.Lines(string(out)) {
		ref = strings.TrimSpace(ref)
		if !slices.Contains(runs, strings.TrimPrefix(ref, refPrefix)) {
			continue
		}
		if _, err := git.Write(ctx, nil, nil, "update-ref", "-d", ref); err != nil {
			return err
		}
	}
	return nil
}

// RecentRuns are the newest runs, for completion; errors give none.
func (r *Repo) RecentRuns() []RunLine {
	root, err := workspace.FindRoot(r.Dir)
	if err != nil {
		return nil
	}
	rel := workspace.DefaultDir
	if l, err := r.LoadConfig(root); err == nil {
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

// HistoryListResult lists runs, newest first.
type HistoryListResult struct {
	Doc
	Runs  []RunLine `json:"runs"`
	Total int       `json:"total"` // of all runs, listed or not
	Bytes int64     `json:"bytes"`
}

// PruneOptions say what to remove; zero values do not limit.
type PruneOptions struct {
	Keep      int
	OlderThan time.Duration
	MaxBytes  int64
	DryRun    bool
}

// PruneResult is what was removed.
type PruneResult struct {
	Doc
	Runs   []string `json:"runs"` // ids of the removed runs
	Bytes  int64    `json:"bytes"`
	Kept   string   `json:"kept,omitempty"` // the folder that has them until the next prune
	DryRun bool     `json:"dry_run,omitempty"`
}
