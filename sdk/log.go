package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"

	hclog "github.com/hashicorp/go-hclog"
)

// Environment of a plugin process, set by the host or by an author looking for an error.
const (
	envLogLevel = "RELAY_LOG_LEVEL"  // trace, debug, info, warn or error; else info
	envLogFile  = "RELAY_PLUGIN_LOG" // a file that also gets every line, at level debug
)

// logs are the two log paths of a plugin: slog for the author, hclog for go-plugin.
// Both write the JSON lines on standard error that go-plugin's host reads back.
type logs struct {
	internal  hclog.InterceptLogger
	lastError atomic.Value // string: what go-plugin said before it gave up
}

// newLogs makes them. A person who debugs the plugin reads lines of text, all of them.
func newLogs(stderr io.Writer, person bool) *logs {
	level := hclog.LevelFromString(os.Getenv(envLogLevel))
	if level == hclog.NoLevel && person {
		level = hclog.Debug
	} else if level == hclog.NoLevel {
		level = hclog.Info
	}
	l := &logs{internal: hclog.NewInterceptLogger(&hclog.LoggerOptions{Level: level, Output: stderr, JSONFormat: true})}
	author := authorHandler(stderr, slogLevel(level))
	if person { // go-plugin's own lines are of no use to an author
		l.internal = hclog.NewInterceptLogger(&hclog.LoggerOptions{Level: hclog.Error, Output: stderr})
		author = slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slogLevel(level)})
	}
	l.internal.RegisterSink(l)
	if path := os.Getenv(envLogFile); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			l.internal.Warn("cannot write the log file", "variable", envLogFile, "error", err)
		} else {
			l.internal.RegisterSink(hclog.NewSinkAdapter(&hclog.LoggerOptions{Level: hclog.Debug, Output: f}))
			author = both{author, slog.NewTextHandler(f, &slog.HandlerOptions{Level: slog.LevelDebug})}
		}
	}
	slog.SetDefault(slog.New(author))
	return l
}

// both hands every record to two handlers. (slog has one of its own since Go 1.26; authors may have Go 1.24.)
type both [2]slog.Handler

func (b both) Enabled(ctx context.Context, level slog.Level) bool {
	return b[0].Enabled(ctx, level) || b[1].Enabled(ctx, level)
}

func (b both) Handle(ctx context.Context, r slog.Record) error {
	var errs [2]error
	for i, h := range b {
		if h.Enabled(ctx, r.Level) {
			errs[i] = h.Handle(ctx, r.Clone())
		}
	}
	return errors.Join(errs[:]...)
}

func (b both) WithAttrs(attrs []slog.Attr) slog.Handler {
	return both{b[0].WithAttrs(attrs), b[1].WithAttrs(attrs)}
}

func (b both) WithGroup(name string) slog.Handler {
	return both{b[0].WithGroup(name), b[1].WithGroup(name)}
}

// Accept keeps the last error for a text of our own.
func (l *logs) Accept(_ string, level hclog.Level, msg string, args ...any) {
	if level < hclog.Error {
		return
	}
	for i := 0; i+1 < len(args); i += 2 {
		msg += fmt.Sprintf(": %v", args[i+1])
	}
	l.lastError.Store(msg)
}

// authorHandler writes slog records in the form that hclog's reader knows.
func authorHandler(w io.Writer, level slog.Level) slog.Handler {
	return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) > 0 {
			return a
		}
		switch a.Key {
		case slog.TimeKey:
			return slog.String("@timestamp", a.Value.Time().Format("2006-01-02T15:04:05.000000Z07:00"))
		case slog.LevelKey:
			return slog.String("@level", strings.ToLower(a.Value.String()))
		case slog.MessageKey:
			a.Key = "@message"
		}
		return a
	}})
}

func slogLevel(l hclog.Level) slog.Level {
	switch l {
	case hclog.Trace, hclog.Debug:
		return slog.LevelDebug
	case hclog.Warn:
		return slog.LevelWarn
	case hclog.Error:
		return slog.LevelError
	case hclog.Off:
		return slog.LevelError + 100
	}
	return slog.LevelInfo
}
