package pluginenv

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge/git"
)

// Session keeps the provider plugins of several runs, one after the other, running.
// Builders are not kept: each works in a box of its own and ends with it. A nil Session
// keeps nothing. It is for one goroutine.
type Session struct{ plugins map[string]*Plugin }

// Provider gives a run the provider of this name: the process that runs already, or as
// Env.Provider does. One that does not answer any more is restarted when it is needed.
func (s *Session) Provider(ctx context.Context, e Env, name string, git *git.Repo) (*Plugin, error) {
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
	p.wordsTo(e.StderrDir)
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
		p.words.to("")
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

// wordsTo names the file that the plugin's standard error goes to in this run; "" when the
// run has no place for it.
func (p *Plugin) wordsTo(dir string) string {
	path := ""
	if dir != "" {
		path = filepath.Join(dir, p.Entry.Name+".stderr")
	}
	p.words.to(path)
	return path
}

// redirect is a writer whose file changes from run to run. The file is made when there is
// something to write: most plugins say nothing. What is written between two runs is dropped.
type redirect struct {
	mu   sync.Mutex
	path string
	f    *os.File // nil as long as nothing was written
}

func (d *redirect) to(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.f != nil {
		d.f.Close()
	}
	d.path, d.f = path, nil
}

// name is the file's, "" when nothing was written.
func (d *redirect) name() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.f == nil {
		return ""
	}
	return d.path
}

// Write implements io.Writer.
func (d *redirect) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.path == "" || len(b) == 0 {
		return len(b), nil
	}
	if d.f == nil {
		if err := os.MkdirAll(filepath.Dir(d.path), 0o755); err != nil {
			return 0, err
		}
		f, err := os.OpenFile(d.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return 0, err
		}
		d.f = f
	}
	return d.f.Write(b)
}
