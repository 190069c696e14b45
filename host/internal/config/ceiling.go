package config

import (
	"cmp"

	"github.com/paxiom/relay/judge"
)

// Fence is what a workflow gives a task that does not say, and the most that it may ask
// for but for new files, which scope.ceiling alone closes.
type Fence struct {
	Allowed                   []string
	NewFiles, LockfileChanges bool
	MaxFiles, MaxLines        int
}

// TickFence is that of ticks and loops: what scope.ceiling says, or else the defaults.
func (c *Config) TickFence() Fence {
	s, d := &c.Scope, &c.DiffLimits
	f := Fence{Allowed: s.DefaultAllowedGlobs, NewFiles: s.DefaultAllowNewFiles, LockfileChanges: s.DefaultAllowLockfileChanges,
		MaxFiles: cmp.Or(s.Ceiling.MaxFilesTouched, d.DefaultMaxFilesTouched), MaxLines: cmp.Or(s.Ceiling.MaxLinesChanged, d.DefaultMaxLinesChanged)}
	if s.Ceiling.AllowedGlobs != nil {
		f.Allowed = s.Ceiling.AllowedGlobs
	}
	if s.Ceiling.AllowLockfileChanges != nil {
		f.LockfileChanges = *s.Ceiling.AllowLockfileChanges
	}
	return f
}

// PipelineFence is that of pipelines.
func (c *Config) PipelineFence() Fence {
	s := &c.Pipeline.Scope
	return Fence{s.AllowedGlobs, s.AllowNewFiles, s.AllowLockfileChanges, s.MaxFilesTouched, s.MaxLinesChanged}
}

// Ceiling is the most that a task of a workflow may have here: its fence, and scope.ceiling
// for all of them. It is the one place that makes a [judge.Ceiling], so that no workflow
// forgets a part; owned are the globs of relay's own files.
func (c *Config) Ceiling(f Fence, owned []string, own judge.BuilderCommits) judge.Ceiling {
	s := &c.Scope
	all := judge.Ceiling{Allowed: [][]string{given(f.Allowed)}, Forbidden: given(s.DefaultForbiddenGlobs), RunnerOwned: given(owned), Protected: append(given(c.Verification.ProtectedGlobs), PolicyGlob),
		Programs: given(c.Verification.Programs), Tests: given(c.Verification.TestGlobs), Lockfiles: given(s.Lockfiles), Scratch: given(s.ScratchGlobs),
		NewFiles: s.Ceiling.AllowNewFiles, LockfileChanges: f.LockfileChanges, MaxFiles: f.MaxFiles, MaxLines: f.MaxLines, BuilderCommits: own}
	if s.Ceiling.AllowedGlobs != nil {
		all.Allowed = append(all.Allowed, s.Ceiling.AllowedGlobs)
	}
	if s.Ceiling.AllowLockfileChanges != nil && !*s.Ceiling.AllowLockfileChanges {
		all.LockfileChanges = false
	}
	if n := s.Ceiling.MaxFilesTouched; n > 0 {
		all.MaxFiles = min(all.MaxFiles, n)
	}
	if n := s.Ceiling.MaxLinesChanged; n > 0 {
		all.MaxLines = min(all.MaxLines, n)
	}
	return all
}

// given makes an empty list of none: the configuration has said that there is nothing.
func given(list []string) []string { return append([]string{}, list...) }
