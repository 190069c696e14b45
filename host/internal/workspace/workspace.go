package workspace

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/root"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// LockFile pins the plugins of a repository; see package catalog.
const LockFile = "relay.lock.json"

// What steers workflows lies beside the configuration: the task list of pipelines, and what
// describes the services of audit cycles, all of them and each one.
const (
	TasksFile    = "prd.json"
	DefaultsName = "config/default"
	ServicesDir  = "config/services"
)

// DefaultDir is the workspace of a repository whose configuration names none.
const DefaultDir = ".relay"

// ConfigNames are the names that a repository's configuration file can have; the
// first that exists is read. They are relay's own, like the workspace.
func ConfigNames() []string {
	return []string{"relay.config.json", "relay.config.yaml", "relay.config.yml", "relay.config.toml", "relais.config.json"}
}

// StateName is the folder of relay's state in a git directory.
const StateName = "relay"

// Workspace is what relay keeps of one repository, in two places. What it believes lies in
// the git directory of the work tree, which no clone, archive or patch brings, which boxes
// hide, and which moves and goes with the repository. In the work tree are copies for
// people and scripts, which nothing reads back, and what the operator writes for relay.
type Workspace struct {
	root  string   // absolute
	rel   string   // slash-separated
	state string   // absolute
	own   []string // relay's own folders elsewhere below root, slash-separated
	known tracked
}

// Open names the workspace rel ("" means [DefaultDir]) of the repository at top. It
// touches nothing; Ensure makes the folder.
func Open(top, rel string) (*Workspace, error) {
	rel = cmp.Or(rel, DefaultDir)
	if why := ValidRel(rel); why != "" {
		return nil, diag.New(judge.BlockedMissingConfig, "workspace_dir "+quote(rel)+" can't be used", why,
			"`relay config show --origin` says where it is set; \".relay\" is the usual value")
	}
	abs, err := filepath.Abs(top)
	if err != nil {
		return nil, err
	}
	return &Workspace{root: abs, rel: rel, state: filepath.Join(root.GitDir(abs), StateName)}, nil
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// ValidRel says why rel can't be a workspace, or "". It must be a plain folder
// below the root: its name is used in patterns, so it holds none of their signs.
func ValidRel(rel string) string {
	if rel == "" || strings.HasPrefix(rel, "/") || len(rel) > 200 {
		return "it must be a folder below the repository's root, given relative to it"
	}
	for part := range strings.SplitSeq(rel, "/") {
		switch {
		case part == "." || part == "..":
			return "it must be a folder below the repository's root, without \".\" and \"..\""
		case strings.EqualFold(part, ".git"):
			return "git's own folder is not relay's"
		case strings.HasPrefix(part, "-") || !plainName.MatchString(part):
			return "its names may hold letters, digits, \".\", \"_\" and \"-\", and not begin with \"-\""
		}
	}
	return ""
}

// FindRoot gives the root of the working tree that dir lies in; see [root.Find]. What lies
// there is believed, so one of another user's is refused as git refuses it, and so is a state
// that is a link.
func FindRoot(dir string) (string, error) {
	at, err := root.Find(dir)
	switch {
	case errors.Is(err, root.ErrInside):
		return "", diag.New(judge.BlockedRepository, "this is the inside of a .git folder", quote(dir)+" holds no working tree", "`cd "+diag.Word(at)+"`")
	case errors.Is(err, root.ErrBare):
		return "", diag.Git(&git.Error{Kind: git.Bare, Dir: at})
	case errors.Is(err, root.ErrNone):
		return "", diag.New(judge.BlockedRepository, "not a git repository", "neither "+quote(at)+" nor a folder above it has a .git",
			"`git init` here, or `cd` to a repository, or name one with `-C DIR`")
	case err != nil:
		return "", diag.Wrap(err, judge.BlockedRepository, "the folder "+quote(dir)+" can't be entered", "`cd` to a repository, or name one with `-C DIR`")
	}
	gitDir := root.GitDir(at)
	if slices.ContainsFunc([]string{at, filepath.Join(at, ".git"), gitDir}, foreign) {
		if _, err := git.Open(context.Background(), at); err != nil {
			return "", diag.Git(err)
		}
	}
	state := filepath.Join(gitDir, StateName)
	if fi, err := os.Lstat(state); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		return "", diag.New(judge.BlockedRepository, "relay's state in git's folder is a link", state+" is what relay believes, and a link could lead to what somebody else wrote",
			"`rm "+diag.Word(state)+"` removes the link, and nothing that it leads to")
	}
	return at, nil
}

// What a team may commit is left visible to git; everything else is this machine's.
// The file ignores itself, so a clean repository stays clean.
const gitignore = `# Written by relay. Its run-time files belong to this machine; what is listed
# with "!" can be committed. To commit this file too, add a line "!/.gitignore".
/*
!/FACTS.md
!/prompts/
!/schemas/
!/pipeline/
/pipeline/*
!/pipeline/context.json
`

// lastName is the file of the state that names the workspace in use last, where that is or
// was another one than the usual.
const lastName = "workspace"

// OpenLast names the workspace that was in use last, for a run that has no configuration to
// ask: its report belongs where the others are.
func OpenLast(top string) (*Workspace, error) {
	usual, err := Open(top, "")
	if err != nil {
		return nil, err
	}
	if rel, err := ReadFile(filepath.Join(usual.state, lastName), 4096); err == nil {
		if last, err := Open(top, string(rel)); err == nil {
			return last, nil
		}
	}
	return usual, nil
}

// Used reports whether relay has ever kept anything of this repository.
func (w *Workspace) Used() bool {
	_, err := os.Lstat(w.state)
	return err == nil
}

// Ensure makes the folder of the state, which remembers the workspace for OpenLast.
func (w *Workspace) Ensure() error {
	if err := w.MkdirAll(w.Dir()); err != nil {
		return err
	}
	last := filepath.Join(w.state, lastName)
	if was, err := ReadFile(last, 4096); string(was) == w.rel || errors.Is(err, fs.ErrNotExist) && w.rel == DefaultDir {
		return nil
	}
	return WriteScratch(last, []byte(w.rel))
}

// MkdirAll makes dir, which lies in the state, and what is missing above it. No component
// of it may be a symbolic link.
func (w *Workspace) MkdirAll(dir string) error {
	top := filepath.Dir(w.state)
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel != StateName && !strings.HasPrefix(rel, StateName+"/") {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("outside of relay's state")}
	}
	return mkdirAll(top, rel)
}

// MkdirPrompts makes the folder of prompts in the work tree. No component of it may be a
// symbolic link.
func (w *Workspace) MkdirPrompts() error { return mkdirAll(w.root, w.rel+"/prompts") }

// mkdirAll makes the folder rel below top, which is made as well.
func mkdirAll(top, rel string) error {
	if err := os.MkdirAll(top, 0o755); err != nil {
		return writeFault(err, top, judge.BlockedRepository)
	}
	at := top
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		at = filepath.Join(at, part)
		err := os.Mkdir(at, 0o755)
		if err == nil {
			continue
		}
		fi, lerr := os.Lstat(at)
		switch {
		case lerr == nil && fi.IsDir():
		case lerr == nil:
			return diag.New(judge.BlockedRepository, "relay's folder "+quote(at)+" can't be used", "there is a "+kindOf(fi.Mode())+" in its place, which relay does not follow",
				"`ls -ld "+diag.Word(at)+"`, then move it away")
		default:
			return writeFault(err, at, judge.BlockedRepository)
		}
	}
	return nil
}

func (w *Workspace) path(name string) string { return filepath.Join(w.state, name) }

// Claim says which folders relay has for itself on this machine: its state, its plugins,
// the user's configuration. Where the home lies in the repository, or is it, they do too,
// and nobody else may write them.
func (w *Workspace) Claim(dirs ...string) {
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if rel, err := filepath.Rel(w.root, dir); err == nil && rel != "." && filepath.IsLocal(rel) {
			w.own = append(w.own, filepath.ToSlash(rel))
		}
	}
}

// Root is the repository's root; Dir the folder of the state; Shared that of the copies and
// of what the operator writes, and Rel the same relative to Root, with slashes.
func (w *Workspace) Root() string   { return w.root }
func (w *Workspace) Dir() string    { return w.state }
func (w *Workspace) Shared() string { return filepath.Join(w.root, filepath.FromSlash(w.rel)) }
func (w *Workspace) Rel() string    { return w.rel }

// The files and folders of the state, as absolute paths.
func (w *Workspace) State() string    { return w.path("STATE.json") }
func (w *Workspace) Task() string     { return w.path("TASK.json") }
func (w *Workspace) Report() string   { return w.path("REPORT.json") }
func (w *Workspace) ReportMD() string { return w.path("REPORT.md") }
func (w *Workspace) Blocked() string  { return w.path("BLOCKED.json") }
func (w *Workspace) Stuck() string    { return w.path("stuck.json") }
func (w *Workspace) Stop() string     { return w.path("stop.json") }
func (w *Workspace) Lock() string     { return w.path("lock.json") }
func (w *Workspace) Usage() string    { return w.path("usage.jsonl") }
func (w *Workspace) Reserved() string { return w.path("reserved.json") }
func (w *Workspace) Cycles() string   { return w.path("cycles") }
func (w *Workspace) Locks() string    { return w.path("locks") }
func (w *Workspace) Queue() string    { return w.path("queue.md") }
func (w *Workspace) History() string  { return w.path("history") }
func (w *Workspace) Journal() string  { return w.path("journal") }
func (w *Workspace) Logs() string     { return w.path("logs") }

// What the operator writes for relay, as absolute paths. Its readers use package beneath.
func (w *Workspace) Facts() string   { return filepath.Join(w.Shared(), "FACTS.md") }
func (w *Workspace) Prompts() string { return filepath.Join(w.Shared(), "prompts") }
func (w *Workspace) Schemas() string { return filepath.Join(w.Shared(), "schemas") }

// Kept are what of the workspace relay does not write in the course of a run: what a
// team may commit.
func (w *Workspace) Kept() []string {
	return []string{w.Facts(), w.Prompts(), w.Schemas(), filepath.Join(w.Shared(), ".gitignore")}
}

// Holds says that a path relative to the root is the workspace's, or lies in it.
func (w *Workspace) Holds(path string) bool {
	return path == w.rel || strings.HasPrefix(path, w.rel+"/")
}

// OwnedGlobs are the globs, relative to the repository's root, that only relay may
// write: the whole workspace, every name a configuration file can have, the file
// that pins plugins, what steers other workflows, and what was claimed. The judge takes
// them in every spelling that a file system may fold. A workspace that is not the default one does not free the
// default's name, which a later tick could take for its own.
func (w *Workspace) OwnedGlobs() []string {
	owned := []string{w.rel, w.rel + "/**", LockFile, "relay.config.*", "relais.config.*", TasksFile, DefaultsName + ".*", ServicesDir, ServicesDir + "/**"}
	if w.rel != DefaultDir {
		owned = append(owned, DefaultDir, DefaultDir+"/**")
	}
	for _, dir := range w.own {
		owned = append(owned, dir, dir+"/**")
	}
	return owned
}
