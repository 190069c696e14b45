package pluginhost

import (
	"context"
	"sync"
	"time"
)

// Lazy opens its plugin when it is first needed, and once more when it has ended by
// itself. Several can be warmed in parallel. It is safe for concurrent use; see
// [NewLazy].
type Lazy struct {
	spec Spec
	life context.Context // ends with Close, and any opening with it
	end  context.CancelFunc

	mu       sync.Mutex // held while the plugin is being opened
	plugin   *Plugin
	restarts int
	left     int

	warming sync.WaitGroup
}

// maxRestarts is how often a plugin that has ended is opened again.
const maxRestarts = 1

// NewLazy names a plugin that may be needed. Nothing is started.
func NewLazy(spec Spec) *Lazy {
	l := &Lazy{spec: spec}
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// Warm opens the plugin in the background, so that the first Get waits less. A
// failure shows in Get, which tries again.
func (l *Lazy) Warm(ctx context.Context) {
	l.warming.Go(func() { l.Get(ctx) })
}

// alive is how long Renew waits for a sign of life.
const alive = 2 * time.Second

// Renew is for a plugin that has rested: it may be restarted as often as a new one,
// and one that does not answer any more is ended, so that Get opens it again. It
// returns at once; Get waits for it.
func (l *Lazy) Renew(ctx context.Context) {
	l.mu.Lock()
	l.restarts = 0
	l.warming.Go(func() {
		defer l.mu.Unlock()
		p := l.plugin
		if p == nil || !p.Alive() || l.life.Err() != nil {
			return
		}
		_, f := p.getInfo(ctx, alive)
		if f != nil && ctx.Err() == nil {
			l.left += p.Close(ctx)
			l.plugin = nil
		}
	})
}

// Get gives the open plugin, opening it when that has not happened. A failure to open
// is not counted as a restart. The error is a *Failure.
func (l *Lazy) Get(ctx context.Context) (*Plugin, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life.Err() != nil {
		return nil, l.spec.failure(Cancelled, "Start", l.spec.label()+" was closed", "", "")
	}
	if l.plugin != nil && l.plugin.Alive() {
		return l.plugin, nil
	}
	if l.plugin != nil {
		if l.restarts >= maxRestarts {
			return nil, l.plugin.crashed("Start")
		}
		l.left += l.plugin.Close(ctx)
		l.plugin = nil
		l.restarts++
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	p, f := open(ctx, l.spec)
	if f != nil {
		return nil, f
	}
	l.plugin = p
	return p, nil
}

// Close ends the plugin if it was ever opened, and says how many processes were left
// behind in all.
func (l *Lazy) Close(ctx context.Context) (left int) {
	l.end()
	l.mu.Lock()
	if l.plugin != nil {
		l.left += l.plugin.Close(ctx)
		l.plugin = nil
	}
	left, l.left = l.left, 0
	l.mu.Unlock()
	l.warming.Wait()
	return left
}
