package history

import (
	"io"
	"time"

	"github.com/paxiom/relay/judge"
)

// Meta is meta.json: enough to list a run without reading its report.
type Meta struct {
	RunID       string     `json:"run_id"`
	Workflow    string     `json:"workflow"` // "tick"
	StartedAt   time.Time  `json:"started_at"`
	EndedAt     time.Time  `json:"ended_at,omitzero"`
	TaskID      string     `json:"task_id,omitempty"`
	MilestoneID string     `json:"milestone_id,omitempty"`
	Intent      string     `json:"intent,omitempty"`
	Code        judge.Code `json:"code,omitempty"` // "" while it runs or after a crash
	BaseCommit  string     `json:"base_commit,omitempty"`
	Commit      string     `json:"commit,omitempty"`
	Salvage     string     `json:"salvage,omitempty"`
	Version     string     `json:"relay_version,omitempty"`
	Bytes       int64      `json:"bytes"`
}

// NewRunID makes a run id: 15 characters of UTC time and 8 of chance, for example
// "20261120-192359-k3v9m2qa". Sorted as text they are sorted by time.
func NewRunID(now time.Time) string { panic("todo") }

// ValidRunID tells a run id from any other text, for example a path.
func ValidRunID(s string) bool { panic("todo") }

// Store is the history folder of one workspace.
type Store struct{}

// Open names the history at dir (absolute). It touches nothing.
func Open(dir string) *Store { panic("todo") }

// Begin makes the folder of a run and writes its meta.json.
func (s *Store) Begin(m Meta) (*Run, error) { panic("todo") }

// Run is one run that is being written.
type Run struct{}

// Dir is the run's folder.
func (r *Run) Dir() string { panic("todo") }

// Create opens a new file of the run for writing: "diff.patch", "verify.log",
// "plugins/claude.stderr".
func (r *Run) Create(name string) (io.WriteCloser, error) { panic("todo") }

// Write writes a whole file of the run atomically.
func (r *Run) Write(name string, b []byte) error { panic("todo") }

// End writes meta.json for good and adds the run to the running total.
func (r *Run) End(m Meta) error { panic("todo") }

// CheckCap refuses to start when the history is over maxMB:
// BLOCKED_HISTORY_CAP_CLEANUP_REQUIRED.
func (s *Store) CheckCap(maxMB int) error { panic("todo") }

// Size is the running total in bytes and the number of runs.
func (s *Store) Size() (bytes int64, runs int, err error) { panic("todo") }

// Latest is the id of the newest run, "" when there is none.
func (s *Store) Latest() (string, error) { panic("todo") }

// List gives the newest runs first; limit 0 gives all. A run without a readable
// meta.json is listed with its id only.
func (s *Store) List(limit int) ([]Meta, error) { panic("todo") }

// Find gives the run whose id is, or alone begins or ends with, s.
func (s *Store) Find(id string) (Meta, error) { panic("todo") }

// Path is a file of a run, with no promise that it exists.
func (s *Store) Path(runID, name string) string { panic("todo") }

// Prune says what to remove; zero values do not limit.
type Prune struct {
	Keep      int           // runs to keep, newest first
	OlderThan time.Duration // remove what ended before that
	MaxBytes  int64         // remove the oldest until the total fits
	DryRun    bool
}

// Pruned is what was removed.
type Pruned struct {
	Runs  []string `json:"runs"`
	Bytes int64    `json:"bytes"`
}

// Prune removes old runs, never the newest one.
func (s *Store) Prune(p Prune, now time.Time) (Pruned, error) { panic("todo") }
