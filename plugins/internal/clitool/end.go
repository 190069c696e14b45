package clitool

import (
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/sdk"
)

// End is how a program ended.
type End struct {
	ExitCode int    // -1: a signal ended it
	Signal   string // its name, when one did
	// Enough says that the caller ended the program because it went on after its result;
	// the exit code then means nothing.
	Enough bool
	Stderr string // the last part of it
	Finish string // how the model's last answer ended, in the program's words; empty: not known
	Now    time.Time
}

// Ended is the end of a run, now.
func Ended(res sdk.CLIResult) End {
	end := End{ExitCode: res.ExitCode, Stderr: res.Stderr, Now: time.Now()}
	if res.Signal != 0 {
		end.Signal = res.Signal.String()
	}
	return end
}

func (e End) String() string {
	if e.Signal != "" {
		return "a signal (" + e.Signal + ")"
	}
	return "exit code " + strconv.Itoa(e.ExitCode)
}

// Clip bounds a text that a model or a server wrote.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + " …"
}

// Tail is the end of a text.
func Tail(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s) - 2000; n > 0 {
		s = "… " + strings.ToValidUTF8(s[n:], "")
	}
	return s
}

// FirstLine is what a text begins with.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
