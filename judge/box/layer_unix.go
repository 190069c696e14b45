//go:build linux || darwin

package box

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box/internal/tree"
)

// A layer folder holds, for the root and for each git directory outside it, an
// upper (what was written) and a work folder (the kernel's), and a file that says
// what it is a layer of:
//
//	of              the paths, one per line, quoted; its time is when it was made
//	boot            the boot of the machine in which it was last written
//	synced          instead of boot: all of it is on disk
//	elsewhere       instead of all else: the path of the folder that stands in
//	0/up 0/work     the root
//	1/up 1/work …   the git directories
const (
	layerOf        = "of"
	layerBoot      = "boot"
	layerSynced    = "synced"
	layerElsewhere = "elsewhere"
)

// scratchName is the folder of the state folder where pid 1 mounts its tmpfs while
// it prepares, and where what is thrown away goes where tmpfs can't take it.
const scratchName = "scratch"

func (b *Box) scratch() string { return filepath.Join(b.spec.StateDir, scratchName) }

// New prepares a box and its layer; nothing is mounted until Start.
func New(spec Spec) (*Box, error) { return open(spec, nil) }

// open is New; from is what the box has of its own whose changes are verified in this one.
func open(spec Spec, from Copies) (*Box, error) {
	spec.Means = cmp.Or(spec.Means, Overlay)
	if err := Enough(spec.Means, spec.Required); err != nil {
		return nil, err
	}
	if err := resolve(&spec); err != nil {
		return nil, err
	}
	if err := checkBinds(&spec); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(spec.StateDir, scratchName), 0o700); err != nil {
		return nil, &Error{Op: "make the state folder", Path: spec.StateDir, Err: err}
	}
	b := &Box{spec: spec}
	if spec.ReadOnlyRoot {
		return b, b.openWeaker(from)
	}
	if e := Unfit(spec.Root); e != nil && spec.Means == Overlay {
		return nil, e
	}
	if err := b.openLayer(from); err != nil {
		return nil, err
	}
	return b, nil
}

// resolve makes every path of a spec real: no link is left in any of them.
func resolve(spec *Spec) error {
	real := func(what string, path *string) error {
		out, err := filepath.EvalSymlinks(*path)
		if err == nil && !filepath.IsAbs(out) {
			err = errors.New("not an absolute path")
		}
		if err != nil {
			return &Error{Op: "find the " + what, Path: *path, Err: err}
		}
		*path = out
		return nil
	}
	if err := os.MkdirAll(spec.StateDir, 0o700); err != nil {
		return &Error{Op: "make the state folder", Path: spec.StateDir, Err: err}
	}
	if err := errors.Join(real("root", &spec.Root), real("state folder", &spec.StateDir)); err != nil {
		return err
	}
	if spec.Root == "/" || spec.StateDir == "/" {
		return &Error{Op: "make a box", Path: "/", Why: "the root folder can't be boxed"}
	}
	spec.Home = cmp.Or(spec.Home, os.Getenv("HOME"))
	if real("home", &spec.Home) != nil || spec.Home == "/" {
		spec.Home = ""
	}
	if err := resolveKept(spec, real); err != nil {
		return err
	}
	gitDirs := append([]string(nil), spec.GitDirs...)
	for i := range gitDirs {
		if err := real("git directory", &gitDirs[i]); err != nil {
			return err
		}
	}
	spec.GitDirs = gitDirs
	spec.states = statesIn(append([]string{filepath.Join(spec.Root, ".git")}, gitDirs...))
	if spec.Main != "" && real("main work tree", &spec.Main) != nil {
		spec.Main = "" // it is gone
	}
	spec.Busy, spec.Watch = resolved(spec.Busy), resolved(spec.Watch)
	var persist []string
	for _, path := range spec.Persist {
		if real("persistent path", &path) == nil {
			persist = append(persist, path)
		}
	}
	spec.Persist = persist
	var binds []Bind
	for _, bind := range spec.Binds {
		if err := real("bind", &bind.Path); err != nil && !bind.Shown {
			return err
		} else if err == nil {
			binds = append(binds, bind)
		}
	}
	spec.Binds = binds
	var hide []Hidden
	for _, h := range spec.Hide {
		if real("hidden path", &h.Path) == nil && h.Path != "/" {
			hide = append(hide, h)
		}
	}
	spec.Hide = hide
	return nil
}

func resolved(paths []string) (out []string) {
	for _, path := range paths {
		out = append(out, tree.RealPath(path))
	}
	return out
}

// checkBinds refuses a writable path that would let a box write what it protects.
func checkBinds(spec *Spec) error {
	protected := append([]string{spec.Root}, spec.GitDirs...)
	writable := append([]string(nil), spec.Persist...)
	for _, bind := range spec.Binds {
		if bind.Hidden && spec.Means != Overlay {
			return &Error{Op: "hide", Path: bind.Path, Unsupported: true, Why: "only the means overlay can hide a file", Fix: "`relay doctor` says why it can't be used here"}
		}
		if bind.Writable {
			writable = append(writable, bind.Path)
		}
	}
	for i, path := range writable {
		refuse := tree.Within(spec.StateDir, path) || i < len(spec.Persist) && tree.Within(path, spec.StateDir)
		for _, p := range protected {
			// Relay's state hides what lies there of a folder that it is in.
			hidden := i >= len(spec.Persist) && tree.Within(path, spec.StateDir) && tree.Within(spec.StateDir, p)
			refuse = refuse || tree.Within(path, p) && !hidden || tree.Within(p, path)
		}
		if spec.Home != "" && tree.Within(spec.Home, path) {
			refuse = true
		}
		if refuse {
			return &Error{Op: "bind", Path: path, Why: "a folder that stays writable may not contain or lie in the repository, its git directory, the home folder as a whole or relay's state"}
		}
	}
	return nil
}

// openLayer makes the layer's folders, or checks those that are there.
func (b *Box) openLayer(from Copies) error {
	if b.spec.Layer == "" || !filepath.IsAbs(b.spec.Layer) {
		return &Error{Op: "open the layer", Path: b.spec.Layer, Why: "no absolute path was given"}
	}
	if err := os.MkdirAll(b.spec.Layer, 0o700); err != nil {
		return &Error{Op: "make the layer", Path: b.spec.Layer, Err: err}
	}
	layer, err := filepath.EvalSymlinks(b.spec.Layer)
	if err == nil {
		b.spec.Layer = layer
		layer, err = b.place(layer)
	}
	if err != nil {
		return err
	}
	b.layer = layer
	if err := b.openWeaker(from); err != nil {
		return err
	}
	have, err := judge.ReadFile(filepath.Join(layer, layerOf), maxNote)
	if k := b.spec.Kept; k != nil && err == nil {
		k.Shown = shownBy(string(have), 1+len(b.spec.GitDirs)) // what is shown stays the same
	} else if k != nil {
		k.Shown = slices.DeleteFunc(slices.Clone(k.Shown), missing)
	}
	want, made := "", false
	if b.copies() {
		want = b.spec.Means + "\n"
	}
	for _, path := range b.lowers() {
		want += strconv.Quote(path) + "\n"
	}
	if errors.Is(err, fs.ErrNotExist) {
		made, err = true, b.makeLayer(want)
	} else if err == nil && string(have) != want {
		return &Error{Op: "open the layer", Path: layer, Why: "it belongs to " + strings.Join(strings.Fields(string(have)), ", ")}
	}
	var of os.FileInfo
	if err == nil {
		of, err = os.Stat(filepath.Join(layer, layerOf))
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	} else if err != nil {
		return &Error{Op: "open the layer", Path: layer, Err: err}
	}
	b.opened = of.ModTime().UnixNano()
	if boot, _ := judge.ReadFile(filepath.Join(layer, layerBoot), maxNote); string(boot) != BootID() {
		if _, err := os.Stat(filepath.Join(layer, layerSynced)); err != nil {
			return &Error{Op: "open the layer", Path: layer, Why: "the machine was restarted since it was written, and it may not be whole"}
		}
	}
	if b.copies() && !made {
		return b.weak.Load()
	}
	return nil
}

// use prepares the layer for being written.
func (b *Box) use() error {
	if b.layer == "" {
		return nil
	}
	err := os.Remove(filepath.Join(b.layer, layerSynced))
	if err == nil {
		err = syncFS(b.layer)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for i := range b.lowers() {
		if b.copies() {
			break
		}
		err = errors.Join(err, emptied(b.work(i)))
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(b.layer, layerBoot), []byte(BootID()), 0o600))
	if err != nil {
		return &Error{Op: "use the layer", Path: b.layer, Err: err}
	}
	return nil
}

// emptied makes a work folder anew unless it is empty: what the last mount left there
// keeps the kernel from mounting it again.
func emptied(dir string) error {
	if names, err := os.ReadDir(dir); err == nil && len(names) == 0 {
		return nil
	}
	return errors.Join(tree.Remove(dir), os.Mkdir(dir, 0o700))
}

// Sync puts the layer on disk, so that it can be mounted again even after the
// machine was restarted. Without it a layer lasts until then.
func (b *Box) Sync() error {
	if b.layer == "" {
		return nil
	}
	lock, err := b.lock()
	if err != nil {
		return err
	}
	defer unlock(lock)
	if err = syncFS(b.layer); err == nil {
		err = os.WriteFile(filepath.Join(b.layer, layerSynced), nil, 0o600)
	}
	if err = errors.Join(err, syncFS(b.layer)); err != nil {
		return &Error{Op: "put the layer on disk", Path: b.layer, Err: err}
	}
	return nil
}

func (b *Box) makeLayer(of string) error {
	for i := range b.lowers() {
		if b.copies() {
			break
		}
		info, err := os.Stat(b.below(i))
		if err != nil {
			return err
		}
		if err := os.MkdirAll(b.work(i), 0o700); err != nil {
			return err
		}
		if err := os.MkdirAll(b.upper(i), 0o700); err != nil {
			return err
		}
		// The upper's mode is the folder's mode in the box.
		if err := unix.Chmod(b.upper(i), tree.UnixMode(info.Mode())); err != nil {
			return err
		}
	}
	if b.copies() {
		if err := b.weak.Make(); err != nil {
			return err
		}
	}
	boot := os.WriteFile(filepath.Join(b.layer, layerBoot), []byte(BootID()), 0o600)
	return errors.Join(boot, os.WriteFile(filepath.Join(b.layer, layerOf), []byte(of), 0o600))
}

// place gives the folder that holds the layer: the one asked for, or a stand-in
// where that can't be an overlay's upper (it lies on an overlay itself, as in most
// containers, or has no user attributes) or lies in what the layer is of.
func (b *Box) place(layer string) (string, error) {
	note := filepath.Join(layer, layerElsewhere)
	if there, err := judge.ReadFile(note, maxNote); err == nil {
		if info, err := os.Lstat(string(there)); err != nil || !info.IsDir() || !owned(info) {
			return "", &Error{Op: "open the layer", Path: string(there), Err: fs.ErrNotExist, Why: "the folder that stands in for it is gone"}
		}
		return string(there), nil
	}
	if b.fits(layer) {
		return layer, nil
	}
	candidates := []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/var/tmp", "/tmp", "/dev/shm"}
	for _, dir := range candidates {
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil || !filepath.IsAbs(dir) || !b.fits(dir) {
			continue
		}
		there := filepath.Join(dir, "relay-layer-"+rand.Text())
		if os.Mkdir(there, 0o700) != nil {
			continue
		}
		if err := os.WriteFile(note, []byte(there), 0o600); err != nil {
			return "", &Error{Op: "open the layer", Path: layer, Err: err}
		}
		return there, nil
	}
	return "", &Error{Op: "open the layer", Path: layer, Unsupported: true,
		Why: "neither it nor a temporary folder lies on a file system that can hold an overlay's layer",
		Fix: "set XDG_STATE_HOME to a folder on a local disk or a mounted volume, outside the repository"}
}

// fits says that dir can hold a layer.
func (b *Box) fits(dir string) bool {
	for _, lower := range b.lowers() {
		if tree.Within(dir, lower) {
			return false
		}
	}
	if b.copies() {
		return true
	}
	var st unix.Stat_t
	if onOverlay(dir) || unix.Stat(dir, &st) != nil {
		return false
	}
	if _, ok := holdsLayers.Load(st.Dev); ok {
		return true
	}
	probe, err := os.MkdirTemp(dir, ".relay-")
	if err != nil {
		return false
	}
	defer os.Remove(probe)
	if unix.Setxattr(probe, "user.relay", []byte("y"), 0) != nil {
		return false
	}
	holdsLayers.Store(st.Dev, true)
	return true
}

// holdsLayers are the devices that were seen to hold an overlay's upper.
var holdsLayers sync.Map

func owned(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
