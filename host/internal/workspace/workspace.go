package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/root"
	"github.com/paxiom/relay/judge"
)

// LockFile pins the plugins of a repository; see package catalog.
const LockFile = "relay.lock.json"

// DefaultDir is the workspace of a repository whose configuration names none.
const DefaultDir = ".relay"

// ConfigNames are the names that a repository's configuration file can have; the
// first that exists is read. They are relay's own, like the workspace.
func ConfigNames() []string {
	return []string{"relay.config.json", "relay.config.yaml", "relay.config.yml", "relay.config.toml", "relais.config.json"}
}

// Workspace is relay's folder in one repository.
type Workspace struct {
	root string   // absolute
	rel  string   // slash-separated
	own  []string // relay's own folders elsewhere below root, slash-separated
}

// Open names the workspace rel ("" means [DefaultDir]) of the repository at root. It
// touches nothing; Ensure makes the folder.
func Open(root, rel string) (*Workspace, error) {
	if rel == "" {
		rel = DefaultDir
	}
	if why := ValidRel(rel); why != "" {
		return nil, fault.New(judge.BlockedMissingConfig, "workspace_dir "+quote(rel)+" can't be used", why,
			"`relay config show --origin` says where it is set; \".relay\" is the usual value")
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	return &Workspace{root: abs, rel: rel}, nil
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

// FindRoot gives the root of the working tree that dir lies in; see [root.Find].
func FindRoot(dir string) (string, error) {
	at, err := root.Find(dir)
	switch {
	case errors.Is(err, root.ErrInside):
		return "", fault.New(judge.BlockedMissingConfig, "this is the inside of a .git folder", quote(dir)+" holds no working tree", "`cd "+fault.Word(at)+"`")
	case errors.Is(err, root.ErrNone):
		return "", fault.New(judge.BlockedMissingConfig, "not a git repository", "neither "+quote(at)+" nor a folder above it has a .git",
			"`git init` here, or `cd` to a repository, or name one with `-C DIR`")
	case err != nil:
		return "", fault.Wrap(err, judge.BlockedMissingConfig, "the folder "+quote(dir)+" can't be entered", "`cd` to a repository, or name one with `-C DIR`")
	}
	return at, nil
}

// What a team may commit is left visible to git; everything else is this machine's.
// The file ignores itself, so a clean repository stays clean.
const gitignore = gitignoreBefore + `!/pipeline/
/pipeline/*
!/pipeline/context.json
`

// gitignoreBefore is what relay wrote before there were pipelines.
const gitignoreBefore = `# Written by relay. Its run-time files belong to this machine; what is listed
# with "!" can be committed. To commit this file too, add a line "!/.gitignore".
/*
!/FACTS.md
!/prompts/
!/schemas/
`

// Ensure makes the folder and its .gitignore. A folder that holds something already
// is left as it is, but for a .gitignore that is an older relay's: its owner has decided
// what git sees of it, and relay's untracked files are no change. A link or a file in the folder's place is refused, since whoever
// made the repository could have put it there to send relay's writes elsewhere.
func (w *Workspace) Ensure() error {
	if err := w.MkdirAll(w.Dir()); err != nil {
		return err
	}
	d, err := os.Open(w.Dir())
	if err != nil {
		return writeFault(err, w.Dir(), judge.BlockedMissingConfig)
	}
	defer d.Close()
	if names, err := d.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return err
	} else if len(names) > 0 {
		old, err := ReadFile(w.path(".gitignore"), int64(len(gitignoreBefore)))
		if err != nil || string(old) != gitignoreBefore {
			return nil
		}
	}
	return WriteFile(w.path(".gitignore"), []byte(gitignore))
}

// MkdirAll makes dir, which lies in the workspace, and what is missing above it up
// to the repository's root. No component may be a symbolic link.
func (w *Workspace) MkdirAll(dir string) error {
	rel, err := filepath.Rel(w.root, dir)
	if err != nil || rel != filepath.FromSlash(w.rel) && !strings.HasPrefix(rel, filepath.FromSlash(w.rel)+"/") {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: errors.New("outside the workspace")}
	}
	at := w.root
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
			return fault.New(judge.BlockedMissingConfig, "relay's folder "+quote(at)+" can't be used", "there is a "+kindOf(fi.Mode())+" in its place, which relay does not follow",
				"`ls -ld "+fault.Word(at)+"`, then move it away")
		default:
			return writeFault(err, at, judge.BlockedMissingConfig)
		}
	}
	return nil
}

func (w *Workspace) path(name string) string {
	return filepath.Join(w.root, filepath.FromSlash(w.rel), name)
}

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

// Root is the repository's root; Dir the workspace as an absolute path; Rel the
// same relative to Root, with slashes.
func (w *Workspace) Root() string { return w.root }
func (w *Workspace) Dir() string  { return w.path("") }
func (w *Workspace) Rel() string  { return w.rel }

// The files and folders of the workspace, as absolute paths.
func (w *Workspace) State() string     { return w.path("STATE.json") }
func (w *Workspace) Task() string      { return w.path("TASK.json") }
func (w *Workspace) Report() string    { return w.path("REPORT.json") }
func (w *Workspace) ReportMD() string  { return w.path("REPORT.md") }
func (w *Workspace) Blocked() string   { return w.path("BLOCKED.json") }
func (w *Workspace) Facts() string     { return w.path("FACTS.md") }
func (w *Workspace) Stuck() string     { return w.path("stuck.json") }
func (w *Workspace) Stop() string      { return w.path("stop.json") }
func (w *Workspace) Lock() string      { return w.path("lock.json") }
func (w *Workspace) Usage() string     { return w.path("usage.jsonl") }
func (w *Workspace) UsageSums() string { return w.path("usage.sums.json") }
func (w *Workspace) Reserved() string  { return w.path("reserved.json") }
func (w *Workspace) Cycles() string    { return w.path("cycles") }
func (w *Workspace) Locks() string     { return w.path("locks") }
func (w *Workspace) Queue() string     { return w.path("queue.md") }
func (w *Workspace) History() string   { return w.path("history") }
func (w *Workspace) Journal() string   { return w.path("journal") }
func (w *Workspace) Logs() string      { return w.path("logs") }
func (w *Workspace) Prompts() string   { return w.path("prompts") }
func (w *Workspace) Schemas() string   { return w.path("schemas") }

// Kept are what of the workspace relay does not write in the course of a run: what a
// team may commit.
func (w *Workspace) Kept() []string {
	return []string{w.Facts(), w.Prompts(), w.Schemas(), w.path(".gitignore")}
}

// OwnedGlobs are the globs, relative to the repository's root, that only relay may
// write: the whole workspace, every name a configuration file can have, the file
// that pins plugins, and what was claimed. A workspace that is not the default one does not free the
// default's name, which a later tick could take for its own.
func (w *Workspace) OwnedGlobs() []string {
	owned := append([]string{w.rel, w.rel + "/**", LockFile}, ConfigNames()...)
	if w.rel != DefaultDir {
		owned = append(owned, DefaultDir, DefaultDir+"/**")
	}
	for _, dir := range w.own {
		owned = append(owned, dir, dir+"/**")
	}
	return owned
}
