package history

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Meta is meta.json: enough to list a run without reading its report.
type Meta struct {
	RunID       string     `json:"run_id"`
	Workflow    string     `json:"workflow"` // one of the constants
	StartedAt   time.Time  `json:"started_at"`
	EndedAt     time.Time  `json:"ended_at,omitzero"`
	TaskID      string     `json:"task_id,omitempty"`
	MilestoneID string     `json:"milestone_id,omitempty"`
	Intent      string     `json:"intent,omitempty"`
	Code        judge.Code `json:"code,omitempty"` // "" while it runs or after a crash
	BaseCommit  string     `json:"base_commit,omitempty"`
	Commit      string     `json:"commit,omitempty"`
	Salvage     string     `json:"salvage,omitempty"`
	Version     string     `json:"relay_version,omitempty"` // that made the run
	// Key is the run's idempotency key, Request the digest of what was asked for with it,
	// Prefers the builder that was to be preferred, Loop the id of the workflow whose step the
	// run is, WasMilestone the milestone before it.
	Key          string `json:"key,omitempty"`
	Request      string `json:"request_sha256,omitempty"` // of what was asked for with the key
	Prefers      string `json:"prefers,omitempty"`        // the builder that was to be preferred
	Loop         string `json:"loop,omitempty"`           // the workflow whose step the run is
	WasMilestone string `json:"was_milestone,omitempty"`  // the milestone before the run
	Undoes       string `json:"undoes,omitempty"`         // the run that this one took back
	Cut          bool   `json:"cut_off,omitempty"`        // killed, or ended by a signal
	Bytes        int64  `json:"bytes"`
}

// What makes runs.
const (
	Tick    = "tick"
	Task    = "task" // one attempt at a task of a pipeline
	Undo    = "undo"
	Recover = "recover"
)

// Builds reports whether a builder worked in the run, so that a change may have come of it.
func (m Meta) Builds() bool { return m.Workflow == Tick || m.Workflow == Task }

const (
	metaName = "meta.json"
	// alphabet of the second half of a run id: no letters that read like others.
	alphabet = "23456789abcdefghjkmnpqrstvwxyz"
	tailLen  = 8
)

var idPattern = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[2-9a-hjkmnp-tv-z]{8}$`)

// NewRunID makes a run id: UTC time to the second and 8 characters, of which the
// first two are the hundredths of that second and the rest are chance, for example
// "20261120-192359-4mv9m2qa". Sorted as text they are sorted by time.
func NewRunID(now time.Time) string {
	now = now.UTC()
	b := make([]byte, tailLen)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = alphabet[int(b[i])%len(alphabet)]
	}
	// 30 × 30 parts of a second in the first two places keep the order within it.
	part := now.Nanosecond() / (1_000_000_000/900 + 1)
	b[0], b[1] = alphabet[part/30], alphabet[part%30]
	return now.Format("20060102-150405") + "-" + string(b)
}

// ValidRunID tells a run id from any other text, for example a path.
func ValidRunID(s string) bool { return idPattern.MatchString(s) }

// Drop removes the run again, as if it had never been kept.
func (r *Run) Drop() error {
	if err := os.RemoveAll(r.dir); err != nil {
		return err
	}
	x := r.store.load()
	x.Runs, x.Open = max(x.Runs-1, 0), ""
	if ids, err := r.store.ids(); err == nil {
		x.Latest = ""
		if len(ids) > 0 {
			x.Latest = ids[0]
		}
	}
	return r.store.save(x)
}

// DropEmpty drops a run that was cut off before anything of it was written.
func (s *Store) DropEmpty(id string) error {
	r, err := s.Reopen(id)
	if err != nil {
		return err
	}
	files, err := os.ReadDir(r.dir)
	if err != nil || slices.ContainsFunc(files, func(f fs.DirEntry) bool { return !strings.HasSuffix(f.Name(), workspace.TmpSuffix) }) {
		return err
	}
	return r.Drop()
}

// Reopen gives a run that a crash has left open, so that its record can be completed.
func (s *Store) Reopen(id string) (*Run, error) {
	m, err := s.Get(id)
	if err != nil {
		return nil, err
	}
	return &Run{s, m, filepath.Join(s.dir, m.RunID)}, nil
}

// Take gives the run of m, which is begun where it was not.
func (s *Store) Take(m Meta) (*Run, error) {
	if r, err := s.Reopen(m.RunID); err == nil {
		return r, nil
	}
	return s.Begin(m)
}

// Run is one run that is being written.
type Run struct {
	store *Store
	meta  Meta
	dir   string
}

// Begin makes the folder of a run and writes its meta.json.
func (s *Store) Begin(m Meta) (*Run, error) {
	if !ValidRunID(m.RunID) {
		return nil, fmt.Errorf("history: %q is not a run id", m.RunID)
	}
	if err := s.mkdir(); err != nil {
		return nil, err
	}
	x := s.load()
	x.settle(s)
	r := &Run{s, m, filepath.Join(s.dir, m.RunID)}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		return nil, diag.Wrap(err, judge.StopInterrupted, "the run's folder can't be created", "`ls -ld "+diag.Word(s.dir)+"` and `df -h "+diag.Word(s.dir)+"` show the place")
	}
	if err := workspace.WriteJSON(filepath.Join(r.dir, metaName), m); err != nil {
		return nil, errors.Join(err, os.RemoveAll(r.dir)) // on a full disk, for one
	}
	x.Runs, x.Latest, x.Open = x.Runs+1, max(x.Latest, m.RunID), m.RunID // one that was long under way may come into the history late
	return r, s.save(x)
}

// mkdir makes the history's folder; a link in its place is not followed.
func (s *Store) mkdir() error {
	err := os.Mkdir(s.dir, 0o755)
	if fi, lerr := os.Lstat(s.dir); lerr == nil && fi.IsDir() {
		return nil
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = errors.New("there is something else of that name")
	}
	return diag.Wrap(err, judge.StopInterrupted, "the history folder "+s.dir+" can't be made", "`ls -ld "+diag.Word(s.dir)+"` shows what is there")
}

// ID is the run's id; Dir its folder.
func (r *Run) ID() string  { return r.meta.RunID }
func (r *Run) Dir() string { return r.dir }

// At gives the path of a file of the run for readers who know the run's folder as dir; ""
// when the run has no such file.
func (r *Run) At(dir, name string) string {
	if fi, err := os.Lstat(filepath.Join(r.dir, filepath.FromSlash(name))); err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	return dir + "/" + name
}

// place checks the name of a file of the run and makes the folder it lies in.
func (r *Run) place(name string) (string, error) {
	dir, base := filepath.Split(filepath.FromSlash(name))
	if base == "" || base == "." || base == ".." || strings.ContainsAny(name, "\x00\\") || dir != "" && dir != "plugins/" {
		return "", fmt.Errorf("history: %q is not a name of a file of a run", name)
	}
	if dir != "" {
		if err := os.Mkdir(filepath.Join(r.dir, "plugins"), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	return filepath.Join(r.dir, filepath.FromSlash(name)), nil
}

// Create opens a new file of the run for writing: "diff.patch", "verify.log",
// "plugins/claude.stderr". Closing it makes it last.
func (r *Run) Create(name string) (io.WriteCloser, error) {
	p, err := r.place(name)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(p, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: p, Err: err}
	}
	return &lasting{os.NewFile(uintptr(fd), p)}, nil
}

// lasting is a file that is synced when it is closed.
type lasting struct{ *os.File }

// Close syncs and closes.
func (f *lasting) Close() error { return errors.Join(f.Sync(), f.File.Close()) }

// Write writes a whole file of the run atomically.
func (r *Run) Write(name string, b []byte) error {
	p, err := r.place(name)
	if err != nil {
		return err
	}
	if filepath.Ext(name) != ".json" { // rendered or derived; the fsyncs of a tick are its latency
		return workspace.WriteScratch(p, b)
	}
	return workspace.WriteFile(p, b)
}

// Adopt moves a plain file of the workspace into the run; one that is not there, any more
// or at all, is no error.
func (r *Run) Adopt(name, from string) error {
	if fi, err := os.Lstat(from); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	p, err := r.place(name)
	if err != nil {
		return err
	}
	return os.Rename(from, p)
}

// Note writes down what is known of a run that continues.
func (r *Run) Note(m Meta) error {
	m.RunID, m.EndedAt = r.meta.RunID, time.Time{}
	return workspace.WriteJSON(filepath.Join(r.dir, metaName), m)
}

// Finish writes the report as both people and programs read it, and ends the run.
func (r *Run) Finish(m Meta, report, md []byte) error {
	return errors.Join(r.Write("report.json", report), r.Write("report.md", md), r.End(m))
}

// End writes meta.json for good and adds the run to the running total. The run's
// id stays what it was.
func (r *Run) End(m Meta) error {
	m.RunID, m.Bytes = r.meta.RunID, workspace.Size(r.dir)
	if err := workspace.WriteJSON(filepath.Join(r.dir, metaName), m); err != nil {
		return err
	}
	x := r.store.load()
	if x.Open == m.RunID {
		x.Open = ""
		x.Bytes += workspace.Size(r.dir)
	}
	return r.store.save(x)
}

// Shrink ends the run and leaves its line alone, where no history is kept of what happened in it.
func (r *Run) Shrink(m Meta) error {
	files, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	was := workspace.Size(r.dir)
	for _, f := range files {
		if f.Name() != metaName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(r.dir, f.Name())))
		}
	}
	if x := r.store.load(); x.Open != m.RunID { // it was counted with what has gone
		x.Bytes -= was - workspace.Size(r.dir)
		err = errors.Join(err, r.store.save(x))
	}
	return errors.Join(err, r.End(m))
}

// readMeta reads a run's meta.json; a run without a readable one has its id only.
func (s *Store) readMeta(id string) Meta {
	m := Meta{}
	b, err := workspace.ReadFile(filepath.Join(s.dir, id, metaName), 1<<20)
	if err != nil || json.Unmarshal(b, &m) != nil || m.RunID != id {
		return Meta{RunID: id, StartedAt: startedAt(id)}
	}
	return m
}
