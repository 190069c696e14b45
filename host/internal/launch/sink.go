package launch

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/paxiom/relay/host/internal/redact"
)

const (
	ringSize  = 64 << 10
	tailLines = 20
)

// sink takes all that a plugin says: the last 64 KiB in memory, and everything up to
// a limit in a writer. It never grows and never fails.
type sink struct {
	mu   sync.Mutex
	mask *redact.Writer
	ring []byte // grows to twice ringSize, then is cut to the last ringSize
	to   io.Writer
	room int64
	over bool // go-plugin's own copying may trail the end of the process

	taken int64
	most  int64  // 0: any amount
	flood func() // called once, when taken exceeds most
}

func newSink(secrets *redact.Set, to io.Writer, limit int64) *sink {
	s := &sink{to: to, room: limit}
	s.mask = redact.NewWriter(secrets, (*masked)(s))
	return s
}

// Write takes unmasked bytes; it is safe for concurrent use.
func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return len(p), nil
	}
	s.taken += int64(len(p))
	if s.most > 0 && s.taken > s.most {
		s.most = 0
		go s.flood()
	}
	return s.mask.Write(p)
}

// close lets go of what the mask held back. Nothing is written afterwards.
func (s *sink) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mask.Flush()
	s.over = true
}

func (s *sink) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.ring[max(0, len(s.ring)-ringSize):])
}

// masked is the sink behind its mask.
type masked sink

func (s *masked) Write(p []byte) (int, error) {
	s.ring = append(s.ring, p[max(0, len(p)-ringSize):]...)
	if len(s.ring) > 2*ringSize {
		s.ring = append(s.ring[:0], s.ring[len(s.ring)-ringSize:]...)
	}
	if s.to == nil {
		return len(p), nil
	}
	n := min(int64(len(p)), s.room)
	s.room -= n
	_, err := s.to.Write(p[:n])
	if err == nil && n < int64(len(p)) {
		fmt.Fprint(s.to, "\n[relay: the limit on a plugin's standard error was reached; the rest was not kept]\n")
	}
	if err != nil || n < int64(len(p)) {
		s.to = nil
	}
	return len(p), nil
}

// lastLines gives the last lines of text that fit into limit bytes.
func lastLines(text string, limit int) string {
	text = strings.TrimRight(text, "\n")
	if len(text) > limit {
		text = text[len(text)-limit:]
		if _, after, ok := strings.Cut(text, "\n"); ok {
			text = after
		}
	}
	lines := strings.Split(text, "\n")
	return strings.ToValidUTF8(strings.Join(lines[max(0, len(lines)-tailLines):], "\n"), "\uFFFD")
}

// findPanic gives the first line of a Go panic and the goroutine below it.
func findPanic(text string) (line, stack string) {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if !strings.HasPrefix(l, "panic: ") && !strings.HasPrefix(l, "fatal error: ") {
			continue
		}
		for j := i + 1; j < len(lines); j++ {
			if !strings.HasPrefix(lines[j], "goroutine ") {
				continue
			}
			end := j
			for end < len(lines) && lines[end] != "" {
				end++
			}
			return l, clip(strings.Join(lines[j:end], "\n"), 4<<10)
		}
		return l, ""
	}
	return "", ""
}

// firstLine reads up to the first line feed, but not more than limit bytes, and gives
// what it read and the reader for the rest.
func firstLine(r io.Reader, limit int) (line []byte, rest io.Reader) {
	buf := make([]byte, 0, 4<<10)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if i := bytes.IndexByte(buf, '\n'); i >= 0 {
			return buf[:i+1], io.MultiReader(bytes.NewReader(buf[i+1:]), r)
		}
		if err != nil || len(buf) >= limit {
			return buf, r
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}
