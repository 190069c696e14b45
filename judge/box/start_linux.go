package box

import (
	"crypto/rand"
	"encoding/gob"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// setupTime is how long the mounts may take; only a dead network file system needs more.
const setupTime = time.Minute

// onDisk is set by tests that want what an older kernel gets.
var onDisk bool

// Process is the direct child of a running box.
type Process struct {
	proc    *os.Process
	control *os.File // open for as long as the box may live
	// lock is the layer's. Pid 1 has it too, until every process of the box is gone,
	// so that a layer whose host was killed is not touched too early.
	lock      *os.File
	taking    sync.Mutex
	listeners []*os.File // that nobody has taken yet
	exceeded  atomic.Pointer[Exceeded]
	done      chan struct{}
	state     ExitState
	ended     *os.ProcessState // of pid 1, after done
	err       error
	// kill ends the box, after does what is left to do then; for means without a pid
	// namespace. Either may be nil.
	kill  func()
	after func() error
}

// Start runs a process in the box. It returns when the process was executed, or
// with an *Error that says what could not be set up.
func (b *Box) Start(p Proc) (*Process, error) {
	if len(p.Argv) == 0 {
		return nil, &Error{Op: "start", Why: "no program was named"}
	}
	if b.spec.Means != Overlay {
		return b.startKept(p)
	}
	run, err := b.startOverlay(p)
	if errors.Is(err, unix.EINVAL) { // perhaps something was just being mounted that the plan did not know
		run, err = b.startOverlay(p)
	}
	return run, err
}

// startOverlay is Start with namespaces.
func (b *Box) startOverlay(p Proc) (*Process, error) {
	lock, err := b.lock()
	if err != nil {
		return nil, err
	}
	what, err := b.plan(p)
	if err == nil {
		err = b.use()
	}
	if err != nil {
		unlock(lock)
		return nil, err
	}
	return launch(p, what, lock, newQuota(p.Confine.Limits, b.written(what)))
}

// written are the folders on disk that a process of the box writes to, the first of them
// on the disk that is watched.
func (b *Box) written(what *plan) (dirs []string) {
	if b.layer != "" {
		dirs = b.uppers()
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
		if b.spec.ReadOnlyRoot {
			pl.steps = append(pl.steps, step{Kind: stepBind, Path: lower, Source: b.below(i)})
			continue
		}
		if pl.mountsBelow(b.below(i)) {
			return nil, &Error{Op: "mount an overlay on", Path: lower, Unsupported: true,
				Why: "another file system is mounted inside it, and the kernel does not let an overlay hide that",
				Fix: "`findmnt -R " + lower + "` lists it; unmount it for the run"}
		}
		pl.steps = append(pl.steps, step{Kind: stepOverlay, Path: lower, Source: b.below(i), Upper: b.upper(i), Work: b.work(i)})
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
	out.Env = withoutSockets(p.Env, set)
	if strangersIn(b.spec.Root) != "" {
		out.Env = WithGitSetting(out.Env, "core.checkStat", "minimal")
	}
	if out.Dir == "" {
		out.Dir = b.spec.Root
	}
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

// launch executes relay again as pid 1 of new namespaces and waits until it has
// started the child. The lock is given back at the end of the box, or when there is
// none.
func launch(p Proc, what *plan, lock *os.File, q *quota) (*Process, error) {
	entered := false
	defer func() {
		if !entered {
			unlock(lock)
		}
	}()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, &Error{Op: "open", Path: os.DevNull, Err: err}
	}
	defer null.Close()
	controlR, controlW, err := os.Pipe()
	if err != nil {
		return nil, &Error{Op: "start", Err: err}
	}
	defer controlR.Close()
	reportR, reportW, err := os.Pipe()
	if err != nil {
		controlW.Close()
		return nil, &Error{Op: "start", Err: err}
	}
	defer reportW.Close()
	hand, handed, err := socketPair()
	if err != nil {
		controlW.Close()
		reportR.Close()
		return nil, &Error{Op: "start", Err: err}
	}
	defer hand.Close()
	defer handed.Close()
	stdio := []*os.File{p.Stdin, p.Stdout, p.Stderr}
	for i := range stdio {
		if stdio[i] == nil {
			stdio[i] = null
		}
	}
	files := append([]*os.File{null, null, stdio[2], controlR, reportW}, stdio...)
	files = append(files, lock, handed)
	if p.Exe != nil {
		files = append(files, p.Exe)
	}
	own := ownersOf()
	// The same numbers inside: an agent that finds itself root behaves differently.
	flags, caps := uintptr(unix.CLONE_NEWUSER|unix.CLONE_NEWNS|unix.CLONE_NEWPID|unix.CLONE_NEWIPC), setupCaps
	if p.Confine.OwnNetwork {
		flags, caps = flags|unix.CLONE_NEWNET, append(caps[:len(caps):len(caps)], netCaps...)
	}
	proc, err := os.StartProcess("/proc/self/exe", []string{initName}, &os.ProcAttr{Files: files, Env: []string{}, Dir: "/",
		Sys: &syscall.SysProcAttr{
			Cloneflags:  flags,
			UidMappings: own.uids,
			GidMappings: own.gids,
			AmbientCaps: caps,
			Setsid:      true,
		}})
	if err != nil {
		controlW.Close()
		reportR.Close()
		return nil, denied("enter new namespaces", err)
	}
	entered = true
	controlR.Close() // so that writing to a pid 1 that is gone fails
	reportW.Close()  // so that the end of pid 1 is the end of its reports
	run := &Process{proc: proc, control: controlW, lock: lock, done: make(chan struct{})}
	reports := gob.NewDecoder(reportR)
	var first report
	reportR.SetReadDeadline(time.Now().Add(setupTime))
	err = gob.NewEncoder(controlW).Encode(what)
	if read := reports.Decode(&first); read != nil {
		err = errors.Join(err, read)
	}
	reportR.SetReadDeadline(time.Time{})
	started := err == nil && first.Started
	if started {
		run.listeners, err = receiveSockets(hand, len(p.Confine.Listen))
	}
	if q != nil {
		q.of = run.Pid()
		go q.watch(run.done, run.Exceed)
	}
	go run.collect(reports, reportR, what.Away, q)
	if started && err == nil {
		return run, nil
	}
	run.Kill()
	<-run.done
	return nil, setupError(first.Fail, err, run.ended)
}
