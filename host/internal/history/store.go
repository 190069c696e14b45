package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Store is the history folder of one workspace. A writer holds the
// workspace's lock.
type Store struct{ dir string }

// Open names the history at dir (absolute). It touches nothing.
func Open(dir string) *Store { return &Store{dir} }

// index is the running total, so that no tick walks the whole history. It can be
// made again from the runs, and is when it is missing or makes no sense.
type index struct {
	Bytes  int64  `json:"bytes"` // of all runs but the open one
	Runs   int    `json:"runs"`
	Latest string `json:"latest"`
	Open   string `json:"open,omitempty"` // the run that was begun and not ended
}

const indexName = "index.json"

func (s *Store) load() *index {
	x := &index{}
	b, err := workspace.ReadFile(filepath.Join(s.dir, indexName), 64<<10)
	if err != nil || json.Unmarshal(b, x) != nil || x.Bytes < 0 || x.Runs < 0 ||
		x.Latest != "" && !ValidRunID(x.Latest) || x.Open != "" && !ValidRunID(x.Open) {
		return s.recount()
	}
	return x
}

// recount makes the index from what is there.
func (s *Store) recount() *index {
	x := &index{}
	ids, _ := s.ids()
	for _, id := range ids {
		x.Bytes += workspace.Size(filepath.Join(s.dir, id))
	}
	x.Runs = len(ids)
	if len(ids) > 0 {
		x.Latest = ids[0]
	}
	return x
}

// settle adds the size of a run that a crash left open.
func (x *index) settle(s *Store) {
	if x.Open != "" {
		x.Bytes += workspace.Size(filepath.Join(s.dir, x.Open))
		x.Open = ""
	}
}

func (s *Store) save(x *index) error {
	b, err := json.Marshal(x)
	if err != nil {
		return err
	}
	return workspace.WriteScratch(filepath.Join(s.dir, indexName), append(b, '\n'))
}

// ids gives the ids of all runs, newest first.
func (s *Store) ids() ([]string, error) {
	d, err := os.Open(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	names = slices.DeleteFunc(names, func(n string) bool { return !ValidRunID(n) })
	slices.Sort(names)
	slices.Reverse(names)
	return names, err
}

// CheckCap refuses to start when the history is over maxMB (of 1,000,000 bytes):
// BLOCKED_HISTORY_CAP_CLEANUP_REQUIRED.
func (s *Store) CheckCap(maxMB int) error {
	bytes, runs, err := s.Size()
	if err != nil {
		return err
	}
	if bytes <= int64(maxMB)*1_000_000 {
		return nil
	}
	return diag.New(judge.BlockedHistoryCap, "the history is full",
		fmt.Sprintf("%d runs take %.1f MB of the %d MB that history.max_mb allows", runs, float64(bytes)/1e6, maxMB),
		fmt.Sprintf("`relay history prune --max-size %dMB` removes the oldest runs, or raise history.max_mb", max(maxMB*4/5, 1)))
}

// Size is the running total in bytes and the number of runs.
func (s *Store) Size() (bytes int64, runs int, err error) {
	if _, err := os.Lstat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	} else if err != nil {
		return 0, 0, err
	}
	ids, err := s.ids()
	x := s.load()
	if len(ids) != x.Runs { // somebody brought runs or took some
		x = s.recount()
	}
	x.settle(s)
	return x.Bytes, x.Runs, err
}

// Latest is the id of the newest run, "" when there is none.
func (s *Store) Latest() (string, error) {
	x := &index{}
	b, err := workspace.ReadFile(filepath.Join(s.dir, indexName), 64<<10)
	if err == nil && json.Unmarshal(b, x) == nil && ValidRunID(x.Latest) {
		if fi, err := os.Lstat(filepath.Join(s.dir, x.Latest)); err == nil && fi.IsDir() {
			return x.Latest, nil
		}
	}
	ids, err := s.ids()
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// All gives the newest runs first, each read when it is asked for. A run without a
// readable meta.json is given with its id only.
func (s *Store) All() (iter.Seq[Meta], error) {
	ids, err := s.ids()
	return func(yield func(Meta) bool) {
		for _, id := range ids {
			if !yield(s.readMeta(id)) {
				return
			}
		}
	}, err
}

// List gives the newest runs first; limit 0 gives all.
func (s *Store) List(limit int) ([]Meta, error) {
	all, err := s.All()
	if err != nil {
		return nil, err
	}
	out := []Meta{}
	for m := range all {
		if out = append(out, m); len(out) == limit {
			break
		}
	}
	return out, nil
}

// Get gives one run by its whole id; fs.ErrNotExist when it is not there.
func (s *Store) Get(id string) (Meta, error) {
	if !ValidRunID(id) {
		return Meta{}, fmt.Errorf("history: %q: %w", id, fs.ErrNotExist)
	}
	if fi, err := os.Lstat(filepath.Join(s.dir, id)); err != nil || !fi.IsDir() {
		return Meta{}, fmt.Errorf("history: %q: %w", id, fs.ErrNotExist)
	}
	return s.readMeta(id), nil
}

// Find gives the run whose id is, or alone begins or ends with, id; "" and "latest"
// give the newest one.
func (s *Store) Find(id string) (Meta, error) {
	ids, err := s.ids()
	if err != nil {
		return Meta{}, err
	}
	if (id == "" || id == "latest") && len(ids) > 0 {
		return s.readMeta(ids[0]), nil
	}
	var found []string
	for _, have := range ids {
		switch {
		case have == id:
			return s.readMeta(have), nil
		case strings.HasPrefix(have, id) || strings.HasSuffix(have, id):
			found = append(found, have)
		}
	}
	switch {
	case len(ids) == 0:
		return Meta{}, diag.New("", "nothing has run here yet", "the history of this repository is empty", "`relay run` makes the first one")
	case len(found) == 1:
		return s.readMeta(found[0]), nil
	case len(found) > 1:
		return Meta{}, diag.New("", fmt.Sprintf("%q names %d runs", id, len(found)), "the newest of them are "+strings.Join(found[:min(3, len(found))], ", "), "`relay history list` shows them; give more of the id")
	default:
		return Meta{}, diag.New("", fmt.Sprintf("there is no run %q", id), "the newest one is "+ids[0], "`relay history list` shows them")
	}
}

// Path is a file of a run, with no promise that it exists. The run's id must be
// valid; anything else gives a path that does not exist.
func (s *Store) Path(runID, name string) string {
	if !ValidRunID(runID) {
		runID = "no-such-run"
	}
	return filepath.Join(s.dir, runID, filepath.FromSlash(name))
}

// prunedName is where the runs lie that the last prune removed.
const prunedName = "pruned"

// Pruned is that folder, and the runs in it. Who moves one back has it in the history again.
func (s *Store) Pruned() (dir string, runs []string) {
	p := &Store{filepath.Join(s.dir, prunedName)}
	runs, _ = p.ids() // what can't be read is not there to be kept
	return p.dir, runs
}

// Prune says what to remove; zero values do not limit.
type Prune struct {
	Keep      int           // runs to keep, newest first
	OlderThan time.Duration // remove what started before that
	MaxBytes  int64         // remove the oldest until the total fits
	DryRun    bool
}

// Removed is what a prune removed.
type Removed struct {
	Runs  []string // moved to the folder that Pruned names
	Bytes int64
	Gone  []string // what the prune before it had moved there, removed for good
}

// Prune removes old runs, never the newest one. It counts the whole history anew,
// so a running total that went wrong is right afterwards. What it removes stays beside
// the history until the next prune that removes something.
func (s *Store) Prune(p Prune, now time.Time) (Removed, error) {
	out := Removed{Runs: []string{}}
	ids, err := s.ids()
	if err != nil || len(ids) == 0 {
		return out, err
	}
	kept, before := s.Pruned()
	left, full := &index{Latest: ids[0]}, false
	for i, id := range ids { // newest first: once over the size, all that follow go
		bytes := workspace.Size(filepath.Join(s.dir, id))
		drop := i > 0 && (p.Keep > 0 && i >= p.Keep ||
			p.OlderThan > 0 && startedAt(id).Before(now.Add(-p.OlderThan)) ||
			full || p.MaxBytes > 0 && left.Bytes+bytes > p.MaxBytes)
		if drop && !p.DryRun {
			if len(out.Runs) == 0 {
				if err := errors.Join(os.RemoveAll(kept), os.MkdirAll(kept, 0o700)); err != nil {
					return out, diag.Wrap(err, judge.StopInterrupted, "what the last prune removed can't be deleted", "`ls -ld "+diag.Word(kept)+"` shows whose it is")
				}
				out.Gone = before
			}
			if err := os.Rename(filepath.Join(s.dir, id), filepath.Join(kept, id)); err != nil {
				return out, errors.Join(diag.Wrap(err, judge.StopInterrupted, "run "+id+" can't be removed", "`ls -ld "+diag.Word(filepath.Join(s.dir, id))+"` shows whose it is"), s.save(s.recount()))
			}
		}
		if drop {
			out.Runs, out.Bytes = append(out.Runs, id), out.Bytes+bytes
			full = full || p.MaxBytes > 0 && left.Bytes+bytes > p.MaxBytes
			continue
		}
		left.Runs, left.Bytes = left.Runs+1, left.Bytes+bytes
	}
	if p.DryRun {
		return out, nil
	}
	return out, s.save(left)
}

// startedAt reads the time out of a run id.
func startedAt(id string) time.Time {
	t, _ := time.Parse("20060102-150405", id[:15])
	return t
}
