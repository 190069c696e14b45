package checkout

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/judge"
)

// What of a git directory is not copied: what is under way in the work tree, and what is
// relay's or of other work trees. Of relay's there is an empty folder, which a box hides.
//
// What the operator has in no commit of a branch has no name in a copy: of refs only those
// of gitRefs are there (no stash, no bisection, no tool's record of unsaved work), and no
// logs, which lead to amended commits and dropped stashes. The objects are still there for
// a builder that looks through all of them: to leave those out is to copy the others.
var (
	gitState   = []string{"index*", "sharedindex.*", "*.lock", "[A-Z]*_*", "addp-hunk-edit.diff", "gc.pid", "HEAD"} // MERGE_HEAD, COMMIT_EDITMSG, …
	gitWork    = []string{"rebase-merge", "rebase-apply", "sequencer", "rr-cache", "lost-found", "logs", "worktrees", "relay"}
	gitFolders = []string{"info", "hooks", "branches"} // copied; others are shown
	gitRefs    = []string{"heads", "tags", "remotes", "notes", "replace", "relay"}
)

// copyGit copies the git directory, on the branch at the commit, and gives the folder that
// has the index.
func (r *refresher) copyGit(to, branch string) (own string, err error) {
	common := r.k.Git.CommonDir
	if err := r.copyOneGit(common, to); err != nil {
		return "", err
	}
	own = to
	if rel, ok := below(r.k.Git.GitDir, common); ok { // a linked work tree
		own = filepath.Join(to, rel)
		if err := r.copyOneGit(r.k.Git.GitDir, own); err != nil {
			return "", err
		}
		if err := copyPlain(filepath.Join(common, "HEAD"), filepath.Join(to, "HEAD")); err != nil {
			return "", err
		}
	}
	head := r.commit + "\n"
	if branch != "" {
		head = "ref: refs/heads/" + branch + "\n"
		if err := writeRef(to, "refs/heads/"+branch, r.commit+"\n"); err != nil {
			return "", err
		}
	}
	return own, writeIfOther(filepath.Join(own, "HEAD"), head)
}

// writeRef writes a ref of a git directory. A link among its folders can lead out of it, to
// the operator's refs: nothing is written there.
func writeRef(dir, name, text string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if have, err := beneath.ReadFile(dir, name, 4<<10); err == nil && string(have) == text {
		return nil
	}
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	return root.WriteFile(name, []byte(text), 0o644)
}

// copyOneGit copies one git directory without what is under way, and has its large folders
// shown.
func (r *refresher) copyOneGit(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	there := map[string]bool{"HEAD": true, "index": true, "worktrees": true}
	for _, e := range entries {
		name := e.Name()
		src, dst := filepath.Join(from, name), filepath.Join(to, name)
		switch {
		case e.IsDir() && name == "relay":
			there[name], err = true, os.MkdirAll(dst, 0o700)
		case matches(gitState, name), slices.Contains(gitWork, name):
			continue
		case name == "refs":
			there[name], err = true, copyRefs(src, dst)
		case name == "packed-refs":
			there[name], err = true, copyPacked(src, dst)
		case slices.Contains(gitFolders, name) && isDir(src): // or a link to one, as of git-new-workdir
			there[name], err = true, mirror(src, dst)
		case e.IsDir():
			there[name], err = true, os.MkdirAll(dst, 0o755)
			r.shown = append(r.shown, src)
		default:
			there[name], err = true, copyPlain(src, dst)
		}
		if err != nil {
			return err
		}
	}
	return dropOthers(to, there)
}

// copyRefs copies those of the refs that are a repository's.
func copyRefs(from, to string) error {
	if fi, err := os.Lstat(to); err == nil && !fi.IsDir() {
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(to, 0o755); err != nil { // without it git sees no repository
		return err
	}
	there := map[string]bool{}
	for _, name := range gitRefs {
		if !isDir(filepath.Join(from, name)) {
			continue
		}
		if err := mirror(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return err
		}
		there[name] = true
	}
	return dropOthers(to, there)
}

// copyPacked copies those of the packed refs.
func copyPacked(from, to string) error {
	text, err := judge.ReadFile(from, maxRefs)
	if err != nil {
		return gone(err, to)
	}
	var kept strings.Builder
	keep := true
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "^") { // which says more of the ref before it
			_, ref, _ := strings.Cut(line, " refs/")
			first, _, named := strings.Cut(ref, "/")
			keep = strings.HasPrefix(line, "#") || named && slices.Contains(gitRefs, first)
		}
		if keep {
			kept.WriteString(line)
		}
	}
	return writeIfOther(to, kept.String())
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

func isFolder(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := filepath.Match(p, name); return ok })
}

func writeIfOther(path, text string) error {
	if have, err := judge.ReadFile(path, maxRefs); err == nil && string(have) == text {
		return nil
	}
	if fi, err := os.Lstat(path); err == nil && (fi.IsDir() || fi.Mode()&os.ModeSymlink != 0) {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// lines takes apart what git prints with -z.
func lines(out []byte) []string {
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}
