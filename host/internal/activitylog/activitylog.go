package activitylog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/report"
)

// maxLine is the longest line, in characters.
const maxLine = 2000

// maxRest is how many bytes without the end of a line are kept: more is no line of relay's.
const maxRest = 64 << 10

// File is the log of a day, as the clock on the wall has it.
func File(dir string, day time.Time) string {
	return filepath.Join(dir, day.Local().Format(time.DateOnly)+".log")
}

// Append adds one line: time, cycle, service, text. It is one write, so that lines of
// several processes never mix. What a model wrote can't break the line.
func Append(dir string, at time.Time, cycle, service, text string) error {
	line := at.Local().Format("2006-01-02T15:04:05.000Z07:00") + " " + report.Safe(cycle+" "+service+" "+format.Clip(text, maxLine)) + "\n"
	fd, err := unix.Open(File(dir, at), unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return &fs.PathError{Op: "open", Path: File(dir, at), Err: err}
	}
	f := os.NewFile(uintptr(fd), File(dir, at))
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// Copy writes the log of a day, if there is one, and gives how much that was. Only lines
// that hold match are written; "" takes all.
func Copy(w io.Writer, dir string, day time.Time, match string) (int64, error) {
	f := &follower{w: w, match: []byte(match), path: File(dir, day)}
	return f.at, errors.Join(f.read(), f.flush())
}

// look is how often a followed file is looked at.
const look = 200 * time.Millisecond

// Follow writes what is added to the log from now on, across midnight, until ctx ends.
func Follow(ctx context.Context, w io.Writer, dir, match string, now func() time.Time) error {
	f := &follower{w: w, match: []byte(match), path: File(dir, now())}
	if fi, err := os.Stat(f.path); err == nil {
		f.at = fi.Size()
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		if err := f.read(); err != nil {
			return err
		}
		if next := File(dir, now()); next != f.path { // what was written until now is read
			if err := errors.Join(f.read(), f.flush()); err != nil {
				return err
			}
			f.path, f.at = next, 0
			continue
		}
		select {
		case <-ctx.Done():
			return errors.Join(f.read(), f.flush())
		case <-tick.C:
		}
	}
}

// follower writes whole lines of a file that grows.
type follower struct {
	w     io.Writer
	match []byte
	path  string
	at    int64
	rest  []byte // a line that has no end yet
}

func (f *follower) read() error {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(f.at, io.SeekStart); err != nil {
		return err
	}
	b := make([]byte, maxRest)
	for {
		n, err := file.Read(b)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		f.at += int64(n)
		f.rest = append(f.rest, b[:n]...)
		for {
			line, rest, ok := bytes.Cut(f.rest, []byte("\n"))
			if !ok {
				break
			}
			if err := f.write(line); err != nil {
				return err
			}
			f.rest = rest
		}
		if len(f.rest) > maxRest {
			f.rest = nil
		}
	}
}

func (f *follower) write(line []byte) error {
	if !bytes.Contains(line, f.match) {
		return nil
	}
	_, err := f.w.Write(append(line[:len(line):len(line)], '\n'))
	return err
}

func (f *follower) flush() error {
	if len(f.rest) == 0 {
		return nil
	}
	line := f.rest
	f.rest = nil
	return f.write(line)
}
