//go:build linux || darwin

package copies

import (
	"context"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// snapshot is what the real folders were when a box was opened, and how to put them back.
// It is for means that do not keep a builder from changing them.
type snapshot struct {
	// Of are the real folders; Busy lie in them and are left alone, since relay itself
	// writes there, but for what Watch names.
	Of, Busy, Watch []string
	// Base is what they were when the copy was made, Real what they are to be now: the
	// same but for what changed while no process of a box was running.
	Base, Real []traces
	// Above are the modes of what lies on the way to them, and to relay's own files.
	Above map[string]uint32
	// Dir holds their content; "" where content can't be changed, only modes and times.
	Dir string
	// Kept is what Dir looks like: what differs was tampered with.
	Kept []traces
	// Aside gets what is taken away in putting back: it may be somebody's work.
	Aside string
	// Found is what was changed and put back, one line each; Elsewhere is that of folders of
	// which the box has no copy, where a builder did it.
	Found, Elsewhere []string
}

// add has the snapshot watch one folder more, of which the box has no copy.
func (v *snapshot) add(ctx context.Context, dir string) error {
	i := len(v.Of)
	v.Of, v.Base, v.Real = append(v.Of, dir), append(v.Base, traces{}), append(v.Real, traces{})
	if v.Dir == "" {
		now, _, err := v.look(ctx, i, false)
		v.Real[i] = now
		return err
	}
	c, err := copyTree(ctx, dir, v.place(i), func(rel string) bool { return v.skips(i, rel) })
	if err == nil {
		v.Real[i], v.Kept = c.real, append(v.Kept, c.made)
	}
	return err
}

// place is where the content of the i-th folder lies.
func (v *snapshot) place(i int) string { return filepath.Join(v.Dir, v.Of[i]) }

// skips reports whether a path of the i-th folder is none of the snapshot's business: relay
// writes it, or it is one of the other folders.
func (v *snapshot) skips(i int, rel string) bool {
	full := filepath.Join(v.Of[i], rel)
	if slices.ContainsFunc(v.Watch, func(path string) bool { return tree.Within(full, path) || tree.Within(path, full) }) {
		return false
	}
	return slices.ContainsFunc(v.Busy, func(dir string) bool { return tree.Within(full, dir) }) ||
		slices.ContainsFunc(v.Of, func(dir string) bool { return dir != v.Of[i] && dir == full })
}

// look walks the i-th real folder. Where fix is set, folders that were made unreadable
// become readable again, and are told by their path with the mode that they had.
func (v *snapshot) look(ctx context.Context, i int, fix bool) (now traces, shut map[string]uint32, err error) {
	w := vaultWalk{ctx: ctx, v: v, i: i, now: traces{}, fix: fix, shut: map[string]uint32{}}
	top, err := tree.OpenFolder(unix.AT_FDCWD, v.Of[i])
	if now, ok := lookAt(unix.AT_FDCWD, v.Of[i]); ok && err == unix.EACCES && fix {
		w.shut["."] = now.Mode
		unix.Fchmodat(unix.AT_FDCWD, v.Of[i], v.Real[i]["."].Mode&0o7777, 0)
		top, err = tree.OpenFolder(unix.AT_FDCWD, v.Of[i])
	}
	if err != nil {
		return nil, nil, err
	}
	defer unix.Close(top)
	var st unix.Stat_t
	if err = unix.Fstat(top, &st); err == nil {
		w.now["."] = traceOf(&st)
		err = w.folder(top, ".", 0)
	}
	return w.now, w.shut, err
}

type vaultWalk struct {
	ctx  context.Context
	v    *snapshot
	i    int
	now  traces
	fix  bool
	shut map[string]uint32
}

func (w *vaultWalk) folder(dir int, rel string, depth int) error {
	names, err := tree.Names(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		at := path.Join(rel, name)
		if w.v.skips(w.i, at) {
			continue
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		now, ok := lookAt(dir, name)
		if !ok {
			continue
		}
		w.now[at] = now
		was := w.v.Real[w.i][at]
		if !now.isDir() || was.Shut || depth >= box.MaxDepth {
			continue
		}
		if now.Mode&0o700 != 0o700 && now.Mode != was.Mode && w.fix {
			w.shut[at] = now.Mode
			unix.Fchmodat(dir, name, now.Mode&0o7777|0o700, 0)
		}
		sub, err := tree.OpenFolder(dir, name)
		if err == unix.EACCES || err == unix.ENOENT {
			continue
		} else if err != nil {
			return err
		}
		err = w.folder(sub, at, depth+1)
		unix.Close(sub)
		if err != nil {
			return err
		}
	}
	return nil
}

// refresh takes what changed while no process of a box was running for right.
func (v *snapshot) refresh(ctx context.Context) error {
	for i := range v.Of {
		now, _, err := v.look(ctx, i, false)
		if err != nil {
			return err
		}
		real := maps.Clone(v.Real[i])
		for at := range real {
			if _, ok := now[at]; !ok {
				delete(real, at)
			}
		}
		for _, at := range slices.Sorted(maps.Keys(now)) {
			if was, ok := real[at]; ok && was.still(now[at]) {
				continue
			}
			if real[at] = now[at]; v.Dir == "" || now[at].isSpecial() {
				continue
			}
			if err := v.keep(i, at); err != nil {
				return err
			}
		}
		v.Real[i] = real
	}
	return nil
}

// keep puts the present content of one path into the snapshot.
func (v *snapshot) keep(i int, at string) error {
	if at == "." {
		return nil
	}
	to, name, err := openParent(v.place(i), at)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	if had, ok := lookAt(to, name); ok && !had.isDir() {
		unix.Unlinkat(to, name, 0)
	}
	from, _, err := openParent(v.Of[i], at)
	if err != nil {
		return err
	}
	defer unix.Close(from)
	c := treeCopy{ctx: context.Background(), skip: func(string) bool { return true }, real: traces{}, made: traces{}}
	if err := c.entry(from, to, name, at, 0); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	if made, ok := c.made[at]; ok {
		v.Kept[i][at] = made
	}
	return nil
}

// openParent opens the folder that a path below top lies in, following no link.
func openParent(top, rel string) (dir int, name string, err error) {
	dir, err = tree.OpenFolder(unix.AT_FDCWD, top)
	if err != nil {
		return -1, "", err
	}
	for {
		first, rest, more := cutPath(rel)
		if !more {
			return dir, first, nil
		}
		next, err := tree.OpenFolder(dir, first)
		unix.Close(dir)
		if err != nil {
			return -1, "", err
		}
		dir, rel = next, rest
	}
}

func cutPath(rel string) (first, rest string, more bool) {
	for i := range len(rel) {
		if rel[i] == '/' {
			return rel[:i], rel[i+1:], true
		}
	}
	return rel, "", false
}
