package change

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/paxiom/relay/host/change/fault"
	"github.com/paxiom/relay/host/internal/checkout"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/judge/program"
)

// Filtering is where the programs run by which the user has git filter files (git-lfs,
// say): in a box like a check's, without network and without what a builder may write for
// real. On the host git runs none of them. What comes out of the box is bytes, and they
// are what is judged and committed.
type Filtering struct {
	StateDir, Home string
	// Means gives what contains them where the repository is; it is asked when there are any.
	Means   func(ctx context.Context, root string) (string, error)
	Environ []string
}

func (e Env) filtering() Filtering {
	means := e.Choose
	if e.Means != "" || means == nil {
		means = func(context.Context, string) (string, error) { return e.Means, nil }
	}
	return Filtering{StateDir: e.StateDir, Home: e.Home, Means: means, Environ: e.Environ}
}

// Checkouts is the folder of relay's state where commits are kept.
const Checkouts = "checkouts"

// Keeper keeps commits of a repository for boxes. own is relay's folder; see [checkout.Keeper]. It
// gives nil where boxes have to show the work tree itself:
// with weaker means, where it holds the user's home or relay's state, and where commits of
// such a repository can't be kept.
func (f Filtering) Keeper(g *git.Repo, means, own string) *checkout.Keeper {
	if means != box.Overlay || inside(f.Home, g.Root) || inside(f.StateDir, g.Root) || !checkout.Can(g) {
		return nil
	}
	return &checkout.Keeper{Git: g, Dir: filepath.Join(f.StateDir, Checkouts), Own: own,
		Smudge: func(ctx context.Context, commit string, paths []string, to string) error {
			return f.smudge(ctx, g, commit, paths, to)
		}}
}

// inside reports whether a path lies in a folder, or is it.
func inside(path, dir string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	rel, err := filepath.Rel(dir, path)
	return path != "" && err == nil && filepath.IsLocal(rel)
}

// maxFiltered bounds what all files that are filtered at a time come to, in bytes.
const maxFiltered = 1 << 30

// errFilter is a filter that failed, or said what can't be read.
var errFilter = errors.New("git's filters of the user failed in their box")

// Decide lets a status of g ask the filters what only they can tell. It gives g.
func (f Filtering) Decide(g *git.Repo) *git.Repo {
	g.Decide = f.decide
	return g
}

// Fill puts what the filters make of it in the place of what git has stored, in a work
// tree that was just checked out.
func (f Filtering) Fill(ctx context.Context, g *git.Repo) error {
	paths, err := g.Filtered(ctx)
	if err != nil || len(paths) == 0 {
		return err
	}
	return f.smudge(ctx, g, "HEAD", paths, g.Root)
}

// decide implements git.Repo.Decide.
func (f Filtering) decide(ctx context.Context, g *git.Repo, paths []string) (map[string]bool, error) {
	b, err := f.box(ctx, g)
	if err != nil {
		return nil, err
	}
	defer b.Discard()
	index, err := g.Indexed(ctx, paths)
	if err != nil {
		return nil, err
	}
	same := map[string]bool{}
	err = f.run(ctx, b, g, quotedList(paths), func(out io.Reader) error {
		r := bufio.NewScanner(out)
		for _, p := range paths {
			if !r.Scan() {
				return errFilter
			}
			same[p] = index[p].OID != "" && r.Text() == index[p].OID
		}
		return r.Err()
	}, `"$@" hash-object --stdin-paths`)
	if errors.Is(err, errFilter) { // without an answer they are changed
		return nil, nil
	}
	return same, err
}

// box makes a box of the repository as it is.
func (f Filtering) box(ctx context.Context, g *git.Repo) (*box.Box, error) {
	means, err := f.Means(ctx, g.Root)
	if err != nil {
		return nil, err
	}
	layer := filepath.Join(f.StateDir, "boxes", "filter-"+rand.Text()[:12])
	if err := os.MkdirAll(filepath.Dir(layer), 0o700); err != nil {
		return nil, err
	}
	return box.New(box.Spec{Means: means, Root: g.Root, GitDirs: g.Outside(), Home: f.Home, StateDir: f.StateDir, Layer: layer})
}

// clean gives what git would store of files in a box, in the order of paths.
func (f Filtering) clean(ctx context.Context, b *box.Box, g *git.Repo, paths []string) (blobs [][]byte, err error) {
	err = f.run(ctx, b, g, quotedList(paths), func(out io.Reader) error {
		r := bufio.NewReader(out)
		total := int64(0)
		for range paths {
			line, err := r.ReadSlice('\n') // "<name> blob <size>"
			words := strings.Fields(string(line))
			if err != nil || len(words) != 3 || words[1] != "blob" {
				return errFilter
			}
			size, err := strconv.ParseInt(words[2], 10, 64)
			if total += size; err != nil || size < 0 || total > maxFiltered {
				return errFilter
			}
			blob := make([]byte, size)
			if _, err := io.ReadFull(r, blob); err != nil {
				return errFilter
			}
			if end, err := r.ReadByte(); err != nil || end != '\n' {
				return errFilter
			}
			blobs = append(blobs, blob)
		}
		return nil
	}, `"$@" hash-object -w --stdin-paths | "$@" cat-file --batch`)
	return blobs, err
}

// smudge writes files of a commit below a folder as a checkout of it has them.
func (f Filtering) smudge(ctx context.Context, g *git.Repo, commit string, paths []string, to string) error {
	b, err := f.box(ctx, g)
	if err != nil {
		return err
	}
	defer b.Discard()
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[p] = true
	}
	return f.run(ctx, b, g, strings.Join(paths, "\x00")+"\x00", func(out io.Reader) error {
		total, r := int64(0), tar.NewReader(out)
		for {
			h, err := r.Next()
			if err == io.EOF && len(wanted) == 0 {
				return nil
			}
			if err != nil {
				return errFilter
			}
			name := strings.TrimPrefix(h.Name, "./")
			if h.Typeflag == tar.TypeDir {
				continue
			}
			if total += h.Size; h.Typeflag != tar.TypeReg || !wanted[name] || total > maxFiltered {
				return errFilter
			}
			delete(wanted, name)
			if err := writeBelow(root, name, fs.FileMode(h.Mode)&0o111|0o644, r); err != nil {
				return err
			}
		}
	}, `set -e
export GIT_INDEX_FILE="$TMPDIR/relay-index"
mkdir "$TMPDIR/relay-out"
"$@" read-tree `+commit+`
"$@" checkout-index -f -z --stdin --prefix="$TMPDIR/relay-out/"
exec tar -C "$TMPDIR/relay-out" --format=pax -cf - .`)
}

func writeBelow(root *os.Root, name string, mode fs.FileMode, from io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, from)
	return errors.Join(err, w.Close())
}

// quotedList is what git's --stdin-paths reads.
func quotedList(paths []string) string {
	var b strings.Builder
	for _, p := range paths {
		if strings.HasPrefix(p, `"`) {
			p = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p) + `"`
		}
		b.WriteString(p + "\n")
	}
	return b.String()
}

// run plays a shell script in a box, in which "$@" is git as the user has set it up, but
// for hooks and the like. What it prints is the builder's word, or a stranger's.
func (f Filtering) run(ctx context.Context, b *box.Box, g *git.Repo, stdin string, read func(io.Reader) error, script string) error {
	in, err := os.CreateTemp(f.StateDir, "filter-")
	if err != nil {
		return err
	}
	defer os.Remove(in.Name())
	defer in.Close()
	if _, err := in.WriteString(stdin); err != nil {
		return err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	pr, pw, err := os.Pipe()
	if err != nil {
		return err
	}
	defer pr.Close()
	er, ew, err := os.Pipe()
	if err != nil {
		return errors.Join(err, pw.Close())
	}
	defer er.Close()
	proc, err := b.Start(box.Proc{
		Argv: []string{"sh", "-c", script, "sh", "git", "-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never"},
		Env:  f.environ(g), Stdin: in, Stdout: pw, Stderr: ew,
		Confine: box.Confine{OwnNetwork: b.Means() == box.Overlay, Limits: box.Limits{Processes: 500}},
	})
	if err := errors.Join(pw.Close(), ew.Close()); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	said := make(chan []byte, 1)
	go func() {
		text, _ := io.ReadAll(io.LimitReader(er, 4<<10))
		io.Copy(io.Discard, er)
		said <- text
	}()
	ctx, cancel := context.WithTimeout(ctx, filterTime)
	defer cancel()
	stop := context.AfterFunc(ctx, proc.Kill)
	defer stop()
	rerr := read(pr)
	if rerr != nil {
		proc.Kill()
	}
	pr.Close()
	state, err := proc.Wait()
	text := strings.Join(strings.Fields(string(<-said)), " ")
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w: they did not end: %w", errFilter, ctx.Err())
	case err != nil:
		return err
	case rerr != nil || !state.OK():
		if !errors.Is(rerr, errFilter) {
			rerr = errors.Join(errFilter, rerr)
		}
		return &fault.Error{Kind: fault.Filter, Why: clip(text, 300), Err: rerr}
	}
	return nil
}

// filterTime is how long the filters may take for all files together.
const filterTime = insideTime * 10

// environ is what a filter gets of the environment.
func (f Filtering) environ(g *git.Repo) []string {
	env := []string{"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ATTR_NOSYSTEM=1", "LC_ALL=C.UTF-8"}
	path := "/usr/local/bin:/usr/bin:/bin"
	for _, kv := range f.Environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PATH":
			path = value
		case slices.Contains([]string{"HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "GIT_LFS_SKIP_SMUDGE"}, name):
			env = append(env, kv)
		}
	}
	env = append(env, "PATH="+program.Clean(path, g.Root))
	for _, s := range g.FilterSettings() { // as they were before the builder began, wherever they stand
		env = box.WithGitSetting(env, s[0], s[1])
	}
	return env
}

// clean gives what git stores of judged files, by the user's filters. They run in a box
// of the judged tree: a filter that is a script of the repository runs as judged.
func (c *Change) clean(ctx context.Context, paths []string) ([][]byte, error) {
	fresh, err := c.Fresh("filter", c.verdict.Kept)
	if err != nil {
		return nil, err
	}
	blobs, err := c.env.filtering().clean(ctx, fresh, c.env.Git, paths)
	return blobs, errors.Join(err, fresh.Discard())
}

// addFiltered takes files into the index by what the user's filters make of them.
func (l *lander) addFiltered(ctx context.Context, k *committer, entries map[string]*entry, paths []string) error {
	if l.clean == nil {
		return errors.New("there is no box for git's filters")
	}
	blobs, err := l.clean(ctx, paths)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(k.stage, "filtered-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var names bytes.Buffer
	for i, blob := range blobs {
		name := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(name, blob, 0o600); err != nil {
			return err
		}
		names.WriteString(name + "\n")
		e := entries[paths[i]]
		if m := pointer.FindSubmatch(blob); len(blob) <= maxPointer && m != nil && string(m[1]) == e.New.SHA256 {
			open := func() (io.ReadCloser, error) { return io.NopCloser(l.log.ImageReader(e.New.Image, e.New.Size)), nil }
			if err := storeObject(l.env.Git.LFS(), e.New.SHA256, open); err != nil {
				return err
			}
		}
	}
	out, err := k.write(ctx, nil, &names, "hash-object", "-w", "--no-filters", "--stdin-paths")
	if err != nil {
		return err
	}
	oids := strings.Fields(string(out))
	if len(oids) != len(paths) {
		return fmt.Errorf("git hash-object gave %d names for %d files", len(oids), len(paths))
	}
	var list strings.Builder
	for i, p := range paths {
		if _, err := objectName(l.env.Git, []byte(oids[i]+"\n")); err != nil {
			return err
		}
		fmt.Fprintf(&list, "%o %s\t%s\x00", gitMode(entries[p].New), oids[i], p)
	}
	_, err = k.write(ctx, []string{"GIT_INDEX_FILE=" + k.index}, strings.NewReader(list.String()), "update-index", "--add", "--replace", "-z", "--index-info")
	return err
}
