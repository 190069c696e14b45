package eventtest

import (
	"fmt"
	"strings"
	"sync"

	"github.com/paxiom/relay/sdk"
)

// Log keeps every event as one line; the zero Log is ready.
type Log struct {
	mu    sync.Mutex
	lines []string
	text  strings.Builder
	usage []sdk.Usage
	limit []sdk.RateLimit
}

func (l *Log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// Lines are the events in their order, without texts, usage and limits.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// String is all lines.
func (l *Log) String() string { return strings.Join(l.Lines(), "\n") }

// Written is all text so far.
func (l *Log) Written() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Usages and Limits are the values that were told.
func (l *Log) Usages() []sdk.Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]sdk.Usage(nil), l.usage...)
}

func (l *Log) Limits() []sdk.RateLimit {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]sdk.RateLimit(nil), l.limit...)
}

// The methods of sdk.Events.

func (l *Log) Started(s sdk.Started)   { l.add("started %s %s", s.Model, s.ToolVersion) }
func (l *Log) Notice(s string)         { l.add("notice %s", s) }
func (l *Log) Progress(p sdk.Progress) { l.add("progress %s: %s", p.Phase, p.Text) }
func (l *Log) File(path string)        { l.add("file %s", path) }
func (l *Log) Text(s string)           { l.mu.Lock(); defer l.mu.Unlock(); l.text.WriteString(s) }
func (l *Log) Usage(u sdk.Usage)       { l.mu.Lock(); defer l.mu.Unlock(); l.usage = append(l.usage, u) }
func (l *Log) RateLimit(r sdk.RateLimit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = append(l.limit, r)
}

func (l *Log) Command(c sdk.Command) {
	if c.ExitCode == nil {
		l.add("command %s", strings.Join(c.Argv, " "))
		return
	}
	l.add("command %s: %d", strings.Join(c.Argv, " "), *c.ExitCode)
}

var _ sdk.Events = (*Log)(nil)
