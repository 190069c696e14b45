package crew

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
)

// Session keeps the provider plugins of several runs, one after the other, running.
// Builders are not kept: each works in a box of its own and ends with it. A nil Session
// keeps nothing. It is for one goroutine.
type Session struct{ plugins map[string]*Plugin }

// Provider gives a run the provider of this name: the process that runs already, or as
// Env.Provider does. One that does not answer any more is started anew when it is needed.
func (s *Session) Provider(ctx context.Context, e Env, name string, git *judge.Git) (*Plugin, error) {
	if s == nil {
		return e.Provider(name, git)
	}
	p := s.plugins[name]
	if p == nil {
		p, err := e.Provider(name, git)
		if err == nil {
			if s.plugins == nil {
				s.plugins = map[string]*Plugin{}
			}
			s.plugins[name] = p
		}
		return p, err
	}
	p.newPart()
	if err := p.openStderr(e.StderrDir); err != nil {
		return nil, err
	}
	p.Lazy.Renew(ctx)
	return p, nil
}

// Finish says that the run will not need the plugin again: what is not kept ends in the
// background.
func (s *Session) Finish(ctx context.Context, p *Plugin) {
	if s == nil {
		p.Finish(ctx)
	}
}

// Done ends the plugin's part in a run.
func (s *Session) Done(ctx context.Context, p *Plugin) {
	if s == nil {
		p.Close(ctx)
	} else {
		p.closeStderr()
	}
}

// Close ends the plugins, and says how many processes they had left behind. The session
// can be used again afterwards.
func (s *Session) Close(ctx context.Context) (left int) {
	if s == nil {
		return 0
	}
	for _, p := range s.plugins {
		p.Worker = &report.Worker{}
		p.Close(ctx)
		left += p.Worker.ProcessesLeft
	}
	s.plugins = nil
	return left
}

// redirect is a writer whose target changes from run to run. What is written between
// two runs is dropped.
type redirect struct {
	mu sync.Mutex
	w  io.Writer
}

func (d *redirect) to(f *os.File) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.w = nil
	if f != nil {
		d.w = f
	}
}

// Write implements io.Writer.
func (d *redirect) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.w == nil {
		return len(b), nil
	}
	return d.w.Write(b)
}
