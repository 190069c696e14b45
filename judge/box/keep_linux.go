package box

import (
	"encoding/gob"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// Where there is no pid namespace, relay executes itself as a keeper: orphans of the
// processes that it starts become its children, so that it finds all of them and ends
// them, when the direct child has ended and when the host is gone.

// startKept is Start without namespaces.
func (b *Box) startKept(p Proc) (*Process, error) {
	if p.Confine.OwnNetwork {
		return nil, &Error{Op: "close the network of", Path: b.spec.Root, Unsupported: true,
			Why: "box.means " + b.spec.Means + " can't take the network away", Fix: "`relay doctor` says why this machine allows no overlay"}
	}
	if p.Confine.Grants.Held {
		return nil, b.cantHold()
	}
	lock, err := b.lock()
	if err != nil {
		return nil, err
	}
	what, err := b.errand(p)
	if err == nil {
		err = b.begin()
	}
	if err == nil {
		err = b.use()
	}
	if err != nil {
		if what != nil {
			tree.Remove(what.Run)
		}
		unlock(lock)
		return nil, err
	}
	return b.launchKept(p, what, lock)
}

// launchKept starts the keeper and waits until it has started the child.
func (b *Box) launchKept(p Proc, what *errand, lock *os.File) (*Process, error) {
	if os.Getuid() == 0 && what.Limits.Processes > 0 {
		SweepGroups()
		what.Group = string(newGroup(what.Limits.Processes + headroom))
	}
	fall := func(err error) (*Process, error) {
		group(what.Group).remove()
		tree.Remove(what.Run)
		unlock(lock)
		return nil, &Error{Op: "start", Err: err}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fall(err)
	}
	defer null.Close()
	controlR, controlW, err := os.Pipe()
	if err != nil {
		return fall(err)
	}
	defer controlR.Close()
	reportR, reportW, err := os.Pipe()
	if err != nil {
		controlW.Close()
		return fall(err)
	}
	defer reportW.Close()
	stdio := []*os.File{p.Stdin, p.Stdout, p.Stderr}
	for i := range stdio {
		if stdio[i] == nil {
			stdio[i] = null
		}
	}
	files := append([]*os.File{null, null, stdio[2], controlR, reportW}, stdio...)
	files = append(files, lock, null)
	if p.Exe != nil {
		files = append(files, p.Exe)
	}
	proc, err := os.StartProcess("/proc/self/exe", []string{keeperName}, &os.ProcAttr{Files: files, Env: []string{}, Dir: "/",
		Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		controlW.Close()
		reportR.Close()
		return fall(err)
	}
	controlR.Close()
	reportW.Close()
	run := &Process{proc: proc, control: controlW, lock: lock, done: make(chan struct{})}
	run.kill = func() {
		controlW.Write([]byte{1})
		time.AfterFunc(keeperTime, func() {
			select {
			case <-run.done:
			default:
				proc.Kill() // it was stopped, or is at a loss: sweep does the rest
			}
		})
	}
	run.after = func() error {
		run.state.Left += sweep(what.Run)
		group(what.Group).remove()
		return b.end()
	}
	reports := gob.NewDecoder(reportR)
	var first report
	reportR.SetReadDeadline(time.Now().Add(setupTime))
	err = gob.NewEncoder(controlW).Encode(what)
	if read := reports.Decode(&first); read != nil {
		err = errors.Join(err, read)
	}
	reportR.SetReadDeadline(time.Time{})
	q := newQuota(b.withBase(p.Confine.Limits), append(what.Folders[:1:1], b.counted()...))
	if b.copies() {
		q = newQuota(b.withBase(p.Confine.Limits), append(append([]string{what.Run}, b.uppers()...), b.counted()...))
	}
	if q != nil {
		q.of = run.Pid()
		go q.watch(run.done, run.Exceed)
	}
	go run.collect(reports, reportR, what.Run, q)
	if err == nil && first.Started {
		return run, nil
	}
	run.Kill()
	<-run.done
	return nil, setupError(first.Fail, err, run.ended)
}

// keeperTime is how long a keeper has for ending what it keeps.
const keeperTime = 5 * time.Second

func (b *Box) uppers() (dirs []string) {
	for i := range b.lowers() {
		dirs = append(dirs, b.upper(i))
	}
	return dirs
}

// withBase adds to the limits on disk what the copy itself takes.
func (b *Box) withBase(l Limits) Limits {
	var all, largest int64
	for _, made := range b.made {
		for _, t := range made {
			if t.kind() == unix.S_IFREG {
				all, largest = all+t.Size, max(largest, t.Size)
			}
		}
	}
	if l.Disk > 0 {
		l.Disk += all
	}
	if l.File > 0 {
		l.File = max(l.File, largest)
	}
	return l
}
