package sdk

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// afterExit is how long an output is still read without a byte coming, after the
// program and all that it started are dead: what they wrote is in the pipe by then.
const afterExit = 500 * time.Millisecond

// patientFile reads a pipe until its end or, once the program has ended, until nothing
// comes any more: someone out of our reach may hold the other end.
type patientFile struct {
	file   *os.File
	exited <-chan struct{}
	flood  *flood
}

func (p *patientFile) Read(b []byte) (int, error) {
	select {
	case <-p.exited:
		_ = p.file.SetReadDeadline(time.Now().Add(afterExit))
	default:
	}
	n, err := p.file.Read(b)
	p.flood.add(n)
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	return 0, io.EOF
}

// flood notices that a program prints more than relay allows on both outputs.
type flood struct {
	most int64 // 0: any amount
	seen atomic.Int64
	once sync.Once
	over chan struct{}
}

func newFlood() *flood {
	most, _ := strconv.ParseInt(os.Getenv("RELAY_OUTPUT_LIMIT"), 10, 64)
	return &flood{most: most, over: make(chan struct{})}
}

func (f *flood) add(n int) {
	if f.most > 0 && f.seen.Add(int64(n)) > f.most {
		f.once.Do(func() { close(f.over) })
	}
}

// lineReader gives out lines of any length as long as the budget lasts.
type lineReader struct {
	file   *os.File
	exited <-chan struct{}
	onLine func([]byte)
	budget int64 // bytes that may still be given out
	cut    int64 // bytes that were not
	last   atomic.Int64
	flood  *flood
}

// silentSince is the time since the last byte, or since start.
func (l *lineReader) silentSince(start time.Time) time.Duration {
	if last := l.last.Load(); last != 0 {
		return time.Since(time.Unix(0, last))
	}
	return time.Since(start)
}

func (l *lineReader) Read(b []byte) (int, error) {
	n, err := (&patientFile{l.file, l.exited, l.flood}).Read(b)
	if n > 0 {
		l.last.Store(time.Now().UnixNano())
	}
	return n, err
}

// read goes through the output to its end. A line that the budget does not hold is
// left out, and its memory is given back at once.
func (l *lineReader) read() {
	r := bufio.NewReaderSize(l, 64<<10)
	var line []byte
	var left int64 // bytes of the current line that were left out
	for {
		piece, err := r.ReadSlice('\n')
		if left > 0 || int64(len(line)+len(piece)) > l.budget {
			left += int64(len(line) + len(piece))
			line = nil
		} else {
			line = append(line, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if left == 0 && len(line) > 0 {
			l.budget -= int64(len(line))
			l.give(line)
		}
		l.cut += left
		left = 0
		if line = line[:0]; cap(line) > 1<<20 {
			line = nil
		}
		if err != nil {
			return
		}
	}
}

func (l *lineReader) give(line []byte) {
	if l.onLine != nil {
		l.onLine(bytes.TrimRight(line, "\r\n"))
	}
}

// tail keeps the last bytes of an output.
type tail struct {
	buf   []byte
	start int // where the oldest byte is, when buf is full
}

const tailSize = 64 << 10

func (t *tail) readFrom(r io.Reader) {
	b := make([]byte, 8<<10)
	for {
		n, err := r.Read(b)
		t.add(b[:n])
		if err != nil {
			return
		}
	}
}

func (t *tail) add(b []byte) {
	if room := tailSize - len(t.buf); room > 0 {
		n := min(room, len(b))
		t.buf = append(t.buf, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		n := copy(t.buf[t.start:], b)
		t.start = (t.start + n) % tailSize
		b = b[n:]
	}
}

// String is the kept bytes, oldest first, as valid UTF-8.
func (t *tail) String() string {
	return valid(string(t.buf[t.start:]) + string(t.buf[:t.start]))
}
