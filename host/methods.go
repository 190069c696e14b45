package host

import "context"

// Doctor tries what a tick needs: git, configuration, trust, box, plugins, programs.
func (r *Repo) Doctor(ctx context.Context) (*DoctorResult, error) { panic("todo") }

// Status says where things stand. It starts no process unless preflight is asked for.
func (r *Repo) Status(ctx context.Context, preflight bool) (*StatusResult, error) { panic("todo") }

// Run makes one tick. STOP and BLOCKED are results, not errors. When ctx ends by
// [Interrupt] the run is ended in order and the result's exit code is 130 or 143.
func (r *Repo) Run(ctx context.Context, o RunOptions) (*RunResult, error) { panic("todo") }

// Answer records the operator's answer to the question of the last run.
func (r *Repo) Answer(ctx context.Context, answer string) (*AnswerResult, error) { panic("todo") }

// Show gives one run; "" means the last one.
func (r *Repo) Show(ctx context.Context, run string) (*ShowResult, error) { panic("todo") }

// HistoryList lists runs, newest first; limit 0 lists all.
func (r *Repo) HistoryList(ctx context.Context, limit int) (*HistoryListResult, error) { panic("todo") }

// HistoryPrune removes old runs and the refs that keep what they rejected.
func (r *Repo) HistoryPrune(ctx context.Context, o PruneOptions) (*PruneResult, error) {
	panic("todo")
}

// Undo takes a landed change back with a new commit; "" means the last landed run.
func (r *Repo) Undo(ctx context.Context, run string) (*UndoResult, error) { panic("todo") }

// Salvage gives access to what a stopped run had built; "" means the last one.
func (r *Repo) Salvage(ctx context.Context, run string, o SalvageOptions) (*SalvageResult, error) {
	panic("todo")
}

// Recover settles what a crash left behind.
func (r *Repo) Recover(ctx context.Context) (*RecoverResult, error) { panic("todo") }

// Trust shows, trusts or revokes what the repository's configuration asks for.
func (r *Repo) Trust(ctx context.Context, o TrustOptions) (*TrustResult, error) { panic("todo") }

// ConfigShow gives the configuration in force.
func (r *Repo) ConfigShow(ctx context.Context) (*ConfigResult, error) { panic("todo") }

// PluginList lists plugins and starts none. It works outside a repository.
func (r *Repo) PluginList(ctx context.Context) (*PluginListResult, error) { panic("todo") }

// RunIDs gives run ids that begin with prefix, for completion; errors give none.
func (r *Repo) RunIDs(prefix string) []string { return nil }
