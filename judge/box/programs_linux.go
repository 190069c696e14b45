package box

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The kernel asks pid 1 before each exec of a box whose programs are held. A process
// whose own program is the direct child's may execute what is granted; one that runs
// anything else may execute what it likes, since it was granted itself or was started by
// one that was.
//
// The kernel reads the path once more after the answer. A plugin with two threads could
// change it in between, and run another program that lies in the box: with no more
// files and no more network than it has anyway.

// programs answers for one box.
type programs struct {
	own     unix.Stat_t   // the direct child's program
	granted []unix.Stat_t // what it may execute
	started bool
	found   func(*Exceeded)
}

// filterCalls puts a filter on this thread, and so on the child. Where programs are held,
// their questions are answered from then on.
func filterCalls(p *plan, exe *os.File, over func(*Exceeded)) error {
	if !p.Grants.Held {
		_, err := filtered{noKeys: true, ownNet: p.OwnNetwork}.install()
		return err
	}
	if err := p.Grants.lockFiles(exe); err != nil {
		return err
	}
	held, err := holdPrograms(p.Grants, exe, over)
	if err != nil {
		return err
	}
	listener, err := filtered{programs: true, noKeys: true, ownNet: p.OwnNetwork}.install()
	if err != nil {
		return err
	}
	// The thread that starts the child waits in the kernel until the child's exec was
	// answered, without giving its place to another: so there must be one place more, and
	// nothing that waits for all of them. A collection of garbage does, at its very end too,
	// when it counts as over: another number of places is not given before that.
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	go answerAll(listener, held.judge)
	return nil
}

// holdPrograms answers for a child that is this program and was granted others.
func holdPrograms(g Grants, exe *os.File, found func(*Exceeded)) (*programs, error) {
	p := &programs{found: found}
	if exe == nil {
		return nil, &Failure{Op: opPrograms, Detail: "no program was handed over"}
	}
	if err := unix.Fstat(int(exe.Fd()), &p.own); err != nil {
		return nil, fail(opPrograms, exe.Name(), err)
	}
	for _, path := range g.Programs {
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil {
			p.granted = append(p.granted, st)
		}
	}
	return p, nil
}

const opPrograms = "watch the programs of"

// judge answers one question; the first program that was not granted is told to found.
func (p *programs) judge(q *question) unix.Errno {
	if !p.started { // the child itself
		p.started = true
		return 0
	}
	wanted, errno := p.may(q)
	if errno == unix.EACCES {
		p.found(Ungranted("program", wanted))
	}
	return errno
}

// may gives the error that an exec ends with: none for what may be executed, EACCES
// for what may not.
func (p *programs) may(q *question) (wanted string, errno unix.Errno) {
	proc := "/proc/" + strconv.Itoa(int(q.Pid))
	var runs unix.Stat_t
	if unix.Stat(proc+"/exe", &runs) == nil && !sameStat(&runs, &p.own) {
		return "", 0
	}
	wanted, ok := q.path(proc)
	if !ok {
		return "a program that can't be named", unix.EACCES
	}
	var st unix.Stat_t
	if err := unix.Stat(wanted, &st); err != nil {
		return "", unix.ENOENT // and not "continue": it could be there a moment later
	}
	if sameStat(&st, &p.own) {
		return "", 0
	}
	for i := range p.granted {
		if sameStat(&st, &p.granted[i]) {
			return "", 0
		}
	}
	if real, err := filepath.EvalSymlinks(wanted); err == nil {
		wanted = real
	}
	return wanted, unix.EACCES
}

func sameStat(a, b *unix.Stat_t) bool { return a.Dev == b.Dev && a.Ino == b.Ino }

// path is what the process wants to execute, as pid 1 can look at it.
func (q *question) path(proc string) (string, bool) {
	at, dir := q.Args[0], proc+"/cwd"
	if q.Nr == unix.SYS_EXECVEAT {
		at = q.Args[1]
		if fd := int32(q.Args[0]); fd != unix.AT_FDCWD {
			dir = proc + "/fd/" + strconv.Itoa(int(fd))
		}
	}
	text, ok := readText(proc, at)
	switch {
	case !ok:
		return "", false
	case text == "" && q.Nr == unix.SYS_EXECVEAT:
		return dir, true
	case !filepath.IsAbs(text):
		return dir + "/" + text, true
	}
	for _, self := range []string{"/proc/self/", "/proc/thread-self/"} {
		if rest, ok := strings.CutPrefix(filepath.Clean(text), self); ok {
			return proc + "/" + rest, true
		}
	}
	return text, true
}

// readText reads a text from the memory of a process.
func readText(proc string, at uint64) (string, bool) {
	f, err := os.Open(proc + "/mem")
	if err != nil {
		return "", false
	}
	defer f.Close()
	var text []byte
	for len(text) < unix.PathMax {
		part := make([]byte, 256-at%256) // never over the end of a page
		n, err := f.ReadAt(part, int64(at))
		if n == 0 && err != nil {
			return "", false
		}
		if end := bytes.IndexByte(part[:n], 0); end >= 0 {
			return string(append(text, part[:end]...)), true
		}
		text, at = append(text, part[:n]...), at+uint64(n)
	}
	return "", false
}
