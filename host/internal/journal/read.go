package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Bounds of a journal that is read. Of a record only its head is kept in memory: the plan
// of a million paths fits, and is read when somebody asks for it.
const (
	maxLog     = 512 << 20 // bytes
	maxRecords = 10_000
	maxHead    = 4 << 10 // bytes of a line
)

// open opens a journal; a link in its place is not followed.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// read reads the lines. One that can't be read was cut off by a crash, unless its
// number is missing afterwards: then the journal is damaged.
func read(path string) (records []Record, damaged string, err error) {
	f, err := open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	if fi, err := f.Stat(); err == nil && fi.Size() > maxLog {
		return nil, fmt.Sprintf("it is larger than %d MB", maxLog>>20), nil
	}
	lines := bufio.NewReaderSize(io.LimitReader(f, maxLog), 64<<10)
	var at int64
	for n := 1; ; n++ {
		var l line
		err := l.read(lines)
		if r, ok := l.record(); ok {
			if r.Seq != len(records)+1 {
				return records, fmt.Sprintf("line %d is record %d where %d belongs", n, r.Seq, len(records)+1), nil
			}
			if len(records) == maxRecords {
				return records, fmt.Sprintf("it has more than %d records", maxRecords), nil
			}
			if r.n > 0 {
				r.file, r.at = path, r.at+at
			}
			records = append(records, r)
		}
		if errors.Is(err, io.EOF) {
			return records, "", nil
		}
		if err != nil {
			return nil, "", err
		}
		at += l.size + 1
	}
}

// line is one line of any length, of which the head is kept.
type line struct {
	head  []byte
	size  int64 // without its end
	depth int   // of brackets that are open
	bad   bool  // no line that was written whole

	quoted, escaped bool
}

// read reads to the end of a line, or to that of the file, which is io.EOF.
func (l *line) read(r *bufio.Reader) error {
	for {
		part, err := r.ReadSlice('\n')
		part = bytes.TrimSuffix(part, []byte{'\n'})
		l.head = append(l.head, part[:min(len(part), maxHead+1-len(l.head))]...)
		l.scan(part)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// scan follows strings and brackets: what was cut off has one that is open.
func (l *line) scan(part []byte) {
	for _, c := range part {
		if l.depth == 0 && l.size > 0 || c < ' ' {
			l.bad = true
		}
		l.size++
		switch {
		case l.escaped:
			l.escaped = false
		case l.quoted:
			l.escaped, l.quoted = c == '\\', c != '"'
		case c == '"':
			l.quoted = true
		case c == '{' || c == '[':
			l.depth++
		case c == '}' || c == ']':
			l.depth--
		}
	}
}

// record is what the line says, and false when it was cut off. Long data stay where they are.
func (l *line) record() (r Record, ok bool) {
	if l.size <= maxHead {
		return r, json.Unmarshal(l.head, &r) == nil
	}
	const data = `,"data":`
	i := bytes.Index(l.head, []byte(data)) // a string before it would have its quotes escaped
	if l.bad || l.depth != 0 || i < 0 || json.Unmarshal(append(l.head[:i:i], '}'), &r) != nil {
		return r, false
	}
	r.at = int64(i + len(data))
	r.n = l.size - 1 - r.at
	return r, true
}
