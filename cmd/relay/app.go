package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/cmd/relay/internal/screen"
	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
)

// app is what all commands share: the streams, the global flags, and the document
// that --json prints.
type app struct {
	in       io.Reader
	out, err io.Writer
	inTTY    bool
	outTTY   bool
	errTTY   bool
	size     func() (width, height int) // of the terminal on stderr or stdout; 0 is unknown
	getenv   func(string) string
	// foreground reports whether the terminal on stderr is ours just now; nil is always.
	foreground func() bool

	// Global flags.
	dir     string
	set     []string
	json    bool
	noInput bool
	noColor bool
	quiet   bool
	verbose bool
	ci      bool
	dev     []string // NAME=FILE
	attach  []string // NAME[=FILE]

	doc  any        // what --json prints
	repo *host.Repo // the one that the command has opened; nil before
}

// clock is the wall clock by which relay waits; nil is the machine's. A build for tests
// puts its own here.
var clock host.Clock

func newApp() *app {
	isTerminal := func(f *os.File) bool { _, _, ok := screen.Size(f); return ok }
	return &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv,
		inTTY: isTerminal(os.Stdin), outTTY: isTerminal(os.Stdout), errTTY: isTerminal(os.Stderr),
		size: func() (int, int) {
			w, h, ok := screen.Size(os.Stderr)
			if !ok {
				w, h, _ = screen.Size(os.Stdout)
			}
			return w, h
		},
		foreground: func() bool { return screen.Foreground(int(os.Stderr.Fd())) },
	}
}

// quit ends relay in the middle of its work. It waits no longer for a terminal than it takes to
// show one line: one that is stopped shows nothing.
func (a *app) quit(code int) {
	time.AfterFunc(time.Second/5, func() { os.Exit(code) })
	fmt.Fprintln(a.err, "relay was ended before it had cleaned up; the next run does that, or `relay recover` now")
	os.Exit(code)
}

// run executes one command line and gives the exit code.
func run(a *app, args []string) int {
	ctx, stop := host.Interrupt(context.Background(), a.quit)
	defer stop()
	out := &output{w: a.out}
	a.out = out
	root := newRootCmd(a)
	root.SetArgs(args)
	if completing(args) {
		completeRest(root)
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := host.AsInterrupted(ctx, a.execute(ctx, root), "the command", "`relay` says where things stand")
	a.json = a.json || err != nil && slices.Contains(args, "--json") // a wrong flag may come first
	code := exitCode(err)
	defer a.close()
	switch {
	case err == nil || errors.As(err, new(exit)):
	case out.err == nil || !errors.Is(err, out.err):
		a.fail(err, code)
	case gone(out.err):
		code = host.ExitDone
	}
	if a.json && a.doc != nil {
		_ = a.writeJSON() // out knows
	}
	if out.err != nil && !gone(out.err) {
		a.printer(a.err, a.errTTY).fault(&diag.Error{What: "this command's output could not be written", Why: out.err.Error(), Fix: "`df -h .` shows whether a disk is full; what the command did counts"})
		return host.ExitStopped
	}
	return code
}

// output is standard output. It remembers the first error: that is no failure of the
// command's.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (n int, err error) {
	if o.err == nil {
		n, o.err = o.w.Write(p)
	}
	return n, o.err
}

// outFile is the file of standard output, for programs that write there themselves; nil
// where it is none.
func (a *app) outFile() *os.File {
	w := a.out
	if o, ok := w.(*output); ok {
		w = o.w
	}
	f, _ := w.(*os.File)
	return f
}

// execute runs the command; a panic becomes an error, its stack is for --verbose.
func (a *app) execute(ctx context.Context, root *cobra.Command) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if a.verbose {
				a.printer(a.err, a.errTTY).write(string(debug.Stack()))
			}
			err = &diag.Error{What: "internal error: relay stopped", Why: fmt.Sprintf("panic: %v", r), Code: "STOP_INTERRUPTED",
				Fix: "the same command with `--verbose`, and report what it prints"}
		}
	}()
	return root.ExecuteContext(ctx)
}

// fail reports an error: as the document with --json, otherwise on stderr.
func (a *app) fail(err error, code int) {
	f := asFault(err)
	if a.json {
		a.doc = errorDoc{Doc: host.Doc{Kind: "relay.error", Version: 1}, ExitCode: code,
			Code: f.Code, What: f.What, Why: f.Why, Fix: f.Fix, PluginSays: f.Says}
		return
	}
	a.printer(a.err, a.errTTY).fault(f)
}

// errorDoc is the document of a command that failed.
type errorDoc struct {
	host.Doc
	ExitCode int       `json:"exit_code"`
	Code     host.Code `json:"code,omitempty"`
	What     string    `json:"what"`
	Why      string    `json:"why,omitempty"`
	Fix      string    `json:"next,omitempty"`
	// PluginSays is what a plugin suggests; relay does not vouch for it.
	PluginSays string `json:"plugin_says,omitempty"`
}

func (a *app) writeJSON() error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.doc); err != nil {
		return err
	}
	_, err := a.out.Write(host.PrintedJSON(b.Bytes()))
	return err
}

// open names the repository that the command works on.
func (a *app) open() (*host.Repo, error) {
	dir := cmp.Or(a.dir, ".")
	var err error
	if a.repo == nil {
		a.repo, err = host.Open(dir, host.Options{Set: a.set, Version: version().Version, Clock: clock, Unpinned: a.unpinned()})
	}
	return a.repo, err
}

// close lets go of the repository, when all is printed: telemetry that is still on its way
// keeps nobody from reading.
func (a *app) close() {
	if a.repo == nil {
		return
	}
	if lost := a.repo.Close(); lost != "" && !a.quiet {
		a.printer(a.err, a.errTTY).row("telemetry", "spans did not arrive: "+shorten(lost, 200))
	}
}

// path is a file or folder that a command was given, seen from where it works.
func (a *app) path(name string) string {
	if a.dir == "" || name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.dir, name)
}

// done ends a command with its error, or else with the document for --json or the text for people.
func (a *app) done(doc any, err error, text func(*printer)) error {
	if err != nil {
		return err
	}
	return a.end(host.ExitDone, doc, text)
}

// end is done for a command that did not fail, with an exit code of its own.
func (a *app) end(code int, doc any, text func(*printer)) error {
	a.doc = doc
	if !a.json {
		p := a.printer(a.out, a.outTTY)
		text(p)
		if p.err != nil && !gone(p.err) {
			return p.err
		}
	}
	if code != host.ExitDone {
		return exit{code}
	}
	return nil
}

// gone: the reader of the output wants no more of it, as head does, or the
// terminal was closed.
func gone(err error) bool { return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EIO) }

// exit is an outcome that was already shown: it only carries the exit code.
type exit struct{ code int }

func (exit) Error() string { return "" }

func exitCode(err error) int {
	var e exit
	switch {
	case errors.As(err, &e):
		return e.code
	case errors.As(err, new(usageError)):
		return host.ExitBlocked
	}
	return host.ExitCode(err)
}

// asFault gives what, why and fix for any error.
func asFault(err error) *diag.Error {
	if u, ok := errors.AsType[usageError](err); ok {
		return &diag.Error{What: u.what, Why: u.why, Fix: u.fix}
	}
	return diag.Internal(err)
}

// usageError is a command line that can't be understood.
type usageError struct{ what, why, fix string }

func (u usageError) Error() string { return u.what }

// interactive reports whether relay may ask a question.
func (a *app) interactive() bool {
	return !a.json && !a.noInput && a.inTTY && a.errTTY && a.getenv("CI") == ""
}

// agreed asks a question that only a yes answers; anything else is the error no.
func (a *app) agreed(p *printer, question string, no error) error {
	p.write(question + " [y/N] ")
	line, err := bufio.NewReader(io.LimitReader(a.in, 64<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) { // who ends the input says no
		return err
	}
	if s := strings.ToLower(strings.TrimSpace(line)); s != "y" && s != "yes" {
		return no
	}
	return nil
}

func (a *app) printer(w io.Writer, tty bool) *printer {
	p := newPrinter(w, a.colorOn(tty))
	p.tty = tty && a.capable()
	if p.tty && a.getenv("CI") == "" && a.size != nil {
		p.width, _ = a.size()
	}
	return p
}

// colorOn decides about color on one stream: the flag, then NO_COLOR, then
// CLICOLOR_FORCE, then whether it is a terminal that can.
func (a *app) colorOn(tty bool) bool {
	force := a.getenv("CLICOLOR_FORCE")
	switch {
	case a.noColor || a.getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return tty && a.capable()
}

// capable reports whether the terminal can do more than print lines.
func (a *app) capable() bool {
	t := a.getenv("TERM")
	return t != "" && t != "dumb"
}
