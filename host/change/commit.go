package change

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/paxiom/relay/judge/git"
)

// durable makes git flush what it writes: by default it trusts the file system with
// new objects, and a power failure could leave a branch that names a lost commit. Objects
// that are made together are flushed together.
var durable = []string{"-c", "core.fsync=committed", "-c", "core.fsyncMethod=batch"}

// write calls git for changing the repository.
func (e Env) write(ctx context.Context, env []string, stdin io.Reader, args ...string) ([]byte, error) {
	return e.Git.Write(ctx, env, stdin, append(slices.Clone(durable), args...)...)
}

// committer makes commits without touching the work tree, the index or any ref: in
// an index and a staging folder of its own.
type committer struct {
	env   Env
	stage string // folder with the files as they will be
	index string // copy of the real index
	from  string // that one; "" is the repository's
	// held is a file that every git has open which writes into the others: a git outlives
	// a relay that is killed.
	held     string
	heldFile *os.File // nil until the first git is called
}

func newCommitter(env Env, scratch string) *committer {
	return &committer{env: env, stage: scratch + ".stage", index: scratch + ".index", held: scratch + ".held"}
}

// write is Env.write for what goes into the scratch files.
func (k *committer) write(ctx context.Context, env []string, stdin io.Reader, args ...string) ([]byte, error) {
	if k.heldFile == nil {
		f, err := os.OpenFile(k.held, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		k.heldFile = f
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
			return nil, &fs.PathError{Op: "lock", Path: k.held, Err: err}
		}
	}
	e := k.env
	e.Git = e.Git.Holding(k.heldFile)
	return e.write(ctx, env, stdin, args...)
}

// quiet returns when no git of a run that was killed writes any more, or takes too long
// for that.
func (k *committer) quiet() {
	f, err := os.OpenFile(k.held, os.O_RDWR, 0)
	if err != nil {
		return // none was called
	}
	defer f.Close()
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(5 * time.Millisecond) {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			return
		}
	}
}

// remove takes the scratch files away.
func (k *committer) remove() error {
	err := os.RemoveAll(k.stage)
	if k.heldFile != nil {
		k.heldFile.Close()
		k.heldFile = nil
	}
	for _, name := range []string{k.index, k.index + ".lock", k.held} {
		if e := os.Remove(name); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// copyIndex starts from the real index: it is HEAD's tree with fresh stats, and
// knows what is sparse. Where nothing was ever added there is none, and git makes it.
func (k *committer) copyIndex() error {
	src, err := os.Open(cmp.Or(k.from, filepath.Join(k.env.Git.GitDir, "index")))
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.Remove(k.index); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(k.index, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// put lays one new file into the staging folder.
func (k *committer) put(e entry, content io.Reader) error {
	name := filepath.Join(k.stage, string(e.Path))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if e.New.link() {
		return os.Symlink(e.New.Link, name)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|e.New.Mode.Perm()&0o111)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// staged is the environment in which the staging folder is git's work tree.
func (k *committer) staged() []string {
	return []string{"GIT_DIR=" + k.env.Git.GitDir, "GIT_WORK_TREE=" + k.stage, "GIT_INDEX_FILE=" + k.index}
}

// add takes the paths from the staging folder into the index as git add would, but
// without any program that filters them.
func (k *committer) add(ctx context.Context, paths []string) error {
	_, err := k.write(ctx, k.staged(), nulList(paths), append([]string{"-C", k.stage}, takePaths...)...)
	return err
}

// takePaths is how git's index takes paths as they are on disk: what is there is added,
// in place of what has to go for it, and what is not is removed.
var takePaths = []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"}

// forIndex are the paths that the index is told of. Of those in a folder that a link
// takes the place of git hears with the link; behind it, it would not look.
func forIndex(entries []entry) []string {
	links := map[string]bool{}
	for _, e := range entries {
		links[string(e.Path)] = e.New.link()
	}
	behind := func(dir string) bool { return links[dir] }
	var paths []string
	for _, e := range entries {
		if !e.Ignored && !slices.ContainsFunc(parents(string(e.Path)), behind) {
			paths = append(paths, string(e.Path))
		}
	}
	return paths
}

// removalLine takes a path out of the index, as git update-index --index-info reads it.
func removalLine(git *git.Repo, path string) string {
	return fmt.Sprintf("0 %s\t%s\x00", strings.Repeat("0", hexLen(git.ObjectFormat)), path)
}

// writeTree makes a tree object of the index.
func (k *committer) writeTree(ctx context.Context) (string, error) {
	tree, err := k.write(ctx, []string{"GIT_INDEX_FILE=" + k.index}, nil, "write-tree")
	if err != nil {
		return "", err
	}
	return objectName(k.env.Git, tree)
}

// commit makes a commit of the index on top of parent.
func (k *committer) commit(ctx context.Context, parent string, m Message) (string, error) {
	tree, err := k.writeTree(ctx)
	if err != nil {
		return "", err
	}
	return commitTree(ctx, k.env, tree, parent, m)
}

// identity are the variables by which a user says who commits.
var identity = []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE", "EMAIL"}

// nobody is who commits where the user has no name that git takes.
var nobody = []string{"GIT_AUTHOR_NAME=relay", "GIT_AUTHOR_EMAIL=relay@localhost", "GIT_COMMITTER_NAME=relay", "GIT_COMMITTER_EMAIL=relay@localhost"}

// commitTree makes a commit object in the user's name; where the user has none for
// git, in relay's.
func commitTree(ctx context.Context, env Env, tree, parent string, m Message) (string, error) {
	var who []string
	for _, e := range env.Environ {
		name, value, _ := strings.Cut(e, "=")
		for _, known := range identity {
			if name == known && value != "" {
				who = append(who, e)
			}
		}
	}
	args := []string{"-c", "user.useConfigOnly=true", "commit-tree", tree, "-p", parent, "-F", "-"}
	text := m.text()
	out, err := env.write(ctx, who, strings.NewReader(text), args...)
	if fail, ok := errors.AsType[*git.Error](err); ok && (strings.Contains(fail.Stderr, "ident") || strings.Contains(fail.Stderr, "disallowed characters")) {
		out, err = env.write(ctx, append(slices.Clone(nobody), who...), strings.NewReader(text), args...)
	}
	if err != nil {
		return "", err
	}
	return objectName(env.Git, out)
}

// objectName reads the whole name of one object: git would take a part of it for the
// object as well.
func objectName(git *git.Repo, out []byte) (string, error) {
	name, ended := strings.CutSuffix(string(out), "\n")
	if b, err := hex.DecodeString(name); err != nil || !ended || len(b)*2 != hexLen(git.ObjectFormat) {
		return "", fmt.Errorf("git gave %q for the name of an object", clip(name, 80))
	}
	return name, nil
}

// treeChange is one line of git diff-tree.
type treeChange struct {
	oldMode, newMode int64 // octal, as git prints them; 0 is absent
	oldOID, newOID   string
	path             string
}

// diffTree compares two commits or trees.
func diffTree(ctx context.Context, git *git.Repo, from, to string) ([]treeChange, error) {
	out, err := git.Run(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", from, to)
	if err != nil {
		return nil, err
	}
	fields := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	if len(out) > 0 && (len(fields)%2 != 0 || out[len(out)-1] != 0) {
		return nil, errors.New("what git diff-tree printed is cut off")
	}
	var changes []treeChange
	for i := 0; i+1 < len(fields); i += 2 {
		// ":100644 100755 OLDOID NEWOID M"
		f := strings.Fields(strings.TrimPrefix(string(fields[i]), ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff-tree printed %q", fields[i])
		}
		c := treeChange{oldOID: f[2], newOID: f[3], path: string(fields[i+1])}
		c.oldMode, _ = strconv.ParseInt(f[0], 8, 32)
		c.newMode, _ = strconv.ParseInt(f[1], 8, 32)
		changes = append(changes, c)
	}
	return changes, nil
}

// gitMode is the mode that git stores for a side.
func gitMode(s side) int64 {
	switch {
	case !s.Exists:
		return 0
	case s.link():
		return 0o120000
	case s.Mode.Perm()&0o100 != 0:
		return 0o100755
	default:
		return 0o100644
	}
}

// nulList is what git's -z --stdin reads.
func nulList(paths []string) io.Reader {
	var b bytes.Buffer
	for _, p := range paths {
		b.WriteString(p)
		b.WriteByte(0)
	}
	return &b
}
