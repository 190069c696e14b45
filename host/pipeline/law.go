package pipeline

import (
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
)

// law is the ceiling of pipelines, and what the task asks for. What the task doesn't name
// it has from pipeline.scope, cut to the ceiling: nobody asked for more.
func law(cfg *config.Config, c judge.Ceiling, t *prd.Task, beyond bool) (judge.Ceiling, judge.Request) {
	d := cfg.Pipeline.Scope
	r := judge.Request{By: judge.Operator, Beyond: beyond, Kind: judge.Execute, Allowed: c.Cut(d.AllowedGlobs), Forbidden: cfg.Scope.DefaultForbiddenGlobs,
		NewFiles: d.AllowNewFiles, LockfileChanges: c.LockfileChanges, MaxFiles: c.MaxFiles, MaxLines: c.MaxLines}
	own := t.Scope
	if own == nil {
		return c, r
	}
	r.LockfileChanges = own.AllowLockfileChanges
	r.Forbidden = append(append([]string{}, r.Forbidden...), own.ForbiddenGlobs...)
	if len(own.AllowedGlobs) > 0 {
		r.Allowed = own.AllowedGlobs
	}
	if own.AllowNewFiles != nil {
		r.NewFiles = *own.AllowNewFiles
	}
	if own.MaxFilesTouched > 0 {
		r.MaxFiles = own.MaxFilesTouched
	}
	if own.MaxLinesChanged > 0 {
		r.MaxLines = own.MaxLinesChanged
	}
	return c, r
}

// Beyond lists what a task names and the ceiling does not give. A path that pipeline.scope
// and the ceiling share only in part is none of the task's.
func Beyond(cfg *config.Config, t *prd.Task) []judge.Beyond {
	c, r := law(cfg, cfg.Ceiling(cfg.PipelineFence(), nil, judge.KeepCommits), t, false)
	if t.Scope == nil || len(t.Scope.AllowedGlobs) == 0 {
		r.Allowed = nil
	}
	_, beyond := judge.NewPolicy(c, r)
	return beyond
}

// law is that of this attempt's task.
func (a *taskRun) law() (judge.Ceiling, judge.Request) {
	cfg := a.p.env.Config
	return law(cfg, a.At.Ceiling(cfg.PipelineFence(), judge.KeepCommits), &a.record.Task, a.p.o.Beyond)
}

// request is what the task may do, as its steps are told it.
func (a *taskRun) request() judge.Request {
	_, r := a.law()
	return r
}
