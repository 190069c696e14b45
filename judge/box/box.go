package box

import (
	"context"
	"os"
	"syscall"

	"github.com/paxiom/relay/judge"
)

// Overlay is the name of the means "namespaces and overlay file systems".
const Overlay = "overlay"

// Spec says what a box is made of. All paths are absolute; symbolic links in them
// are resolved.
type Spec struct {
	// Root is the repository's work tree (or any folder): what the box protects
	// and what its layer is a layer of.
	Root string
	// GitDirs are git directories outside Root that belong to it: the common
	// directory of a linked worktree, the git directory of a submodule checkout.
	// See judge.Git.Outside. Each becomes an overlay of its own in the layer.
	GitDirs []string
	// Home is the user's home; "" means $HOME. What is written there is thrown
	// away when the process ends.
	Home string
	// StateDir is relay's own state, hidden from whatever runs in the box.
	StateDir string
	// Layer is the folder that takes the writes; it is made when absent and
	// mounted again when present. It must not be in use by two boxes at once.
	// Unused, and may be "", when ReadOnlyRoot is set.
	Layer string
	// Persist are files and folders of the agent (for example ~/.claude) that
	// stay writable for real. Those that do not exist are left out. None may
	// contain, or lie in, Root, a git directory or StateDir.
	Persist []string
	// Binds are shown at their own path, for example a plugin's socket folder;
	// they must exist. A writable one may lie in StateDir, never in Root.
	Binds []Bind
	// ReadOnlyRoot gives a box that cannot write Root at all, for providers.
	ReadOnlyRoot bool
}

// Bind is a real path that is shown in the box at the same place.
type Bind struct {
	Path     string
	Writable bool
}

// Proc is one process to run in a box.
type Proc struct {
	// Exe is executed when set, whatever its path now names; when nil, Argv[0] is
	// looked up in the box along the PATH of Env.
	Exe  *os.File
	Argv []string
	// Env is the whole environment. Variables that name sockets of other services
	// are taken out of it, and TMPDIR is set to a fresh folder.
	Env []string
	// Dir is the working directory; "" means Root.
	Dir string
	// Stdin, Stdout and Stderr may be nil for /dev/null. The caller keeps its
	// copies and closes them.
	Stdin, Stdout, Stderr *os.File
}

// ExitState says how the direct child ended.
type ExitState struct {
	// Code is the exit status; -1 when the child was ended by a signal.
	Code int
	// Signal ended the child; 0 when it exited by itself.
	Signal syscall.Signal
	// Killed: the box as a whole was ended, by Kill or by something outside, before
	// its direct child had.
	Killed bool
}

// OK says that the child exited by itself with status 0.
func (e ExitState) OK() bool { return e.Code == 0 && e.Signal == 0 && !e.Killed }

// Box is one prepared box. Its processes run one after another, never two at once.
type Box struct {
	spec Spec
}

// Init must be the first statement of main: it turns the process into pid 1 of a
// box, and never returns, when relay was executed by [Box.Start] for that. In any
// other process it does nothing.
func Init() {}

// New prepares a box and its layer; nothing is mounted until Start.
func New(spec Spec) (*Box, error) { return &Box{spec: spec}, nil }

// Start runs a process in the box. It returns when the process was executed, or
// with an *Error that says what could not be set up.
func (b *Box) Start(p Proc) (*Process, error) { return nil, &Error{Op: "start"} }

// Touched reads what was changed, from the layer alone, without following any link
// that was left there. No process may be running in the box. git is asked about
// ignored paths and the branch, on the real repository; nil leaves both unknown.
func (b *Box) Touched(ctx context.Context, git *judge.Git) (judge.Touched, error) {
	return judge.Touched{}, &Error{Op: "read"}
}

// Open opens the new content of a changed regular file, for reading.
func (b *Box) Open(path string) (*os.File, error) { return nil, os.ErrNotExist }

// Fresh prepares a second box, for verification: the real tree plus exactly the
// kept changes, copied into a new layer, and nothing else of this box.
func (b *Box) Fresh(layer string, kept []judge.Change) (*Box, error) {
	return nil, &Error{Op: "fresh"}
}

// Discard removes the layer, however hostile the tree in it. The box can't be used
// afterwards.
func (b *Box) Discard() error { return nil }

// Means names what contains the builder, for the report.
func (b *Box) Means() string { return Overlay }

// Gaps says, in one sentence each, what this box does not stop.
func (b *Box) Gaps() []string { return nil }

// Process is the direct child of a running box.
type Process struct{}

// Pid is the process id of the box's pid 1, as this process sees it.
func (p *Process) Pid() int { return 0 }

// Wait returns when the direct child has ended and every other process of the box
// with it. It may be called more than once.
func (p *Process) Wait() (ExitState, error) { return ExitState{}, nil }

// Kill ends every process of the box at once.
func (p *Process) Kill() {}
