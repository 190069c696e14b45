package buildcache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
)

// Most is how large the caches of a repository may become, in bytes. Larger ones are thrown
// away before the next change.
const Most = 8 << 30

// Of says where the caches of a repository are. Its work trees share them.
type Of struct {
	Git     *git.Repo
	Dir     string // of all repositories
	Home    string
	Folders []string // relative to Home
}

// state is what is written beside the caches.
type state struct {
	Root   string `json:"root"`
	Boot   string `json:"boot"`   // of the machine: what is kept is not synced to the disk
	Commit string `json:"commit"` // the last whose checks added something; "" for none
	Bytes  int64  `json:"bytes"`
}

const (
	stateFile  = "state.json"
	lockFile   = "lock"
	foldersDir = "folders"
	stagedDir  = "staged"
)

// Caches are open for one change, and for no other.
type Caches struct {
	o     Of
	dir   string
	of    []box.Cache
	lock  *os.File
	stage string // what checks of the change wrote

	mu sync.Mutex
	n  int // of what was staged
}

// Open opens the caches for a change on a commit. What may not be used on it is thrown away
// first; while another change has them open, this one gets none.
func (o Of) Open(ctx context.Context, base, run string) (*Caches, error) {
	dir := folder(o.Dir, o.Git)
	lock, err := openLock(dir)
	if err != nil {
		return nil, err
	}
	c := &Caches{o: o, dir: dir, lock: lock, stage: filepath.Join(dir, stagedDir, run)}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = box.RemoveTree(filepath.Join(dir, stagedDir)) // of those that were killed
	}
	if now := read(dir); err == nil && (now.Root == "" || now.Boot != box.BootID() || now.Bytes > Most || !o.within(ctx, now.Commit, base)) {
		if err = box.RemoveTree(filepath.Join(dir, foldersDir)); err == nil {
			err = write(dir, state{Root: o.Git.Root, Boot: box.BootID()}, os.O_CREATE)
		}
	}
	for _, name := range o.Folders {
		kept := filepath.Join(dir, foldersDir, url.PathEscape(name))
		if err == nil {
			err = os.MkdirAll(kept, 0o700)
			c.of = append(c.of, box.Cache{Path: filepath.Join(o.Home, name), Kept: kept})
		}
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	return c, nil
}

// within reports whether a commit is part of the base; what git can't answer is none.
func (o Of) within(ctx context.Context, commit, base string) bool {
	if commit == "" || commit == base {
		return true
	}
	_, err := o.Git.Run(ctx, nil, "merge-base", "--is-ancestor", commit, base)
	return err == nil
}

// Folders are what the box of a check shows.
func (c *Caches) Folders() []box.Cache { return c.of }

// Add takes over what a check of a commit wrote: the folders go with Folders.
func (c *Caches) Add(commit string, written []string) { c.take(commit, [][]string{written}) }

// Stage puts aside what a check of the change wrote, for Keep.
func (c *Caches) Stage(written []string) {
	c.mu.Lock()
	c.n++
	dir := filepath.Join(c.stage, strconv.Itoa(c.n))
	c.mu.Unlock()
	for i, from := range written {
		to := filepath.Join(dir, strconv.Itoa(i))
		if os.MkdirAll(dir, 0o700) != nil || os.Rename(from, to) == nil {
			continue
		}
		merge(from, to, "") // another file system
	}
}

// Keep takes over what was staged: the change is this commit now.
func (c *Caches) Keep(commit string) {
	var all [][]string
	for n := range c.n {
		var written []string
		for i := range c.of {
			written = append(written, filepath.Join(c.stage, strconv.Itoa(n+1), strconv.Itoa(i)))
		}
		all = append(all, written)
	}
	c.take(commit, all)
}

// take moves new files to where they are kept, as part of a commit. A cache that lacks some
// is still a cache, so no error ends anything.
func (c *Caches) take(commit string, all [][]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := read(c.dir)
	if now.Root == "" {
		return // somebody forgot them
	}
	if !c.o.within(context.Background(), now.Commit, commit) { // the branch was reset under the change
		os.Remove(filepath.Join(c.dir, stateFile))
		return
	}
	now.Commit = commit
	if write(c.dir, now, 0) != nil { // first, so that what it adds never lacks its commit
		return
	}
	for _, written := range all {
		for i, from := range written {
			now.Bytes += merge(from, c.of[i].Kept, c.of[i].Path)
		}
	}
	write(c.dir, now, 0)
}

// Unstage forgets what was staged.
func (c *Caches) Unstage() {
	c.mu.Lock()
	defer c.mu.Unlock()
	box.RemoveTree(c.stage)
	c.n = 0
}

// Close lets go of the caches, and of what was staged.
func (c *Caches) Close() {
	box.RemoveTree(c.stage)
	c.lock.Close()
}

// merge moves the regular files below a folder into another one, and returns how large they
// are. What that or the user's own has already stays as it is.
func merge(from, to, own string) (moved int64) {
	filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() { // what can't be read is left
			return nil
		}
		rel := strings.TrimPrefix(path, from)
		at := filepath.Join(to, rel)
		if there(at) || own != "" && there(filepath.Join(own, rel)) {
			return nil
		}
		if err = os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return nil
		}
		info, err := e.Info()
		if err == nil && move(path, at) == nil {
			moved += max(info.Size(), 4<<10) // what a file takes at least
		}
		return nil
	})
	return moved
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// move renames a file, and copies it to another file system: under another name first, since
// half a file would be taken for a whole one.
func move(from, to string) error {
	if os.Rename(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(to), ".relay-")
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Chmod(info.Mode().Perm()), out.Close())
	if err == nil {
		err = os.Chtimes(out.Name(), info.ModTime(), info.ModTime())
	}
	if err == nil {
		err = os.Rename(out.Name(), to)
	}
	if err != nil {
		os.Remove(out.Name())
	}
	return err
}

// Forget throws the caches of a repository away. A change that has them open continues with
// them and adds nothing more.
func Forget(dir string, git *git.Repo) error { return remove(folder(dir, git)) }

// Sweep forgets the caches of the repositories whose root is stale. dry only names them.
func Sweep(dir string, stale func(root string) bool, dry bool, each func(path string)) (err error) {
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, one := range all {
		if held, _ := os.ReadDir(one); len(held) < 2 || !stale(read(one).Root) {
			continue // of one that was forgotten before its lock is there
		}
		if each(one); !dry {
			err = errors.Join(err, remove(one))
		}
	}
	return err
}

func remove(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := openLock(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err = os.Remove(filepath.Join(dir, stateFile)); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return err // a change continues with them, adds nothing, and the next one starts over
	}
	for _, name := range []string{foldersDir, stagedDir} {
		err = errors.Join(err, box.RemoveTree(filepath.Join(dir, name)))
	}
	return err
}

func folder(dir string, git *git.Repo) string {
	sum := sha256.Sum256([]byte(git.CommonDir))
	return filepath.Join(dir, hex.EncodeToString(sum[:8]))
}

func openLock(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
}

// read gives the state; the zero one where it can't be read.
func read(dir string) (s state) {
	text, err := judge.ReadFile(filepath.Join(dir, stateFile), 1<<20)
	if err != nil || json.Unmarshal(text, &s) != nil {
		return state{}
	}
	return s
}

// write replaces the state. Without os.O_CREATE it fails where there is none any more.
func write(dir string, s state, flag int) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, stateFile), os.O_WRONLY|os.O_TRUNC|flag, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
