package box

import (
	"os"
	"strconv"
	"syscall"
)

// Spec says what a box is made of. All paths are absolute; symbolic links in them
// are resolved.
type Spec struct {
	// Means is what contains the processes: Overlay, which is also what "" says,
	// Landlock or Copy. The last two show a copy of the repository: see Box.Dir.
	Means string
	// Required is the weakest means that is accepted; "" accepts any.
	Required string
	// Root is the repository's work tree (or any folder): what the box protects
	// and what its layer is a layer of.
	Root string
	// GitDirs are git directories outside Root that belong to it: the common
	// directory of a linked worktree, the git directory of a submodule checkout.
	// See git.Repo.Outside. Each becomes an overlay of its own in the layer.
	GitDirs []string
	// Main is the repository's main work tree where Root is another one of it, "" otherwise.
	// Means that watch the real repository watch it, too; no copy of it is shown.
	Main string
	// Kept, where it is set, is what is seen at Root and GitDirs instead of what lies there.
	// Only Overlay can do that.
	Kept *Kept
	// Home is the user's home; "" means $HOME. What is written there is thrown
	// away when the process ends.
	Home string
	// StateDir is relay's own state, hidden from whatever runs in the box.
	StateDir string
	// Layer is the folder that takes the writes; it is made when absent and
	// mounted again when present. It must not be in use by two boxes at once. It
	// lasts until it is discarded or the machine restarts; see Sync.
	// Unused, and may be "", when ReadOnlyRoot is set.
	Layer string
	// Persist are files and folders of the agent (for example ~/.claude) that
	// stay writable for real. Those that do not exist are left out. None may
	// contain, or lie in, Root, a git directory or StateDir.
	Persist []string
	// Binds are shown at their own path, for example a plugin's socket folder;
	// they must exist. A writable one may lie in StateDir, wherever that is, never
	// elsewhere in Root.
	Binds []Bind
	// Hide are files and folders of which no process of the box sees the content, such as
	// credentials; those that are not there are left out, and so is what the box is made
	// of. Nothing of them is hidden that Persist, or a bind, shows.
	Hide []Hidden
	// Busy are folders in Root that relay itself writes while the box is open, all but
	// what Watch names in them; means that watch the real repository leave them out.
	Busy, Watch []string
	// ReadOnlyRoot gives a box that cannot write Root at all, for providers.
	ReadOnlyRoot bool

	states []string // relay's state in git directories, hidden like StateDir
}

// Kept is a commit as relay keeps it: what lies in the work tree has no part in a box of it.
// Nobody writes there while the box is open.
type Kept struct {
	// Root is what is seen at Spec.Root, GitDirs what is seen at Spec.GitDirs.
	Root    string
	GitDirs []string
	// Shown are folders below Spec.Root or Spec.GitDirs that are seen as they are all the
	// same; in Kept, there is a folder at the place of each.
	Shown []string
	// Linked are folders elsewhere that links in it lead to, as a second work tree's
	// node_modules does. What is written there is thrown away.
	Linked []string
}

// Bind is a real path that is shown in the box at the same place.
type Bind struct {
	Path     string
	Writable bool
	// Hidden shows nothing there instead: what is read of the file is empty. Only
	// Overlay can do that.
	Hidden bool
	// Counted: what lies there is the box's own, and counts for its limits on disk.
	Counted bool
	// Shown takes the path out of what Spec.Hide hides, and changes nothing else.
	Shown bool
}

// Hidden is a file or folder that is shown empty, and can't be written.
type Hidden struct {
	Path string
	// Instead is what is read of a file.
	Instead []byte
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
	// Dir is the working directory; "" means Root. In a copy it is the folder that
	// stands for it.
	Dir string
	// Stdin, Stdout and Stderr may be nil for /dev/null. The caller keeps its
	// copies and closes them.
	Stdin, Stdout, Stderr *os.File
	// Confine says what else of the machine it and what it starts may use.
	Confine Confine
}

// ExitState says how the direct child ended.
type ExitState struct {
	// Code is the exit status; -1 when the child did not exit by itself.
	Code int
	// Signal ended the child; 0 when it exited by itself.
	Signal syscall.Signal
	// Killed: the box as a whole was ended, by Kill or by something outside, before
	// its direct child had.
	Killed bool
	// Exceeded is the limit for which the box was ended; nil when it kept to them.
	Exceeded *Exceeded
	// Left is how many processes still ran when the direct child had ended by itself;
	// they were ended then.
	Left int
}

// OK says that the child exited by itself with status 0.
func (e ExitState) OK() bool { return e.Code == 0 && e.Signal == 0 && !e.Killed && e.Exceeded == nil }

// Box is one prepared box. Its processes run one after another, never two at once;
// the layer is locked while one runs or it is read.
type Box struct {
	spec Spec
	// layer is where the writes go: spec.Layer, or a stand-in where that file
	// system can't hold it; "" with ReadOnlyRoot.
	layer string
	// caches are what Cache was given.
	caches []Cache
	// opened is when the layer was first opened, by the file system's clock.
	opened int64
	copied // empty for an overlay
}

// Cache is a folder of the home in which a box shows what lies in Kept above what lies at
// Path. What is written there goes into the layer: see Box.Cached.
type Cache struct {
	Path string // absolute; it need not be there
	Kept string // a folder
}

// Cache gives the processes that are started from now on these caches. Only Overlay has
// them; other means leave them out.
func (b *Box) Cache(caches []Cache) { b.caches = caches }

// Means names what contains the builder, for the report.
func (b *Box) Means() string { return b.spec.Means }

// Gaps says, in one sentence each, what this box does not stop.
func (b *Box) Gaps() []string {
	gaps := GapsOf(b.spec.Means)
	if name := strangersIn(b.spec.Root); name != "" && b.spec.Means == Overlay && !b.spec.ReadOnlyRoot {
		gaps = append(gaps, "Files of other users and groups, such as "+strconv.Quote(name)+", can't be changed in the box.")
	}
	for _, path := range b.spec.Persist {
		gaps = append(gaps, "What the builder writes to "+path+" stays.")
	}
	return gaps
}
