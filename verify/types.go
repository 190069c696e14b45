package verify

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/paxiom/relay/judge"
)

// The kinds of parameter.
const (
	KindToken = "string_token" // a word for the command
	KindPath  = "path"         // a path inside the repository
)

// Template is one check of the configuration: an argument vector in which
// "{{name}}" stands for a parameter.
type Template struct {
	ID     string
	Cmd    string // no placeholder
	Args   []string
	Params map[string]string // name → KindToken or KindPath
	// Results is the form in which it names its tests, "" for none; see [Tests].
	Results string
}

// Rules are what parameters are held to, on top of the fixed allow-list.
type Rules struct {
	MaxParamLen   int      // bytes; 0 means 128
	RejectPattern string   // the configuration's regular expression, "" for none
	Forbidden     []string // globs that a path parameter may not match
	// Root is the real repository: no component of a path parameter may be a
	// symbolic link in it, nor in Changes, which will be laid over it.
	Root    string
	Changes []judge.Change
}

// Requests are the checks that a task asks for.
type Requests struct {
	Fast, Slow []string                  // template ids, in order
	Params     map[string]map[string]any // template id → parameter → value
}

// Command is one check ready to run.
type Command struct {
	ID      string
	Slow    bool
	Argv    []string
	Results string // as in its template
	// Folder holds the files of a hidden check, which no other box shows; "" for others.
	Folder string
	// Class is all that a model may be told when it fails.
	Class string
}

// Taint is why a plan was refused. Nothing was run.
type Taint struct {
	Template string // "" when it is about the configuration
	Param    string // "" when it is about the template
	Why      string
}

// Error names template, parameter and reason.
func (t *Taint) Error() string {
	if t.Template == "" {
		return "checks: " + t.Why
	}
	if t.Param == "" {
		return fmt.Sprintf("check %q: %s", t.Template, t.Why)
	}
	return fmt.Sprintf("check %q, parameter %q: %s", t.Template, t.Param, t.Why)
}

// Result is what one command did.
type Result struct {
	Command   Command
	ExitCode  int // -1 when it did not exit by itself
	TimedOut  bool
	Duration  time.Duration
	Output    []byte // the last part of stdout and stderr together
	Truncated bool   // Output lacks its beginning
	Err       error  // it could not be started or awaited
	Tests     *Tests // which tests passed and failed; nil unless the command names them
	Finding   Finding
	// Report is what the check's runners said of its tests; nil when they could not be
	// asked. Evidence compares it with the base; nil when the check failed anyway.
	Report   *Report
	Evidence *Evidence
	// Loaded are the modules that a hidden check has called.
	Loaded []string
}

// OK reports whether the check passed: it ended with exit code 0, and its tests do not say
// otherwise.
func (r Result) OK() bool {
	return r.Err == nil && !r.TimedOut && r.ExitCode == 0 && r.Finding != Unproven
}

// Exec runs one command to its end. When the timeout is over it ends the command
// and all that it started, and returns.
type Exec interface {
	Run(ctx context.Context, c Command, timeout time.Duration) Result
}

// Options are the limits of a run.
type Options struct {
	FastTimeout, SlowTimeout time.Duration // 0 means 90 s and 600 s
	Exec                     Exec
	Log                      io.Writer // nil for none; at most MaxLog bytes are written
	// Base is what RunBase found, one for each command; nil when every failure counts.
	// Excuse lets a failure pass that was there before: not when the change touches
	// what the commands are made of.
	Base   []Base
	Excuse bool
	// Prove holds a check that ended well, or fails as it did before, to what its tests say:
	// it sets Result.Evidence and gives what the end means then. nil believes the exit code.
	Prove func(ctx context.Context, r *Result, so Finding) Finding
	// Agreed is asked where nothing but missing tests speaks against a command; nil does not
	// agree.
	Agreed func(Result) bool
}
