package checkout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
)

// Keeper keeps the checkouts of one repository.
type Keeper struct {
	Git *git.Repo
	Dir string // of all repositories
	// Own is relay's folder, relative to the root. Only what git tracks of it is shown, and the
	// task that a driver may look for there.
	Own string
	// Smudge writes files of a commit below a folder as the user's filters (LFS) make them.
	Smudge func(ctx context.Context, commit string, paths []string, to string) error
}

// Tree is a kept checkout. Nobody else has it until it is released.
type Tree struct {
	Kept box.Kept
	// Git is the repository with the checkout as its work tree.
	Git *git.Repo
	// Index is the index of the checkout, which holds the commit.
	Index string
	// Submodules: some are shown as they are.
	Submodules bool
	lock       *os.File
}

// Release lets go of it. It may be called more than once, and of nil.
func (t *Tree) Release() {
	if t != nil && t.lock != nil {
		t.lock.Close()
		t.lock = nil
	}
}

const (
	// most is how many checkouts of a repository there can be at a time.
	most      = 64
	lockFile  = "lock"
	readyFile = "ready.json" // written last, and gone while anything else is written
	rootFile  = "root"
	treeDir   = "tree"
	gitDir    = "git" // of a repository whose git directory lies outside its root
)

// state is what a checkout was when it was last brought up to date.
type state struct {
	Boot    string            `json:"boot"`
	Git     string            `json:"git"` // the git directory: another one has another index
	Commit  string            `json:"commit"`
	Ignored []string          `json:"ignored"` // copied, or shown; folders end in "/"
	Filled  map[string]string `json:"filled"`  // what filters made, by path: git's name of what it was made of
}

// Can reports whether commits of a repository can be kept: its git directory is one, or that
// of a linked work tree in another one, and its refs are files.
func Can(g *git.Repo) bool {
	_, linked := below(g.GitDir, g.CommonDir)
	return (linked || g.GitDir == g.CommonDir) && len(g.Outside()) <= 1 && !isDir(filepath.Join(g.CommonDir, "reftable"))
}

// Take brings a checkout to a commit, on a branch ("" for none).
func (k *Keeper) Take(ctx context.Context, commit, branch string) (*Tree, error) {
	if !Can(k.Git) {
		return nil, fmt.Errorf("commits of %s can't be kept", k.Git.Root)
	}
	base := k.folder()
	for n := range most {
		slot := filepath.Join(base, strconv.Itoa(n))
		lock, err := lockSlot(slot)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			continue
		} else if err != nil {
			return nil, err
		}
		t, err := k.bring(ctx, slot, commit, branch)
		if err != nil {
			lock.Close()
			return nil, err
		}
		t.lock = lock
		return t, nil
	}
	return nil, fmt.Errorf("all of the %d checkouts below %s are in use", most, base)
}

// folder is where the checkouts of the repository lie.
func (k *Keeper) folder() string {
	sum := sha256.Sum256([]byte(k.Git.Root))
	return filepath.Join(k.Dir, hex.EncodeToString(sum[:8]))
}

func lockSlot(slot string) (*os.File, error) {
	if err := os.MkdirAll(slot, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(slot, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) { // it is being removed
		return nil, syscall.EWOULDBLOCK
	}
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	if here, err := os.Stat(f.Name()); err != nil || !same(here, f) { // it was just removed
		f.Close()
		return nil, syscall.EWOULDBLOCK
	}
	return f, nil
}

func same(here fs.FileInfo, f *os.File) bool {
	fi, err := f.Stat()
	return err == nil && os.SameFile(here, fi)
}

// bring brings one up to date; one that resists is remade.
func (k *Keeper) bring(ctx context.Context, slot, commit, branch string) (*Tree, error) {
	ready := filepath.Join(slot, readyFile)
	was := readState(ready)
	if was != nil && was.Git != k.Git.GitDir {
		was = nil
	}
	if err := os.Remove(ready); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for {
		if was == nil { // it never was whole, or is not known to have reached the disk
			for _, name := range []string{treeDir, gitDir} {
				if err := box.RemoveTree(filepath.Join(slot, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return nil, err
				}
			}
		}
		t, now, err := k.refresh(ctx, slot, was, commit, branch)
		if err != nil && was != nil && ctx.Err() == nil {
			was = nil
			continue
		}
		if err != nil {
			for _, name := range []string{treeDir, gitDir} { // nothing of it is of use, and the disk may be full
				box.RemoveTree(filepath.Join(slot, name))
			}
			return nil, fmt.Errorf("keep a checkout of %.12s in %s: %w", commit, slot, err)
		}
		text, err := json.Marshal(now)
		if err == nil {
			err = errors.Join(os.WriteFile(filepath.Join(slot, rootFile), []byte(k.Git.Root), 0o600), os.WriteFile(ready, text, 0o600))
		}
		return t, err
	}
}

// The largest state of a checkout, and the largest file of refs, in bytes: those of a million.
const (
	maxState = 256 << 20
	maxRefs  = 256 << 20
)

func readState(path string) *state {
	text, err := judge.ReadFile(path, maxState)
	s := &state{}
	if err != nil || json.Unmarshal(text, s) != nil || s.Boot == "" || s.Boot != box.BootID() || s.Commit == "" {
		return nil
	}
	return s
}

// refresher brings one checkout up to date.
type refresher struct {
	k      *Keeper
	git    *git.Repo // with the checkout as its work tree
	tree   string
	root   *os.Root // the same, for writing: no link leads out of it
	live   string
	index  string
	commit string
	was    *state // nil for a new one
	now    state
	files  []file // of the commit, by path
	shown  []string
	// submodules: some are shown.
	submodules bool
	dirty      bool // something was written that the index does not know
}

func (k *Keeper) refresh(ctx context.Context, slot string, was *state, commit, branch string) (*Tree, *state, error) {
	r := &refresher{k: k, tree: filepath.Join(slot, treeDir), live: k.Git.Root, commit: commit, was: was}
	r.now = state{Boot: box.BootID(), Git: k.Git.GitDir, Commit: commit, Filled: map[string]string{}}
	if err := os.MkdirAll(r.tree, 0o700); err != nil {
		return nil, nil, err
	}
	if fi, err := os.Stat(r.live); err == nil {
		os.Chmod(r.tree, fi.Mode().Perm())
	}
	t := &Tree{}
	to := filepath.Join(slot, gitDir)
	if rel, ok := below(k.Git.CommonDir, r.live); ok {
		to = filepath.Join(r.tree, rel)
	} else {
		t.Kept.GitDirs = []string{to}
	}
	own, err := r.copyGit(to, branch)
	if err != nil {
		return nil, nil, err
	}
	if fi, err := os.Lstat(filepath.Join(r.live, ".git")); err == nil && !fi.IsDir() { // it says where the git directory is
		if err := copyPlain(filepath.Join(r.live, ".git"), filepath.Join(r.tree, ".git")); err != nil {
			return nil, nil, err
		}
	}
	t.Index = filepath.Join(own, "index")
	os.Remove(t.Index + ".lock") // of a git that was ended
	r.index, r.git = t.Index, k.Git.At(r.tree, t.Index)
	if r.root, err = os.OpenRoot(r.tree); err != nil {
		return nil, nil, err
	}
	defer r.root.Close()
	if err = r.tracked(ctx); err == nil {
		err = r.ignored(ctx)
	}
	if err == nil {
		err = r.place()
	}
	t.Git, t.Kept.Root, t.Kept.Shown, t.Kept.Linked, t.Submodules = r.git, r.tree, r.shown, r.linked(), r.submodules
	return t, &r.now, err
}

// below gives the path of what lies in a folder, relative to it.
func below(path, dir string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel) && rel != "."
}

// Sweep removes the checkouts below dir that nobody has, of the repositories whose root is
// stale. each is called with the folder of one before it is removed; with dry nothing is
// removed.
func Sweep(dir string, stale func(root string) bool, dry bool, each func(path string)) (err error) {
	slots, _ := fs.Glob(os.DirFS(dir), "*/*")
	for _, name := range slots {
		slot := filepath.Join(dir, name)
		of, rerr := judge.ReadFile(filepath.Join(slot, rootFile), 64<<10)
		if rerr == nil && !stale(string(of)) {
			continue
		}
		lock, lerr := lockSlot(slot)
		if lerr != nil {
			continue
		}
		if each(slot); !dry {
			err = errors.Join(err, box.RemoveTree(slot))
			os.Remove(filepath.Dir(slot)) // unless another one is there
		}
		lock.Close()
	}
	return err
}
