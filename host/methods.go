package host

import "context"

// Run makes one tick. STOP and BLOCKED are results, not errors. When ctx ends by
// [Interrupt] the run is ended in order and the result's exit code is 130 or 143.
func (r *Repo) Run(ctx context.Context, o RunOptions) (*RunResult, error) { panic("todo") }

// Undo takes a landed change back with a new commit; "" means the last landed run.
func (r *Repo) Undo(ctx context.Context, run string) (*UndoResult, error) { panic("todo") }

// Salvage gives access to what a stopped run had built; "" means the last one.
func (r *Repo) Salvage(ctx context.Context, run string, o SalvageOptions) (*SalvageResult, error) {
	panic("todo")
}

// Recover settles what a crash left behind.
func (r *Repo) Recover(ctx context.Context) (*RecoverResult, error) { panic("todo") }
