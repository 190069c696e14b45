package checks

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/verify"
	"github.com/paxiom/relay/verify/examine"
)

// examine runs one hidden check in a box of its own, and the programs that it asks for in
// others, which show nothing of it.
func (x *boxExec) examine(ctx context.Context, cmd verify.Command, timeout time.Duration, seed string) verify.Result {
	res := verify.Result{Command: cmd, ExitCode: -1}
	if x.before != nil {
		if res.Err = x.before(cmd); res.Err != nil {
			x.refused = res.Err
			return res
		}
	}
	p, err := openPipes(filepath.Join(x.c.state, "evidence"))
	if err != nil {
		res.Err = err
		return res
	}
	defer p.remove()
	b, err := x.fresh(append(p.binds(x.c.of.Box().Means()), box.Bind{Path: cmd.Folder, Shown: true}))
	if err != nil {
		res.Err = err
		return res
	}
	subjects := &subjects{x: x, dir: p.dir}
	served := make(chan struct{})
	var loaded []string
	go func() {
		defer close(served)
		loaded = examine.Serve(p.requests, p.answers, subjects.start)
	}()
	env := append(x.env[:len(x.env):len(x.env)], examine.EnvRequests+"="+p.requests.Name(), examine.EnvAnswers+"="+p.answers.Name(), examine.EnvSeed+"="+seed)
	res = x.in(ctx, b, box.Proc{Argv: cmd.Argv, Env: env}, cmd, timeout)
	p.close()
	subjects.stop()
	<-served
	res.Loaded = loaded
	if err := b.Discard(); err != nil && res.Err == nil {
		res.Err = fmt.Errorf("throw the check's box away: %w", err)
	}
	return res
}

// fresh is a new box with what was judged.
func (x *boxExec) fresh(binds []box.Bind) (*box.Box, error) {
	x.n++
	return x.c.of.Fresh(fmt.Sprintf("%s%d", x.on, x.n), x.c.withoutBytecode(x.kept), binds...)
}

// pipes are how a hidden check and relay talk.
type pipes struct {
	dir               string
	requests, answers *os.File
	keep              *os.File // relay's own writing end of requests: until it is closed there is no end
}

func openPipes(dir string) (p *pipes, err error) {
	if err = os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p = &pipes{}
	if p.dir, err = os.MkdirTemp(dir, "hidden-"); err != nil {
		return nil, err
	}
	open := func(name string, flag int) (f *os.File) {
		if err == nil {
			f, err = os.OpenFile(filepath.Join(p.dir, "talk", name), flag|syscall.O_NONBLOCK, 0)
		}
		return f
	}
	err = os.Mkdir(filepath.Join(p.dir, "talk"), 0o700)
	for _, name := range []string{"requests", "answers"} {
		if err == nil {
			err = syscall.Mkfifo(filepath.Join(p.dir, "talk", name), 0o600)
		}
	}
	p.requests = open("requests", os.O_RDONLY)
	p.keep = open("requests", os.O_WRONLY)
	p.answers = open("answers", os.O_RDWR) // the check may open it at any time
	if err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

// binds are what the check's box shows. All of it is read-only there, and a pipe can be
// written all the same; only Landlock asks for the right.
func (p *pipes) binds(means string) []box.Bind {
	if means == box.Landlock {
		return []box.Bind{{Path: p.requests.Name(), Writable: true}, {Path: p.answers.Name(), Writable: true}}
	}
	return []box.Bind{{Path: filepath.Dir(p.requests.Name())}}
}

// close ends the talk, whatever it waits for.
func (p *pipes) close() {
	for _, f := range []*os.File{p.keep, p.answers, p.requests} {
		f.Close()
	}
}

func (p *pipes) remove() {
	p.close()
	os.RemoveAll(p.dir)
}

// subjects are the programs that one hidden check has started.
type subjects struct {
	x     *boxExec
	dir   string // for their files
	mu    sync.Mutex
	now   map[*subject]bool
	ended bool
}

// stop ends them, and starts no more.
func (s *subjects) stop() {
	s.mu.Lock()
	s.ended = true
	for at := range s.now {
		at.proc.Kill()
	}
	s.mu.Unlock()
}

// subject is the code under test at work, in a box of its own.
type subject struct {
	all    *subjects
	box    *box.Box
	proc   *box.Process
	in     *os.File
	out    *os.File
	err    verify.Tail
	read   chan struct{} // its standard error has ended
	ended  chan struct{}
	state  box.ExitState
	closed sync.Once
	once   sync.Once
}

func (s *subjects) start(p examine.Program) (examine.Running, error) {
	var binds []box.Bind
	if len(p.Files) > 0 {
		dir, err := os.MkdirTemp(s.dir, "files-")
		if err != nil {
			return nil, err
		}
		for name, text := range p.Files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				return nil, err
			}
		}
		for i, arg := range p.Argv {
			p.Argv[i] = strings.ReplaceAll(arg, "{dir}", dir)
		}
		binds = append(binds, box.Bind{Path: dir})
	}
	b, err := s.x.fresh(binds)
	if err != nil {
		return nil, err
	}
	at := &subject{all: s, box: b, read: make(chan struct{}), ended: make(chan struct{})}
	if err := at.start(p); err != nil {
		b.Discard()
		return nil, err
	}
	return at, nil
}

func (at *subject) start(p examine.Program) error {
	var ends [6]*os.File // reading and writing, of the three in turn
	begun := false
	defer func() {
		for i, f := range ends {
			if its := i == 0 || i == 3 || i == 5; its || !begun { // the program has its own
				f.Close()
			}
		}
	}()
	for i := 0; i < len(ends); i += 2 {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		ends[i], ends[i+1] = r, w
	}
	proc := box.Proc{Argv: p.Argv, Env: at.all.x.env, Stdin: ends[0], Stdout: ends[3], Stderr: ends[5]}
	if p.Self {
		name, err := os.Executable()
		if err != nil {
			return err
		}
		if proc.Exe, err = os.Open(name); err != nil {
			return err
		}
		defer proc.Exe.Close()
	}
	at.all.mu.Lock()
	defer at.all.mu.Unlock()
	if at.all.ended {
		return context.Canceled
	}
	var err error
	if at.proc, err = at.all.x.plan.Start(at.box, proc); err != nil {
		return err
	}
	begun, at.in, at.out = true, ends[1], ends[2]
	if at.all.now == nil {
		at.all.now = map[*subject]bool{}
	}
	at.all.now[at] = true
	at.err.Max = 4 << 10
	go func() { io.Copy(&at.err, ends[4]); ends[4].Close(); close(at.read) }()
	go func() { at.state, _ = at.proc.Wait(); close(at.ended) }()
	return nil
}

// Write writes to its standard input.
func (at *subject) Write(p []byte) (int, error) { return at.in.Write(p) }

// CloseWrite ends that.
func (at *subject) CloseWrite() { at.closed.Do(func() { at.in.Close() }) }

// Stdout is what it prints.
func (at *subject) Stdout() io.Reader { return at.out }

// Stderr is the last that it wrote there.
func (at *subject) Stderr() []byte {
	b, _ := at.err.Bytes()
	return b
}

// Wait waits for its end.
func (at *subject) Wait(most time.Duration) bool {
	select {
	case <-at.ended:
		return true
	case <-time.After(most):
		return false
	}
}

// Stop ends it, and throws its box away.
func (at *subject) Stop() int {
	at.once.Do(func() {
		at.proc.Kill()
		<-at.ended
		<-at.read
		at.CloseWrite()
		at.out.Close()
		at.all.mu.Lock()
		delete(at.all.now, at)
		at.all.mu.Unlock()
		at.box.Discard()
	})
	if !at.state.OK() && (at.state.Signal != 0 || at.state.Killed) {
		return -1
	}
	return at.state.Code
}
