package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/paxiom/relay/host/diag"
)

// Kind is why a plugin could not be started.
type Kind string

// The kinds.
const (
	Absent    Kind = "missing"          // no such file
	Unsafe    Kind = "unsafe file"      // link, foreign owner, writable by others
	Differs   Kind = "checksum differs" // not the pinned file
	NotPlugin Kind = "not a plugin"     // can't be executed, or ends without a handshake
	Noise     Kind = "no handshake"     // prints something else first
	Mute      Kind = "mute"             // says nothing in time
	Elsewhere Kind = "foreign address"  // listens where relay does not connect
	Version   Kind = "protocol version" // speaks no version that relay speaks
	Crash     Kind = "crash at start"   // ends with an error before the handshake
	Cancelled Kind = "cancelled"        // by our context
	Machine   Kind = "machine"          // pipes, folders, the Starter
)

// Error is why a plugin could not be started, with the three parts that a person
// reads. Secrets are masked.
type Error struct {
	Kind           Kind
	What, Why, Fix string
	// Exit says how the process ended; "" when it was never started.
	Exit string
	// Panic and Stack are from standard error; Tail is its last lines.
	Panic, Stack, Tail string
	Err                error
}

// Error gives what, why and fix on one line.
func (e *Error) Error() string {
	s := e.What
	if e.Why != "" {
		s += ": " + e.Why
	}
	if e.Fix != "" {
		s += " (fix: " + e.Fix + ")"
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func (c *Config) reinstall() string {
	if c.Reinstall != "" {
		return c.Reinstall
	}
	return "`relay plugin list` shows each plugin's file and state; put back the file that was pinned"
}

// fileError is about the plugin's file, before anything was started.
func (c *Config) fileError(kind Kind, why string, err error) *Error {
	e := &Error{Kind: kind, Why: why, Fix: c.reinstall(), Err: err}
	switch kind {
	case Absent:
		e.What = fmt.Sprintf("plugin %s is not there", c.Name)
	case Differs:
		e.What = fmt.Sprintf("plugin %s is not the file that was pinned", c.Name)
	default:
		e.What = fmt.Sprintf("plugin %s was not started", c.Name)
	}
	return e
}

// execError is the answer of the kernel, or of a Starter, to the start itself.
func (c *Config) execError(err error) *Error {
	e := &Error{Kind: Machine, What: fmt.Sprintf("plugin %s could not be started", c.Name), Why: err.Error(),
		Fix: "`relay doctor` tests what this machine allows", Err: err}
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		e.Kind, e.Fix = NotPlugin, c.reinstall()
		e.What = fmt.Sprintf("plugin %s is not a program for this machine", c.Name)
		e.Why = fmt.Sprintf("the kernel does not know the format of %s; a script can't be a plugin", c.Path)
	case errors.Is(err, fs.ErrPermission):
		e.Fix = fmt.Sprintf("`chmod u+x %s`, if the file is meant to be a program", diag.Word(c.Path))
	}
	return e
}

// authorFix is for errors that only the plugin's author can mend.
const authorFix = "`relay plugin list` shows where the plugin comes from; report it to its author with this text if it happens again"

// startError says why no handshake came, from what was seen rather than from
// go-plugin's text.
func (r *runner) startError(ctxErr, cause error) *Error {
	c := &r.cfg
	e := &Error{Exit: r.exitText(), Tail: r.Tail(2 << 10), Err: cause}
	e.Panic, e.Stack = r.Panic()
	hs, line := r.handshake()
	switch {
	case ctxErr != nil:
		e.Kind, e.Err = Cancelled, ctxErr
		e.What = fmt.Sprintf("the start of plugin %s was canceled", c.Name)
		return e
	case hs == nil && line != "":
		e.Kind = Noise
		e.What = fmt.Sprintf("plugin %s printed something else before the handshake", c.Name)
		e.Why = fmt.Sprintf("its first line on standard output is %q", clip(c.Secrets.String(line), 160))
		e.Fix = "`relay plugin list` shows the file; its author must print to standard error instead, or it is not a relay plugin"
	case hs != nil && c.Versions[hs.version] == nil:
		v := c.otherVersion(hs.version)
		e.Kind, e.What, e.Why, e.Fix = v.Kind, v.What, v.Why, v.Fix
	case hs != nil && (hs.core != 1 || hs.protocol != "grpc"):
		e.Kind = NotPlugin
		e.What = fmt.Sprintf("plugin %s is a plugin of another kind", c.Name)
		e.Why = fmt.Sprintf("it offers %q over core protocol %d; relay speaks grpc over 1", hs.protocol, hs.core)
		e.Fix = c.reinstall()
	case r.refused.Load() != nil:
		e.Kind = Elsewhere
		e.What = fmt.Sprintf("plugin %s did not open a socket of its own", c.Name)
		e.Why = c.Secrets.String("it announced "+r.refused.Load().Error()) +
			"; relay connects only to a socket that the plugin itself makes in the folder that PLUGIN_UNIX_SOCKET_DIR names"
		e.Fix = authorFix
	case hs != nil && (e.Exit == "" || r.killed.Load()):
		e.Kind = Mute
		e.What = fmt.Sprintf("plugin %s announced itself, but relay could not connect to it", c.Name)
		e.Why = "it may be stopped or deadlocked"
		if !r.timedOut.Load() && cause != nil {
			e.Why = "the connection to its socket failed: " + c.Secrets.String(visible(cause.Error()))
		}
		e.Fix = authorFix
	case r.timedOut.Load():
		e.Kind = Mute
		e.What = fmt.Sprintf("plugin %s said nothing within %s", c.Name, c.StartTimeout)
		e.Why = "it was started and printed no handshake"
		e.Fix = authorFix
	case e.Exit == exitOK:
		e.Kind = NotPlugin
		e.What = fmt.Sprintf("plugin %s ended without a handshake", c.Name)
		e.Why = fmt.Sprintf("%s ended with status 0 and printed nothing; it is not a relay plugin, or could not open its socket", c.Path)
		e.Fix = c.reinstall()
	case strings.Contains(e.Tail, "This binary is a plugin."):
		e.Kind = NotPlugin
		e.What = fmt.Sprintf("plugin %s is a plugin of another program", c.Name)
		e.Why = "it did not know relay's handshake"
		e.Fix = c.reinstall()
	case e.Exit != "":
		e.Kind = Crash
		e.What = fmt.Sprintf("plugin %s crashed while it started: %s", c.Name, e.Exit)
		e.Why = e.Panic
		e.Fix = authorFix
	default:
		e.Kind = Machine
		e.What = fmt.Sprintf("plugin %s could not be reached", c.Name)
		e.Fix = "`relay doctor` tests what this machine allows"
		if cause != nil {
			e.Why = c.Secrets.String(cause.Error())
		}
	}
	tail := strings.Join(strings.FieldsFunc(e.Tail, func(r rune) bool { return r == '\n' || r == '\t' }), "; ")
	switch {
	case tail == "" || e.Kind == Noise:
	case e.Panic != "" && strings.HasPrefix(tail, e.Panic):
		e.Why = tail
	default:
		e.Why = strings.TrimPrefix(e.Why+"; it wrote: "+tail, "; ")
	}
	return e
}

// otherVersion is for a plugin that speaks no version of the protocol that we speak.
func (c *Config) otherVersion(speaks int) *Error {
	e := &Error{Kind: Version, What: fmt.Sprintf("plugin %s speaks relay protocol %d; this relay speaks %s", c.Name, speaks, c.versions()),
		Why: "the plugin is older than this relay supports",
		Fix: "`relay version` and `relay plugin list` show both versions; take a plugin of relay's age, or the relay that the plugin was made for"}
	if speaks > slices.Max(c.versionList()) {
		e.Why = "the plugin is newer than this relay"
	}
	return e
}

func (c *Config) versionList() []int {
	var list []int
	for v := range c.Versions {
		list = append(list, v)
	}
	slices.Sort(list)
	return list
}

func (c *Config) versions() string {
	var s []string
	for _, v := range c.versionList() {
		s = append(s, strconv.Itoa(v))
	}
	return strings.Join(s, ", ")
}

// handshakeLine is what a plugin says first: core|version|network|address|protocol|certificate.
type handshakeLine struct {
	core, version int
	protocol      string
}

// parseHandshake gives nil for a line that is not a handshake.
func parseHandshake(line string) *handshakeLine {
	parts := strings.Split(strings.TrimSpace(line), "|")
	if len(parts) < 4 {
		return nil
	}
	core, err1 := strconv.Atoi(parts[0])
	version, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil {
		return nil
	}
	hs := &handshakeLine{core: core, version: version, protocol: "netrpc"}
	if len(parts) > 4 {
		hs.protocol = parts[4]
	}
	return hs
}

// visible replaces what a terminal would obey: gRPC passes on what a plugin sent.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !strconv.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// clip cuts text to n bytes, on the right.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
