package checkout

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/judge/git"
)

// file is a tracked file of the commit.
type file struct{ mode, oid, path string }

const (
	regular   = "100644"
	runnable  = "100755"
	link      = "120000"
	submodule = "160000"
)

// settings keep git from writing the index in a way that needs other files, and have it
// look at every file, and closely.
var settings = []string{"-c", "core.splitIndex=false", "-c", "core.untrackedCache=false", "-c", "advice.detachedHead=false",
	"-c", "core.ignoreStat=false", "-c", "core.checkStat=default", "-c", "core.trustctime=true"}

func (r *refresher) write(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	return r.git.Write(ctx, nil, stdin, append(slices.Clone(settings), args...)...)
}

// tracked brings the files that git has to the commit. What is the same in the work tree is
// copied from there, with its time; the rest git writes.
func (r *refresher) tracked(ctx context.Context) error {
	sparse := r.k.Git.Sparse()
	if sparse { // what is left out stands in the index
		if err := os.Remove(r.index); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := copyPlain(filepath.Join(r.k.Git.GitDir, "index"), r.index); err != nil {
			return err
		}
		if err := r.unhide(ctx); err != nil {
			return err
		}
	}
	if r.was == nil || sparse {
		if _, err := r.write(ctx, nil, "read-tree", "--reset", r.commit); err != nil {
			return err
		}
		r.dirty = true
	}
	if r.was != nil && r.was.Commit != r.commit {
		if err := r.move(ctx); err != nil {
			return err
		}
	}
	files, err := r.list(ctx)
	if err != nil {
		return err
	}
	r.files = files
	if err := r.giveWay(); err != nil {
		return err
	}
	if err := r.copySame(ctx, files); err != nil {
		return err
	}
	if r.dirty {
		if err := r.rest(ctx, files); err != nil {
			return err
		}
	}
	for _, f := range files {
		if f.mode == submodule && isFolder(filepath.Join(r.live, f.path)) {
			r.submodules = true
			if err := r.show(f.path); err != nil {
				return fmt.Errorf("show %q: %w", f.path, err)
			}
		}
	}
	return nil
}

// unhide has git look at the files that the operator told it not to look at.
func (r *refresher) unhide(ctx context.Context) error {
	out, err := r.git.Run(ctx, nil, "ls-files", "-v", "-z")
	if err != nil {
		return err
	}
	var hidden []string
	for _, line := range lines(out) { // "h PATH"
		if tag, name, _ := strings.Cut(line, " "); tag != strings.ToUpper(tag) {
			hidden = append(hidden, name)
		}
	}
	if len(hidden) > 0 {
		_, err = r.write(ctx, nulList(hidden), "update-index", "--no-assume-unchanged", "-z", "--stdin")
	}
	return err
}

// move takes the index to the commit, and removes the files that it does not have.
func (r *refresher) move(ctx context.Context) error {
	out, err := r.git.Run(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=DT", r.was.Commit, r.commit)
	if err != nil {
		return err
	}
	for _, p := range lines(out) {
		if err := r.root.RemoveAll(p); err != nil {
			return err
		}
		for dir := path.Dir(p); dir != "." && r.root.Remove(dir) == nil; dir = path.Dir(dir) {
		}
	}
	_, err = r.write(ctx, nil, "read-tree", "-m", r.commit)
	r.dirty = true
	return err
}

// list gives the files of the index, but for those that a sparse checkout leaves out.
func (r *refresher) list(ctx context.Context) ([]file, error) {
	out, err := r.git.Run(ctx, nil, "ls-files", "-s", "-t", "-z")
	if err != nil {
		return nil, err
	}
	var files []file
	for _, line := range lines(out) { // "H 100644 OID 0\tPATH"
		about, name, _ := strings.Cut(line, "\t")
		tag, about, _ := strings.Cut(about, " ")
		mode, about, _ := strings.Cut(about, " ")
		oid, stage, _ := strings.Cut(about, " ")
		if stage != "0" {
			return nil, fmt.Errorf("git ls-files printed %q", line)
		}
		if tag != "S" {
			files = append(files, file{mode, oid, name})
		}
	}
	return files, nil
}

// copySame goes through the files that git has, several at a time.
func (r *refresher) copySame(ctx context.Context, files []file) error {
	var dirty atomic.Bool
	var wg sync.WaitGroup
	n := min(runtime.GOMAXPROCS(0), 8)
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() {
			at := folder{root: r.root}
			defer at.close()
			for _, f := range files[len(files)*i/n : len(files)*(i+1)/n] {
				if ctx.Err() != nil {
					errs[i] = ctx.Err()
					return
				}
				wrote, err := r.same(f, at.lstat(f.path))
				if wrote {
					dirty.Store(true)
				}
				if err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	r.dirty = r.dirty || dirty.Load()
	return errors.Join(errs...)
}

// folder is the folder below a root that the last file looked at lies in: it stays open for
// the next one, since to open it again for each of 100,000 files takes a second.
type folder struct {
	root, open *os.Root
	name       string
}

// lstat is nil for what is not there.
func (d *folder) lstat(file string) fs.FileInfo {
	if name := path.Dir(file); d.open == nil || d.name != name {
		d.close()
		open, err := d.root.OpenRoot(name)
		if err != nil {
			return nil
		}
		d.name, d.open = name, open
	}
	fi, err := d.open.Lstat(path.Base(file))
	if err != nil {
		return nil
	}
	return fi
}

func (d *folder) close() {
	if d.open != nil {
		d.open.Close()
		d.open = nil
	}
}

// same makes one file what it is in the work tree, if that is what git has. kept is what the
// checkout has, nil for nothing. It reports whether the index has to look at it again.
func (r *refresher) same(f file, kept fs.FileInfo) (wrote bool, err error) {
	if f.mode != regular && f.mode != runnable {
		return kept == nil, nil
	}
	live, err := os.Lstat(filepath.Join(r.live, f.path))
	there, usable := kept != nil && kept.Mode().IsRegular(), err == nil && live.Mode().IsRegular()
	switch {
	case there && usable && sameTime(kept, live) && (kept.Mode()^live.Mode())&0o100 == 0:
		if kept.Mode().Perm() == live.Mode().Perm() {
			return false, nil
		}
		return true, r.root.Chmod(f.path, live.Mode().Perm())
	case usable && (live.Mode()&0o100 != 0) == (f.mode == runnable) && r.hasBlob(f, live.Size()):
		return true, r.copy(f, live)
	case !there:
		return true, nil
	case usable && live.Size() == kept.Size() && r.equal(f.path):
		// Git itself converted it; it is what a checkout has.
		return true, r.root.Chtimes(f.path, time.Time{}, live.ModTime())
	}
	// What was made of the operator's version is not of this one: it has to be newer. Git writes it
	// again, since how it converts files may have changed; what a filter made stays.
	if r.was != nil && r.was.Filled[f.path] == f.oid {
		now := time.Now()
		return true, r.root.Chtimes(f.path, now, now)
	}
	return true, r.root.Remove(f.path)
}

// hasBlob reports whether the work tree's file is byte for byte what git has.
func (r *refresher) hasBlob(f file, size int64) bool {
	in, err := beneath.Open(r.live, f.path)
	if err != nil {
		return false
	}
	defer in.Close()
	return blobName(in, size, len(f.oid)) == f.oid
}

// blobName is git's name of a file's content.
func blobName(in io.Reader, size int64, length int) string {
	var h hash.Hash = sha1.New()
	if length > 40 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	if _, err := io.Copy(h, in); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// copy takes a file from the work tree.
func (r *refresher) copy(f file, fi fs.FileInfo) error {
	in, err := beneath.Open(r.live, f.path)
	if err != nil {
		return gone(err, filepath.Join(r.tree, f.path))
	}
	defer in.Close()
	if err := r.root.MkdirAll(path.Dir(f.path), 0o755); err != nil {
		return err
	}
	if err := r.root.RemoveAll(f.path); err != nil {
		return err
	}
	out, err := r.root.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Chmod(fi.Mode().Perm())
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return r.root.Chtimes(f.path, time.Time{}, fi.ModTime())
}

// equal compares a file with that of the work tree.
func (r *refresher) equal(name string) bool {
	x, err := r.root.Open(name)
	if err != nil {
		return false
	}
	defer x.Close()
	y, err := beneath.Open(r.live, name)
	if err != nil {
		return false
	}
	defer y.Close()
	const piece = 64 << 10
	var p, q [piece]byte
	for {
		n, errX := io.ReadFull(x, p[:])
		m, errY := io.ReadFull(y, q[:])
		if !bytes.Equal(p[:n], q[:m]) {
			return false
		}
		if errX != nil || errY != nil {
			return n == m && errX == errY
		}
	}
}

// rest has git look at the files again, and write those that are not what it has.
func (r *refresher) rest(ctx context.Context, files []file) error {
	differ, err := r.differ(ctx)
	if err != nil {
		return err
	}
	// The commit's attributes say which files a filter stands for.
	attributes := slices.DeleteFunc(slices.Clone(differ), func(p string) bool { return path.Base(p) != ".gitattributes" })
	if err := r.checkOut(ctx, attributes); err != nil {
		return err
	}
	filtered, err := r.git.Filtered(ctx)
	if err != nil || len(differ)+len(filtered) == 0 { // nothing is left to be written
		return err
	}
	differ = slices.DeleteFunc(differ, func(p string) bool { return slices.Contains(filtered, p) })
	if err := r.checkOut(ctx, differ); err != nil {
		return err
	}
	if err := r.filter(ctx, files, filtered); err != nil {
		return err
	}
	again, err := r.differ(ctx)
	if err != nil {
		return err
	}
	for _, p := range again {
		if !slices.Contains(filtered, p) {
			return fmt.Errorf("%q is not what git has", p)
		}
	}
	return nil
}

// checkOut has git write files as a checkout does.
func (r *refresher) checkOut(ctx context.Context, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	if _, err := r.write(ctx, nulList(paths), "checkout-index", "-f", "-u", "-z", "--stdin"); err != nil {
		return err
	}
	return r.takeTimes(paths)
}

// differ are the files that differ from the index, once git has looked at them.
func (r *refresher) differ(ctx context.Context) ([]string, error) {
	_, err := r.write(ctx, nil, "update-index", "--ignore-submodules", "--refresh")
	if fail, ok := errors.AsType[*git.Error](err); err == nil || !ok || fail.Exit != 1 { // 1: some do
		return nil, err
	}
	out, err := r.git.Run(ctx, nil, append(slices.Clone(settings), "diff-files", "-z", "--name-only", "--ignore-submodules=all")...)
	return lines(out), err
}

// takeTimes gives files the times that they have in the work tree where they are the same
// there.
func (r *refresher) takeTimes(paths []string) error {
	for _, p := range paths {
		live, err := os.Lstat(filepath.Join(r.live, p))
		if err != nil || !live.Mode().IsRegular() || !r.equal(p) {
			continue
		}
		if err := r.root.Chtimes(p, time.Time{}, live.ModTime()); err != nil {
			return err
		}
	}
	return nil
}

// nulList is what git's -z --stdin reads.
func nulList(paths []string) io.Reader {
	return strings.NewReader(strings.Join(paths, "\x00") + "\x00")
}
