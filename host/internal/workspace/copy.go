package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge/git"
)

// copied are what of the state has a copy in the workspace: what people and scripts read.
// A folder is copied with all that is in it.
var copied = []string{"STATE.json", "TASK.json", "REPORT.json", "REPORT.md", "BLOCKED.json", "lock.json", "usage.jsonl", "queue.md",
	"logs", "cycles", "pipeline", "history"}

// marks are the files that are written last in a folder that belongs to one run, one cycle
// or one attempt: where they are the same, nothing else in the folder has changed.
var marks = []string{"meta.json", "report.json", "state.json", "trail.json"}

// private are names that no copy is made of, wherever they are.
func private(name string) bool {
	return strings.HasSuffix(name, TmpSuffix) || strings.HasSuffix(name, ".lock") || strings.Contains(name, ".damaged-") || name == "locks" || name == "calls" || name == "index.json"
}

// tracked are the paths below the workspace that git knows, as of one state of its index.
type tracked struct {
	sync.Mutex
	git   *git.Repo
	index time.Time
	paths map[string]bool
	// ignored: rules of the repository have git ignore the copies.
	ignored bool
}

// Publish brings the copies in the workspace up to date. A file that git tracks is left
// alone, a link or a special file is replaced and never followed. An error means that some
// copies are old; what relay knows is not touched by it.
func (w *Workspace) Publish() error {
	if _, err := os.Lstat(w.state); err != nil {
		return nil // nothing is known yet
	}
	w.known.Lock()
	defer w.known.Unlock()
	if err := w.findTracked(); err != nil {
		return err
	}
	if w.foreign() {
		return nil // no place for copies
	}
	if err := w.begin(); err != nil {
		return err
	}
	var problems []error
	for _, name := range copied {
		problems = append(problems, w.copy(name, true))
	}
	return errors.Join(problems...)
}

// Withdraw removes the copies of a file or folder of the state that is gone for good.
func (w *Workspace) Withdraw(path string) {
	w.known.Lock()
	defer w.known.Unlock()
	rel, err := filepath.Rel(w.state, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." || w.findTracked() != nil {
		return
	}
	if fi, err := os.Lstat(w.Shared()); err == nil && fi.IsDir() {
		w.drop(filepath.ToSlash(rel))
	}
}

// UseGit has an open repository asked what git tracks.
func (w *Workspace) UseGit(git *git.Repo) {
	w.known.Lock()
	defer w.known.Unlock()
	w.known.git = git
}

// findTracked asks git which files of the workspace it tracks, when its index has changed.
func (w *Workspace) findTracked() error {
	fi, err := os.Lstat(filepath.Join(filepath.Dir(w.state), "index"))
	if err != nil { // no commit yet, or no repository
		w.known.index, w.known.paths = time.Time{}, map[string]bool{}
		return nil
	}
	if w.known.paths != nil && w.known.index.Equal(fi.ModTime()) {
		return nil
	}
	if w.known.git == nil {
		if w.known.git, err = git.Open(context.Background(), w.root); err != nil {
			return err
		}
	}
	out, err := w.known.git.Run(context.Background(), nil, "--literal-pathspecs", "ls-files", "-z", "--", w.rel)
	if err != nil {
		return err
	}
	paths := map[string]bool{}
	for p := range bytes.SplitSeq(out, []byte{0}) {
		for at := string(p); at != "" && at != "."; at = filepath.Dir(at) {
			paths[at] = true // a folder with a tracked file is not removed, a link in its place not replaced
		}
	}
	w.known.index, w.known.paths = fi.ModTime(), paths
	return nil
}

// tracks says that git tracks what has this name in the workspace, or does on another
// branch, to which the operator could not switch with a copy in the way.
func (w *Workspace) tracks(rel string) bool {
	return w.known.paths[w.rel+"/"+rel] || rel == Memory
}

// Copied is where people find a file of the state, relative to the root: its copy, or the file itself
// where the repository has something of its own in the copy's place.
func (w *Workspace) Copied(name string) string {
	w.known.Lock()
	defer w.known.Unlock()
	if w.findTracked() == nil && (w.tracks(name) || w.foreign()) {
		if rel, err := filepath.Rel(w.root, w.path(name)); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return w.rel + "/" + name
}

// foreign reports whether the repository has a file or a link in the place of the workspace.
func (w *Workspace) foreign() bool {
	fi, err := os.Lstat(w.Shared())
	return err == nil && !fi.IsDir() && w.known.paths[w.rel]
}

// Memory is what finished tasks of a pipeline left for later ones: committed with the task
// list, and a file of their branch like that.
const Memory = "pipeline/context.json"

// CopyMemory puts the memory into a checkout that is on its branch, to be committed.
func (w *Workspace) CopyMemory() error {
	b, err := ReadFile(filepath.Join(w.state, Memory), maxCopied)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = mkdirAll(w.Shared(), filepath.Dir(Memory))
	}
	if err == nil {
		err = WriteScratch(filepath.Join(w.Shared(), Memory), b)
	}
	return err
}

// WithdrawMemory takes the memory out of a checkout again that has left its branch: git would not
// switch back over a file that it doesn't know.
func (w *Workspace) WithdrawMemory() {
	w.known.Lock()
	defer w.known.Unlock()
	if w.findTracked() == nil && !w.known.paths[w.rel+"/"+Memory] {
		_ = os.Remove(filepath.Join(w.Shared(), Memory))
	}
}

// begin makes the workspace and its .gitignore, also where a clone, or git clean, has left only
// what git tracks: git add would take all copies along. One that is there is its owner's, and so
// are rules elsewhere that have git ignore the copies.
func (w *Workspace) begin() error {
	if err := mkdirAll(w.root, w.rel); err != nil {
		return err
	}
	ignore := filepath.Join(w.Shared(), ".gitignore")
	if _, err := os.Lstat(ignore); err == nil || w.known.ignored || w.tracks(".gitignore") {
		return nil
	}
	if w.known.git != nil {
		var paths []string
		for _, name := range copied {
			paths = append(paths, w.rel+"/"+name)
		}
		ignored, err := w.known.git.CheckIgnore(context.Background(), paths)
		if w.known.ignored = slices.ContainsFunc(paths, func(p string) bool { return ignored[p] }); err != nil || w.known.ignored {
			return nil // where git fails, the copies are what people have to go by
		}
	}
	return WriteFile(ignore, []byte(gitignore))
}

// copy brings the copy of rel up to date. top: rel is one of copied, whose copy goes when
// it is gone.
func (w *Workspace) copy(rel string, top bool) error {
	from, to := filepath.Join(w.state, rel), filepath.Join(w.Shared(), rel)
	fi, err := os.Lstat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist) && top:
		if there, err := os.Lstat(to); err == nil && there.Mode().IsRegular() && !w.tracks(rel) {
			return os.Remove(to)
		}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return nil // it went meanwhile
	case err != nil:
		return err
	case fi.IsDir():
		return w.copyFolder(rel)
	case !fi.Mode().IsRegular() || w.tracks(rel) || same(rel, fi, to) || filepath.Base(rel) == "plan.md" && newer(to, fi):
		return nil
	}
	b, err := ReadFile(from, maxCopied)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrTooLarge) {
		return nil
	}
	if err == nil && isReport(rel) {
		b = w.formOf().fit(b)
	}
	if err == nil && isJSON(rel) {
		b = diag.Plain(b)
	}
	if err == nil {
		err = WriteScratch(to, b)
	}
	if err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, fi.ModTime())
}

// maxCopied is the largest file that is copied, in bytes; a larger one has no copy.
const maxCopied = 64 << 20

func isJSON(rel string) bool { return filepath.Ext(rel) == ".json" }

// same says that the copy is that of the file fi as it is now; that of JSON may be shorter.
func same(rel string, fi fs.FileInfo, to string) bool {
	there, err := os.Lstat(to)
	return err == nil && there.Mode().IsRegular() && (there.Size() == fi.Size() || isJSON(rel)) && there.ModTime().Equal(fi.ModTime())
}

// newer says that the operator has edited the copy, which he may do with a plan.
func newer(to string, fi fs.FileInfo) bool {
	there, err := os.Lstat(to)
	return err == nil && there.Mode().IsRegular() && there.ModTime().After(fi.ModTime())
}

func (w *Workspace) copyFolder(rel string) error {
	if w.unchanged(rel) {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(w.state, rel))
	if err != nil {
		return err
	}
	var problems []error
	if at, err := os.Lstat(filepath.Join(w.Shared(), rel)); err == nil && !at.IsDir() {
		if w.tracks(rel) {
			return nil
		}
		problems = append(problems, os.Remove(filepath.Join(w.Shared(), rel)))
	}
	if err := mkdirAll(w.Shared(), rel); err != nil {
		return errors.Join(append(problems, err)...)
	}
	var last []string // the marks, when the rest is there
	for _, e := range entries {
		switch name := e.Name(); {
		case private(name):
		case slices.Contains(marks, name):
			last = append(last, name)
		default:
			problems = append(problems, w.copy(rel+"/"+name, false))
		}
	}
	for _, name := range last {
		if errors.Join(problems...) == nil {
			problems = append(problems, w.copy(rel+"/"+name, false))
		}
	}
	return errors.Join(problems...)
}

// unchanged says that all marks of a folder, of which there is one, are the same in its copy.
func (w *Workspace) unchanged(rel string) bool {
	if !strings.HasPrefix(rel, "history/") {
		return false
	}
	found := false
	for _, m := range marks {
		fi, err := os.Lstat(filepath.Join(w.state, rel, m))
		if err != nil {
			continue
		}
		if found = true; !same(rel+"/"+m, fi, filepath.Join(w.Shared(), rel, m)) {
			return false
		}
	}
	return found
}

// drop removes the copy of rel, without what git tracks in it.
func (w *Workspace) drop(rel string) {
	at := filepath.Join(w.Shared(), rel)
	fi, err := os.Lstat(at)
	if err != nil || !fi.IsDir() {
		if err == nil && !w.tracks(rel) {
			_ = os.Remove(at) // a copy that stays does no harm
		}
		return
	}
	fd, err := unix.Open(at, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	d := os.NewFile(uintptr(fd), at)
	names, _ := d.Readdirnames(-1)
	d.Close()
	for _, name := range names {
		w.drop(rel + "/" + name)
	}
	_ = os.Remove(at)
}
