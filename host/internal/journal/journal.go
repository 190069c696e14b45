package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Record is one line of a journal.
type Record struct {
	Seq  int             `json:"seq"` // 1, 2, 3
	At   time.Time       `json:"at"`
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data,omitempty"`

	file  string // that has the data, when they are long
	at, n int64  // where
}

// Decode reads the record's data into v.
func (r Record) Decode(v any) error {
	if r.file == "" {
		return json.Unmarshal(r.Data, v)
	}
	f, err := open(r.file)
	if err != nil {
		return err
	}
	defer f.Close()
	data := make([]byte, r.n)
	if _, err := f.ReadAt(data, r.at); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// Failpoint is called by [Reached]; tests set it to end the process there.
var Failpoint func(point string)

// Reached marks a point at which a crash must be survivable. Every record is one,
// under its kind.
func Reached(point string) {
	if Failpoint != nil {
		Failpoint(point)
	}
}

const (
	logExt    = ".jsonl"
	imagesExt = ".images"
)

// Journal is the folder of all journals of one workspace.
type Journal struct{ dir string }

// Open names the folder. It touches nothing.
func Open(dir string) *Journal { return &Journal{dir: dir} }

// Dir is the folder.
func (j *Journal) Dir() string { return j.dir }

// Log is the open journal of one run.
type Log struct {
	j      *Journal
	id     string
	f      file
	seq    int
	end    int64 // of the last record that is safe
	images *os.File
	size   int64 // of images
}

// file is what a Log needs of an *os.File; tests let it fail.
type file interface {
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
}

// Begin makes the journal of a run. One that exists already is an error.
func (j *Journal) Begin(id string) (*Log, error) {
	if err := os.MkdirAll(j.dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(j.dir, id+logExt), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &Log{j: j, id: id, f: f}, nil
}

// ID is the run's id.
func (l *Log) ID() string { return l.id }

// Append writes a record and fsyncs it. data may be nil. Of one that fails nothing counts:
// the next has its number and its place.
func (l *Log) Append(kind string, data any) error {
	line := io.NewOffsetWriter(l.f, l.end) // after the last safe record
	err := json.NewEncoder(line).Encode(struct {
		Record
		Data any `json:"data,omitempty"`
	}{Record{Seq: l.seq + 1, At: time.Now().UTC(), Kind: kind}, data})
	if err == nil {
		err = l.f.Sync()
	}
	if err == nil && l.seq == 0 {
		err = syncDir(l.j.dir) // the file's name must survive as well
	}
	if err != nil {
		// What may be there of it goes. Where that fails too the next record covers it, and
		// after a crash it stands for something that was about to be done.
		return fmt.Errorf("journal: %w", errors.Join(err, l.f.Truncate(l.end)))
	}
	n, _ := line.Seek(0, io.SeekCurrent)
	l.seq, l.end = l.seq+1, l.end+n
	Reached(kind)
	return nil
}

// NewImage begins an image: what is written to w until the next one begins. at says
// where it is. It is safe on disk after SyncImages.
func (l *Log) NewImage() (w io.Writer, at int64, err error) {
	if l.images == nil {
		name := filepath.Join(l.j.dir, l.id+imagesExt)
		if l.images, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return nil, 0, fmt.Errorf("journal: %w", err)
		}
	}
	return (*imageWriter)(l), l.size, nil
}

type imageWriter Log

func (w *imageWriter) Write(p []byte) (int, error) {
	n, err := w.images.WriteAt(p, w.size)
	w.size += int64(n)
	return n, err
}

// SyncImages fsyncs the images.
func (l *Log) SyncImages() error {
	if l.images == nil {
		return nil
	}
	return l.images.Sync()
}

// ImageReader reads an image back.
func (l *Log) ImageReader(at, length int64) *io.SectionReader {
	return io.NewSectionReader(l.images, at, length)
}

// Close leaves the run to recovery.
func (l *Log) Close() error {
	err := l.f.Close()
	if l.images != nil {
		err = errors.Join(err, l.images.Close())
	}
	return err
}

// Settle removes the journal: the run is over. The record goes before the images,
// so that no record without its images is ever found.
func (l *Log) Settle() error {
	l.Close()
	return l.j.remove(l.id)
}

func (j *Journal) remove(id string) error {
	if err := os.Remove(filepath.Join(j.dir, id+logExt)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	Reached("settle")
	if err := os.Remove(filepath.Join(j.dir, id+imagesExt)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := syncDir(j.dir); err != nil {
		return err
	}
	os.Remove(j.dir) // when no other run is under way: what is settled leaves nothing
	return nil
}

// Run is a journal that a crash left open.
type Run struct {
	ID string
	// Records are the whole ones; a torn last line is left out.
	Records []Record
	// Damaged says why the records can't be trusted; "" when they can.
	Damaged string
	j       *Journal
}

// Last gives the last record of a kind.
func (r *Run) Last(kind string) (Record, bool) {
	for _, rec := range slices.Backward(r.Records) {
		if rec.Kind == kind {
			return rec, true
		}
	}
	return Record{}, false
}

// Resume opens the run's journal for more records and for its images.
func (r *Run) Resume() (*Log, error) {
	f, err := os.OpenFile(filepath.Join(r.j.dir, r.ID+logExt), os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	l := &Log{j: r.j, id: r.ID, f: f, seq: len(r.Records)}
	l.images, err = os.OpenFile(filepath.Join(r.j.dir, r.ID+imagesExt), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		l.images, err = nil, nil
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	// What follows must not be glued to a torn line.
	if l.end, err = f.Seek(0, io.SeekEnd); err == nil {
		_, err = f.WriteAt([]byte("\n"), l.end)
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	l.end++
	return l, nil
}

// Unfinished gives the journals that were left open, oldest first. Images without a
// record belong to a settled run and are removed.
func (j *Journal) Unfinished() ([]Run, error) {
	entries, err := os.ReadDir(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var runs []Run
	have := map[string]bool{}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), logExt); ok && e.Type().IsRegular() {
			run := Run{ID: id, j: j}
			if run.Records, run.Damaged, err = read(filepath.Join(j.dir, e.Name())); err != nil {
				return nil, err
			}
			runs, have[id] = append(runs, run), true
		}
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), imagesExt); ok && !have[id] {
			os.Remove(filepath.Join(j.dir, e.Name()))
		}
	}
	return runs, nil
}

// SetAside keeps the run's files under other names, under which nothing finds them again,
// and gives the record's.
func (r *Run) SetAside() (string, error) {
	name := filepath.Join(r.j.dir, r.ID)
	suffix := ".damaged-" + time.Now().UTC().Format("20060102-150405")
	if err := os.Rename(name+imagesExt, name+imagesExt+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return name + logExt + suffix, os.Rename(name+logExt, name+logExt+suffix)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
