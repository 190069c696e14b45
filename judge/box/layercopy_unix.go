//go:build linux || darwin

package box

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box/internal/tree"
)

// The layer of a box of copies holds, besides what layer says:
//
//	at/PATH       the copy of the folder PATH; what lies beside it is linked, so that
//	              relative paths lead where they should
//	vault/PATH    another one that nothing works in, where writing is not prevented
//	tables        what the folders and their copies looked like
//	run/NAME      home and temporary folder of a process that runs
const (
	layerAt     = "at"
	layerVault  = "vault"
	layerTables = "tables"
	layerRun    = "run"
)

// copied is what a box of copies knows besides.
type copied struct {
	made  []traces // the copies, when they were made
	vault *vault   // of the real folders
	// checks: it is a box for verification, whose writes are thrown away.
	checks bool
	broken error // what could not be put back
}

// tables is the file of that name.
type tables struct {
	Made  []traces
	Vault *vault
}

// copies says that the box shows copies.
func (b *Box) copies() bool { return b.spec.Means != Overlay && !b.spec.ReadOnlyRoot }

// Dir is where Root is seen in the box.
func (b *Box) Dir() string {
	if b.copies() {
		return b.upper(0)
	}
	return b.spec.Root
}

// PutBack are the changes of the real repository that were found and undone, one line
// each; empty where it can't be changed.
func (b *Box) PutBack() []string {
	if b.vault == nil {
		return nil
	}
	return b.vault.Found
}

// copyOf is where the copy of a folder lies.
func (b *Box) copyOf(folder string) string { return filepath.Join(b.layer, layerAt, folder) }

// makeCopies copies the real folders.
func (b *Box) makeCopies() error {
	ctx, of := context.Background(), b.lowers() // the vault has them at the same places
	own := b.vault == nil
	if own {
		b.vault = &vault{Of: of, Busy: slices.Concat(b.spec.Busy, b.spec.states, []string{b.spec.StateDir}), Watch: b.spec.Watch,
			Aside: filepath.Join(b.spec.StateDir, "put-back", filepath.Base(b.spec.Layer))}
	}
	v := b.vault
	for i, from := range of {
		c, err := copyTree(ctx, from, b.copyOf(from), func(rel string) bool { return b.unseen(i, rel) })
		if err != nil {
			return copyError(from, err)
		}
		b.made = append(b.made, c.made)
		if own {
			v.Base, v.Real = append(v.Base, maps.Clone(c.real)), append(v.Real, c.real)
		}
	}
	if own && b.spec.Means == Copy {
		v.Dir = filepath.Join(b.layer, layerVault)
		for i, from := range of {
			c, err := copyTree(ctx, from, v.place(i), func(rel string) bool { return v.skips(i, rel) })
			if err != nil {
				return copyError(from, err)
			}
			v.Kept = append(v.Kept, c.made)
		}
	}
	if own && b.spec.Main != "" {
		if err := v.add(ctx, b.spec.Main); err != nil {
			return copyError(b.spec.Main, err)
		}
	}
	b.linkBeside()
	b.rewriteLinks()
	settleClock()
	return b.saveTables()
}

func copyError(from string, err error) error {
	e := &Error{Op: "copy", Path: from, Err: err}
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		e.Why, e.Fix = "the disk of relay's state is full, and this machine's box needs a copy of the repository", "`df -h` shows the disks; XDG_STATE_HOME names another folder"
	}
	return e
}

// unseen reports whether a path of the i-th folder is left out of the copy.
func (b *Box) unseen(i int, rel string) bool {
	of := b.lowers()
	full := filepath.Join(of[i], rel)
	return slices.Contains(b.spec.states, full) || tree.Within(full, b.spec.StateDir) || tree.Within(full, b.layer) ||
		slices.ContainsFunc(of, func(dir string) bool { return dir != of[i] && dir == full })
}

// linkBeside makes links to what lies beside the copied folders and those above them.
func (b *Box) linkBeside() {
	const most = 1000 // a folder with more is no project's
	for _, of := range b.lowers() {
		for dir := filepath.Dir(of); ; dir = filepath.Dir(dir) {
			entries, err := os.ReadDir(dir)
			if err == nil && len(entries) <= most {
				for _, e := range entries {
					full := filepath.Join(dir, e.Name())
					if !tree.Within(b.layer, full) { // or a search from there would never end
						os.Symlink(full, b.copyOf(full)) // fails where a copy is
					}
				}
			}
			if dir == "/" {
				break
			}
		}
	}
}

// rewriteLinks lets the files by which git's folders refer to one another lead from
// copy to copy.
func (b *Box) rewriteLinks() {
	for i, top := range b.lowers() {
		b.rewrite(i, ".git", "gitdir: ")
		for at := range b.made[i] {
			switch ok, _ := filepath.Match("worktrees/*/gitdir", at); {
			case ok, at == "commondir":
				b.rewrite(i, at, "")
			case at == "objects/info/alternates", at == ".git/objects/info/alternates":
				b.absolute(i, at, filepath.Join(top, filepath.Dir(filepath.Dir(at))))
			}
		}
	}
}

// rewrite turns the absolute path of a copied folder, after a prefix, into its copy's.
func (b *Box) rewrite(i int, at, prefix string) {
	if b.made[i][at].kind() != unix.S_IFREG {
		return
	}
	text, _ := judge.ReadFile(filepath.Join(b.upper(i), at), maxPath)
	path, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), prefix)
	if !ok || !filepath.IsAbs(path) {
		return
	}
	path = tree.RealPath(path)
	for _, of := range b.lowers() {
		if tree.Within(path, of) {
			b.overwrite(i, at, prefix+b.copyOf(path)+"\n")
			return
		}
	}
}

// absolute makes relative lines absolute: they are relative to a real folder, of which
// there is no copy.
func (b *Box) absolute(i int, at, to string) {
	text, err := judge.ReadFile(filepath.Join(b.upper(i), at), 1<<20)
	if err != nil {
		return
	}
	lines := strings.Split(string(text), "\n")
	for n, line := range lines {
		if line != "" && line[0] != '#' && !filepath.IsAbs(line) {
			lines[n] = filepath.Join(to, line)
		}
	}
	b.overwrite(i, at, strings.Join(lines, "\n"))
}

func (b *Box) overwrite(i int, at, text string) {
	dir, name, err := openParent(b.upper(i), at)
	if err != nil {
		return
	}
	defer unix.Close(dir)
	was := b.made[i][at]
	os.WriteFile(filepath.Join(b.upper(i), at), []byte(text), 0)
	setTimes(dir, name, was.MTime)
	b.made[i][at], _ = lookAt(dir, name)
}

func realPaths(paths []string) (out []string) {
	for _, path := range paths {
		out = append(out, tree.RealPath(path))
	}
	return out
}

// saveTables writes the tables, for a later process of relay.
func (b *Box) saveTables() error {
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(tables{b.made, b.vault}); err != nil {
		return err
	}
	name := filepath.Join(b.layer, layerTables)
	if err := os.WriteFile(name+".new", out.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// loadTables reads what an earlier box wrote.
func (b *Box) loadTables() error {
	if b.made != nil {
		return nil
	}
	t, err := readTables(b.layer)
	if err != nil {
		return &Error{Op: "open the layer", Path: b.layer, Err: err}
	}
	if b.made = t.Made; b.vault == nil {
		b.vault = t.Vault
	}
	return nil
}

func readTables(layer string) (t tables, err error) {
	text, err := judge.ReadFile(filepath.Join(layer, layerTables), maxTables)
	if err == nil {
		err = gob.NewDecoder(bytes.NewReader(text)).Decode(&t)
	}
	if err == nil && (t.Vault == nil || len(t.Made) > len(t.Vault.Of)) {
		err = fs.ErrInvalid
	}
	return t, err
}

// begin prepares the real side for a process: what changed there while none was
// running is right.
func (b *Box) begin() error {
	if b.vault == nil {
		return nil
	}
	if err := b.vault.refresh(context.Background()); err != nil {
		return &Error{Op: "look at the repository", Path: b.spec.Root, Err: err}
	}
	b.vault.Above = b.above()
	return b.saveTables()
}

// end puts back what a process changed in the real folders. What it changed there
// counts as changed in the copy.
func (b *Box) end() error {
	if b.vault == nil {
		return nil
	}
	var into *fold
	if !b.checks {
		into = &fold{made: b.made}
		for i := range b.lowers() {
			into.tops = append(into.tops, b.upper(i))
		}
	}
	found, err := b.vault.putBack(context.Background(), into)
	if b.vault.Found = append(b.vault.Found, found...); err != nil {
		b.broken = &Error{Op: "put the repository back", Path: b.spec.Root, Err: err,
			Why: "something was changed in it while the builder ran, and could not be put back: " + err.Error(),
			Fix: "`git status` shows what differs; the vault is in " + filepath.Join(b.layer, layerVault)}
		return b.broken
	}
	return b.saveTables()
}
