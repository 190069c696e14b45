package box

import (
	"cmp"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// setupTime is how long the mounts may take; only a dead network file system needs more.
const setupTime = time.Minute

// onDisk is set by tests that want what an older kernel gets.
var onDisk bool

// startOverlay is Start with namespaces.
func (b *Box) startOverlay(p Proc, lock *os.File) (*Process, error) {
	what, err := b.plan(p)
	if err == nil {
		err = b.use()
	}
	if err != nil {
		return nil, err
	}
	return b.enter(what, p, lock)
}

// enter starts the process behind the mounts of a plan.
func (b *Box) enter(what *plan, p Proc, lock *os.File) (*Process, error) {
	own := ownersOf()
	// The same numbers inside: an agent that finds itself root behaves differently.
	flags, caps := uintptr(unix.CLONE_NEWUSER|unix.CLONE_NEWNS|unix.CLONE_NEWPID|unix.CLONE_NEWIPC), setupCaps
	if p.Confine.OwnNetwork {
		flags, caps = flags|unix.CLONE_NEWNET, append(caps[:len(caps):len(caps)], netCaps...)
	}
	run, err := p.Launch(Launch{Name: initName, Plan: what, Written: b.written(what), Limits: p.Confine.Limits, Away: what.Away,
		Attr: syscall.SysProcAttr{Cloneflags: flags, UidMappings: own.uids, GidMappings: own.gids, AmbientCaps: caps}}, lock)
	if _, explained := errors.AsType[*Error](err); err != nil && !explained {
		err = denied("enter new namespaces", err)
	}
	return run, err
}

// written are the folders on disk that a process of the box writes to, the first of them
// on the disk that is watched.
func (b *Box) written(what *plan) (dirs []string) {
	if b.layer != "" {
		for i := range b.lowers() {
			dirs = append(dirs, b.upper(i))
		}
	}
	for i := range b.caches {
		if up := b.Cached(i); up != "" {
			dirs = append(dirs, up)
		}
	}
	return append(append(dirs, what.Away), b.counted()...)
}

// counted are the folders of others that hold nothing but what this box writes.
func (b *Box) counted() (dirs []string) {
	for _, bind := range b.spec.Binds {
		if bind.Counted {
			dirs = append(dirs, bind.Path)
		}
	}
	return dirs
}

// plan works out the mounts for one process.
func (b *Box) plan(p Proc) (*plan, error) {
	mounts, err := mountPoints()
	if err != nil {
		return nil, &Error{Op: "read the mount points", Err: err}
	}
	pl := planner{mounts: mounts}
	out := &plan{Argv: p.Argv, Dir: p.Dir, HasExe: p.Exe != nil, Confine: p.Confine,
		Scratch: filepath.Join(b.spec.StateDir, scratchName), Away: filepath.Join(b.spec.StateDir, scratchName, rand.Text()), OnDisk: onDisk}
	for i, lower := range b.lowers() {
		if b.gone(i) {
			continue
		}
		if b.spec.ReadOnlyRoot {
			pl.steps = append(pl.steps, step{Kind: stepBind, Path: lower, Source: b.below(i), Live: b.live(i)})
			continue
		}
		if pl.mountsBelow(b.below(i)) {
			return nil, &Error{Op: "mount an overlay on", Path: lower, Unsupported: true,
				Why: "another file system is mounted inside it, and the kernel does not let an overlay hide that",
				Fix: "`findmnt -R " + lower + "` lists it; unmount it for the run"}
		}
		pl.steps = append(pl.steps, step{Kind: stepOverlay, Path: lower, Source: b.below(i), Upper: b.upper(i), Work: b.work(i), Live: b.live(i)})
	}
	set := b.addThrowAway(&pl, out)
	if err := b.addCaches(&pl); err != nil {
		return nil, err
	}
	pl.addSystem(os.Getuid() == 0)
	for _, dir := range append([]string{b.spec.StateDir, b.layer}, b.spec.states...) {
		if at, ok := pl.covered(dir); dir != "" && b.there(dir) && !(ok && at.Kind == stepEmpty && !at.Writable) {
			pl.steps = append(pl.steps, step{Kind: stepEmpty, Path: dir, Mode: 0o700})
		}
	}
	for _, path := range b.spec.Persist {
		pl.steps = append(pl.steps, step{Kind: stepBind, Path: path, Source: path, Writable: true})
	}
	for _, bind := range b.spec.Binds {
		if bind.Hidden || bind.Shown {
			continue
		}
		pl.steps = append(pl.steps, step{Kind: stepBind, Path: bind.Path, Source: bind.Path, Writable: bind.Writable})
	}
	for _, h := range b.hidden() {
		info, err := os.Stat(h.Path)
		if err == nil && b.there(h.Path) && !tree.Within(h.Path, "/dev") && !tree.Within(h.Path, "/proc") {
			pl.conceal(h, info.IsDir())
		}
	}
	for _, bind := range b.spec.Binds {
		if bind.Hidden && b.there(bind.Path) {
			pl.hide(bind.Path)
		}
	}
	out.Steps = pl.finish()
	out.Env = WithoutSockets(p.Env, set)
	if strangersIn(b.spec.Root) != "" {
		out.Env = WithGitSetting(out.Env, "core.checkStat", "minimal")
	}
	out.Dir = cmp.Or(out.Dir, b.spec.Root)
	if out.Grants.Held {
		out.Grants.complete(b, out.TmpDir)
	}
	return out, nil
}

// addThrowAway plans the folders that stay usable but whose writes are lost, and
// gives the variables that point into them.
func (b *Box) addThrowAway(pl *planner, out *plan) map[string]string {
	var dirs []string
	add := func(path string) {
		real, err := filepath.EvalSymlinks(path)
		if info, err2 := os.Stat(path); err == nil && err2 == nil && info.IsDir() && filepath.IsAbs(real) && real != "/" {
			dirs = append(dirs, real)
		}
	}
	tmp, _ := filepath.EvalSymlinks("/tmp")
	temp := os.TempDir()
	if real, err := filepath.EvalSymlinks(temp); err == nil && tree.Within(real, b.spec.Root) {
		temp = "" // the work tree in the box is the base's, which need not have it
	}
	for _, path := range []string{b.spec.Home, temp, "/tmp", "/var/tmp", "/run", "/var/run", os.Getenv("XDG_RUNTIME_DIR")} {
		if path != "" {
			add(path)
		}
	}
	slices.Sort(dirs)
	for _, dir := range dirs {
		pl.throwAway(dir)
	}
	if b.spec.Kept != nil {
		for _, dir := range b.spec.Kept.Linked {
			real, err := filepath.EvalSymlinks(dir)
			if _, ok := pl.covered(real); err == nil && !ok { // the home has a layer already, and caches of their own
				pl.mirror(real, true)
			}
		}
	}
	for _, name := range socketPaths() {
		if _, ok := pl.covered(name); ok {
			continue
		}
		socket, err := filepath.EvalSymlinks(name)
		if err != nil || !isSocket(socket) {
			continue
		}
		if _, ok := pl.covered(socket); ok || tree.Within(socket, "/dev") {
			continue
		}
		// The folder, for sockets that are made there later, and the socket itself,
		// should the folder be one that no overlay can cover.
		if dir := filepath.Dir(socket); dir != "/" {
			pl.mirror(dir, true)
		}
		pl.steps = append(pl.steps, step{Kind: stepBind, Path: socket, Source: "/dev/null", Optional: true})
	}
	set := make(map[string]string)
	for _, dir := range []string{tmp, b.spec.Home} {
		if at, ok := pl.covered(dir); dir != "" && ok && at.Upper == "" {
			out.TmpDir = filepath.Join(dir, ".relay-tmp-"+rand.Text()[:8])
			set["TMPDIR"] = out.TmpDir
			break
		}
	}
	if b.spec.Home == "" && out.TmpDir != "" {
		set["HOME"] = out.TmpDir
	}
	return set
}
