package host

import "context"

// Undo takes a landed change back with a new commit; "" means the last landed run.
func (r *Repo) Undo(ctx context.Context, run string) (*UndoResult, error) { panic("todo") }

// Salvage gives access to what a stopped run had built; "" means the last one.
func (r *Repo) Salvage(ctx context.Context, run string, o SalvageOptions) (*SalvageResult, error) {
	panic("todo")
}

// Recover settles what a crash left behind.
func (r *Repo) Recover(ctx context.Context) (*RecoverResult, error) { panic("todo") }
