package workspace

// Workspace is relay's folder in one repository.
type Workspace struct {
	root string
	rel  string
}

// Open names the workspace rel ("" means ".relay") of the repository at root. It
// touches nothing; Ensure makes the folder.
func Open(root, rel string) (*Workspace, error) { return &Workspace{root: root, rel: rel}, nil }

// FindRoot gives the root of the working tree that dir lies in, whether dir is a
// subfolder, a linked worktree or a submodule. It starts no process.
func FindRoot(dir string) (string, error) { panic("todo") }

// Ensure makes the folder and its own .gitignore, so that a clean repository stays
// clean. Both may exist already.
func (w *Workspace) Ensure() error { panic("todo") }

// Root is the repository's root; Dir the workspace as an absolute path; Rel the
// same relative to Root, with slashes.
func (w *Workspace) Root() string { return w.root }
func (w *Workspace) Dir() string  { panic("todo") }
func (w *Workspace) Rel() string  { return w.rel }

// The files of the workspace, as absolute paths.
func (w *Workspace) State() string    { panic("todo") } // STATE.json
func (w *Workspace) Task() string     { panic("todo") } // TASK.json
func (w *Workspace) Report() string   { panic("todo") } // REPORT.json
func (w *Workspace) ReportMD() string { panic("todo") } // REPORT.md
func (w *Workspace) Blocked() string  { panic("todo") } // BLOCKED.json
func (w *Workspace) Facts() string    { panic("todo") } // FACTS.md
func (w *Workspace) Lock() string     { panic("todo") } // lock.json
func (w *Workspace) Usage() string    { panic("todo") } // usage.jsonl
func (w *Workspace) History() string  { panic("todo") } // history/
func (w *Workspace) Journal() string  { panic("todo") } // journal/
func (w *Workspace) Logs() string     { panic("todo") } // logs/
func (w *Workspace) Prompts() string  { panic("todo") } // prompts/
func (w *Workspace) Schemas() string  { panic("todo") } // schemas/

// OwnedGlobs are the globs, relative to the repository's root, that only relay may
// write: the whole workspace and every name a configuration file can have.
func (w *Workspace) OwnedGlobs() []string { panic("todo") }

// WriteJSON writes v, indented and with a final newline, to path; see WriteFile.
func WriteJSON(path string, v any) error { panic("todo") }

// WriteFile replaces path by a file with these bytes: temporary name, fsync,
// rename, fsync of the folder. A symbolic link at path is replaced, never followed;
// a folder at path is refused.
func WriteFile(path string, b []byte) error { panic("todo") }

// ReadFile reads a file of at most max bytes that is a regular file and no link.
func ReadFile(path string, max int64) ([]byte, error) { panic("todo") }

// CleanTmp removes the stale temporary files that match glob (relative to the
// repository's root, inside the workspace) and says how many.
func (w *Workspace) CleanTmp(glob string) (int, error) { panic("todo") }

// Validate checks STATE.json, TASK.json, REPORT.json and BLOCKED.json, where they
// exist, against their schemas. The fault is BLOCKED_CRASH_RECOVERY_REQUIRED and
// names the file and what is wrong with it.
func (w *Workspace) Validate() error { panic("todo") }
