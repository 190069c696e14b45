package stoprequest

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/host/internal/workspace"
)

// Request is stop.json.
type Request struct {
	PID   int       `json:"pid"` // of the relay that is asked to end
	Drain bool      `json:"drain"`
	At    time.Time `json:"at"`
}

// poll is how often a watcher looks.
const poll = 100 * time.Millisecond

// Every looks again and again, until there is nothing more to look for or stop is called,
// which waits for a look that is under way.
func Every(pause time.Duration, look func() (done bool)) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			if look() {
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}

// Write asks the process to end: at once, or after the tick under way. That it is to end at
// once stays asked for.
func Write(ws *workspace.Workspace, pid int, drain bool) error {
	if r := read(ws); drain && r != nil && r.PID == pid && !r.Drain {
		return nil
	}
	raw, err := json.Marshal(Request{pid, drain, time.Now().UTC()})
	if err != nil {
		return err
	}
	return workspace.WriteFile(ws.Stop(), append(raw, '\n'))
}

// Remove takes the request for this process back; that of another one stays.
func Remove(ws *workspace.Workspace, pid int) error {
	if r := read(ws); r == nil || r.PID != pid {
		return nil
	}
	if err := os.Remove(ws.Stop()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// read gives the request, nil when there is none that can be read.
func read(ws *workspace.Workspace) *Request {
	raw, err := workspace.ReadFile(ws.Stop(), 4<<10)
	if err != nil {
		return nil
	}
	r := &Request{}
	if strictjson.Unmarshal(raw, r) != nil {
		return nil
	}
	return r
}

// Watcher looks for requests that are meant for this process.
type Watcher struct {
	ws  *workspace.Workspace
	end func()
}

// Watch calls now at the first request for an end at once. Stop ends the watch. Nobody can
// have asked this process yet: what is there was for an earlier one of its number. (Times
// would tell them apart only while the clock is not set back.)
func Watch(ctx context.Context, ws *workspace.Workspace, now func()) *Watcher {
	_ = Remove(ws, os.Getpid()) // where that can't be, nothing else of relay's can be written either
	w := &Watcher{ws: ws}
	w.end = Every(poll, func() bool {
		r := w.mine()
		wanted := r != nil && !r.Drain && ctx.Err() == nil
		if wanted {
			now()
		}
		return wanted || ctx.Err() != nil
	})
	return w
}

func (w *Watcher) mine() *Request {
	if r := read(w.ws); r != nil && r.PID == os.Getpid() {
		return r
	}
	return nil
}

// Asked reports whether this process was asked to end, in whatever way.
func (w *Watcher) Asked() bool { return w.mine() != nil }

// Stop ends the watch and clears away the request that was for this process.
func (w *Watcher) Stop() error {
	w.end()
	return Remove(w.ws, os.Getpid())
}
