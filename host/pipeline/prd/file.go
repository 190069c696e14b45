package prd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/paxiom/relay/host/internal/workspace"
)

// File is a task list on disk. It may be used from several goroutines.
type File struct {
	Path string

	mu   sync.Mutex
	list *List
	err  error
	seen os.FileInfo
}

// Read gives the list as it is now. The file is parsed only when it changed. A broken
// one gives the [*Error] of Parse: the caller waits for the operator to finish.
func (f *File) Read() (*List, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read()
}

func (f *File) read() (*List, error) {
	info, err := os.Lstat(f.Path)
	if err != nil {
		return nil, err
	}
	if f.seen != nil && os.SameFile(info, f.seen) && info.Size() == f.seen.Size() && info.ModTime().Equal(f.seen.ModTime()) &&
		time.Since(info.ModTime()) > settle {
		return f.list, f.err
	}
	b, err := workspace.ReadFile(f.Path, MaxBytes)
	if err != nil {
		return nil, err
	}
	if f.list == nil || f.err != nil || !bytes.Equal(b, f.list.raw) {
		f.list, f.err = Parse(b)
	}
	f.seen = info
	return f.list, f.err
}

// settle is how long after a change the file's time can't tell a second change.
const settle = 50 * time.Millisecond

// ErrBreaks says that an edit was not made, since the list would be none afterwards.
var ErrBreaks = errors.New("the edit would break the list")

// ErrEdited says that the file was written by somebody else at the same moment,
// several times in a row.
var ErrEdited = errors.New("the task list is being edited at this moment")

// Edit makes an edit on the newest bytes and writes them in one piece. The result must
// be a valid list. What somebody else writes meanwhile is never overwritten: the edit
// is made again on their bytes.
func (f *File) Edit(e Edit) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range 5 {
		l, err := f.read()
		if err != nil {
			return err
		}
		b, err := e(l)
		if err != nil {
			return err
		}
		next, err := Parse(b)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBreaks, err)
		}
		now, err := workspace.ReadFile(f.Path, MaxBytes)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, l.raw) {
			f.seen = nil
			continue
		}
		if bytes.Equal(now, b) {
			return nil
		}
		if err := workspace.WriteFile(f.Path, b); err != nil {
			return err
		}
		f.list, f.err, f.seen = next, nil, nil
		return nil
	}
	return ErrEdited
}
