//go:build linux || darwin

package evidence

import (
	"bufio"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/paxiom/relay/verify"
)

// Pipe is a named pipe that one check reports to.
type Pipe struct {
	// Dir is a folder of its own, Path the pipe in it.
	Dir, Path string

	from *os.File // what relay reads
	keep *os.File // relay's own writing end: until it is closed, reading does not come to an end
	done chan struct{}
	r    *reader
}

// Open makes a pipe in a new folder below dir and begins to read it.
func Open(dir string) (*Pipe, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	own, err := os.MkdirTemp(dir, "run-")
	if err != nil {
		return nil, err
	}
	p := &Pipe{Dir: own, Path: filepath.Join(own, "report"), done: make(chan struct{}), r: newReader()}
	err = syscall.Mkfifo(p.Path, 0o600)
	if err == nil { // a reader first: without one no writer can open it
		p.from, err = os.OpenFile(p.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err == nil {
		if p.keep, err = os.OpenFile(p.Path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err != nil {
			p.from.Close()
		}
	}
	if err != nil {
		os.RemoveAll(own)
		return nil, err
	}
	go func() {
		defer close(p.done)
		lines := bufio.NewReaderSize(p.from, maxLine)
		for {
			line, err := lines.ReadSlice('\n')
			if err != nil && err != bufio.ErrBufferFull {
				return
			}
			if err == bufio.ErrBufferFull {
				p.r.out.Broken = "a line is too long"
				continue
			}
			p.r.line(string(line[:len(line)-1]))
		}
	}()
	return p, nil
}

// late is how long a process that outlived its box may continue writing.
const late = 2 * time.Second

// Close ends the reading once every process that could write has ended, removes the
// pipe, and returns what was reported. A record that was cut off is none.
func (p *Pipe) Close() verify.Report {
	p.keep.Close()
	p.from.SetReadDeadline(time.Now().Add(late))
	<-p.done
	p.from.Close()
	os.RemoveAll(p.Dir)
	return p.r.report()
}
