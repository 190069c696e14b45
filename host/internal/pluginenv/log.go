package pluginenv

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/judge"
)

// logVariable names a file that gets what all plugins say, beside the history's own files,
// for finding an error in one. Plugins are then asked to say more. They can't
// write such a file themselves from their boxes.
const (
	logVariable   = "RELAY_PLUGIN_LOG"
	levelVariable = "RELAY_LOG_LEVEL"
)

// openLog has the plugin's words go into that file as well, when there is one.
func (p *Plugin) openLog(spec *pluginhost.Spec) error {
	path := os.Getenv(logVariable)
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return diag.Wrap(err, judge.BlockedMissingConfig, "the log file of plugins can't be written", "`unset "+logVariable+"`, or name another file")
	}
	log := &lineLog{to: f, before: strings.TrimSpace(p.Entry.Name+" "+p.Entry.Version) + ": "}
	p.cleanup = append(p.cleanup, func() { log.end(); f.Close() })
	spec.Stderr = io.MultiWriter(spec.Stderr, log)
	if os.Getenv(levelVariable) == "" {
		spec.Env = append(spec.Env, levelVariable+"=debug")
	}
	return nil
}

// maxLogLine is how much is held back for the end of a line.
const maxLogLine = 64 << 10

// lineLog writes whole lines, each with its plugin before it: several plugins share a file.
type lineLog struct {
	mu     sync.Mutex
	to     io.Writer
	before string
	rest   []byte
}

// Write implements io.Writer. It never fails: a log that can't be written ends no plugin.
func (l *lineLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	for {
		at := bytes.IndexByte(l.rest, '\n')
		if at < 0 {
			break
		}
		l.line(l.rest[:at])
		l.rest = l.rest[at+1:]
	}
	if len(l.rest) > maxLogLine {
		l.line(l.rest)
		l.rest = nil
	}
	return len(b), nil
}

func (l *lineLog) line(text []byte) {
	l.to.Write(append(append([]byte(l.before), text...), '\n'))
}

// end writes what had no end.
func (l *lineLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rest) > 0 {
		l.line(l.rest)
		l.rest = nil
	}
}
