package launch

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paxiom/relay/sdk/socket"
)

const (
	firstLineMax = 16 << 10
	// pumpGrace is how long a descendant that outlived every kill may keep a pipe.
	pumpGrace = 50 * time.Millisecond
	// settleTime is what a process that has closed its standard output gets to end.
	settleTime = time.Second
	exitOK     = "exit status 0"
)

// runner is go-plugin's runner.Runner: it owns the process and its pipes. go-plugin
// sees no pipe at all, only the first line; so nothing that still holds a pipe can
// hold up go-plugin.
type runner struct {
	cfg  Config
	exe  *os.File
	priv *private
	env  []string // go-plugin's own variables
	sink *sink

	folder  *socket.Folder         // where its socket has to be; nil when it was attached
	listens atomic.Pointer[string] // the socket's name in folder, once it was announced
	refused atomic.Pointer[socket.Error]

	mu    sync.Mutex
	proc  Process
	ended bool // no start after that
	in    *os.File
	out   *os.File
	err   *os.File

	firstKnown chan struct{} // closed when first is final
	first      []byte
	unread     []byte // what go-plugin has not read of first
	shut       bool   // standard output ended within the first line
	pumps      sync.WaitGroup
	timedOut   atomic.Bool
	killed     atomic.Bool

	done    chan struct{} // closed when the process and its strays are gone
	waitErr error
	left    int
}

func newRunner(cfg Config, priv *private) *runner {
	r := &runner{cfg: cfg, priv: priv, sink: newSink(cfg.Secrets, cfg.Stderr, cfg.StderrLimit),
		firstKnown: make(chan struct{}), done: make(chan struct{})}
	r.sink.most, r.sink.flood = cfg.OutputLimit, r.flooded
	return r
}

// flooded ends a process that writes without end.
func (r *runner) flooded() {
	r.mu.Lock()
	proc := r.proc
	r.mu.Unlock()
	if p, ok := proc.(interface{ Flooded(limit int64) }); ok {
		p.Flooded(r.cfg.OutputLimit) // it knows how to say why
		return
	}
	r.kill()
}

// Start starts the process. The ends of the pipes that the plugin has are closed
// here, so that only the plugin and its children hold them.
func (r *runner) Start(context.Context) error {
	var ours, theirs [3]*os.File
	defer closeAll(theirs[:])
	for i := range ours {
		rd, wr, err := os.Pipe()
		if err != nil {
			closeAll(ours[:])
			return err
		}
		ours[i], theirs[i] = rd, wr
		if i == 0 {
			ours[i], theirs[i] = wr, rd
		}
	}
	spec := StartSpec{
		Exe: r.exe, Path: r.cfg.Path, Argv: []string{r.cfg.Path},
		Env: dedupe(append(append(r.cfg.Env[:len(r.cfg.Env):len(r.cfg.Env)], "TMPDIR="+r.priv.path+"/tmp"), r.env...)),
		Dir: r.cfg.Dir, Private: r.priv.path, Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2],
	}
	spec.Dir = cmp.Or(spec.Dir, r.priv.path+"/cwd")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		closeAll(ours[:])
		return context.Canceled
	}
	proc, err := r.cfg.Start(spec)
	if err != nil {
		closeAll(ours[:])
		return err
	}
	limit(proc.Pid())
	r.proc, r.in, r.out, r.err = proc, ours[0], ours[1], ours[2]
	r.pumps.Add(2)
	go r.pumpStdout()
	go func() {
		defer r.pumps.Done()
		io.Copy(r.sink, r.err)
	}()
	go r.wait()
	return nil
}

// pumpStdout keeps the first line for the handshake; the rest is treated like
// standard error, and drained so that no child of the plugin can block on it.
func (r *runner) pumpStdout() {
	defer r.pumps.Done()
	line, rest := firstLine(r.out, firstLineMax)
	r.first, r.unread = line, line
	r.shut = len(line) < firstLineMax && !bytes.HasSuffix(line, []byte("\n"))
	close(r.firstKnown)
	io.Copy(r.sink, rest)
}

// wait sees the process off: its group and its strays are ended, the pipes are
// drained and closed, and only then the process counts as gone.
func (r *runner) wait() {
	err := r.proc.Wait()
	left := 0
	if p, ok := r.proc.(interface{ Left() int }); ok {
		left = p.Left()
	}
	drained := make(chan struct{})
	go func() { r.pumps.Wait(); close(drained) }()
	select {
	case <-drained:
	case <-time.After(pumpGrace):
	}
	closeAll([]*os.File{r.in, r.out, r.err})
	<-drained
	r.sink.close()
	r.waitErr, r.left = err, left
	close(r.done)
}

// settle waits for the end of a process that has closed its standard output before the
// handshake: it is on its way out.
func (r *runner) settle() {
	select {
	case <-r.firstKnown:
	default:
		return
	}
	if r.shut {
		select {
		case <-r.done:
		case <-time.After(settleTime):
		}
	}
}

// kill ends the process, or keeps it from being started.
func (r *runner) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.proc != nil {
		r.killed.Store(true)
		r.proc.Kill()
	}
}

func (r *runner) started() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.proc != nil
}

func (r *runner) pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.proc == nil {
		return 0
	}
	return r.proc.Pid()
}

// handshake gives the first line as far as it is known, parsed when it is one.
func (r *runner) handshake() (*handshakeLine, string) {
	select {
	case <-r.firstKnown:
		line := strings.TrimRight(string(r.first), "\r\n")
		return parseHandshake(line), line
	default:
		return nil, ""
	}
}

// exitText says how the process ended; "" while it has not.
func (r *runner) exitText() string {
	select {
	case <-r.done:
	default:
		return ""
	}
	if r.cfg.Attach != nil {
		return "its connection ended"
	}
	if r.waitErr == nil {
		return exitOK
	}
	return r.waitErr.Error()
}

// Tail gives the last lines that the plugin wrote, at most limit bytes.
func (r *runner) Tail(limit int) string { return lastLines(r.sink.text(), limit) }

// Panic gives the first line of a Go panic on standard error, and its goroutine.
func (r *runner) Panic() (line, stack string) { return findPanic(r.sink.text()) }

// closeAll closes what is open.
func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// handshakeReader is what go-plugin takes for standard output: the first line, then
// the end.
type handshakeReader struct{ r *runner }

func (h handshakeReader) Read(p []byte) (int, error) {
	<-h.r.firstKnown
	if len(h.r.unread) == 0 {
		return 0, io.EOF
	}
	n := copy(p, h.r.unread)
	h.r.unread = h.r.unread[n:]
	return n, nil
}

func (handshakeReader) Close() error { return nil }
