package loop

import (
	"context"
	"time"

	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/tick"
)

// The operator's git is waited for in silence for heldInSilence: it is mostly over by then.
const (
	heldInSilence = time.Second
	lookAgain     = 200 * time.Millisecond
)

// ready says why no tick begins. What the operator's git is about, a rebase or the message of a
// commit, is waited for as long as a vendor's limit; then the tick says what is in its way. The
// first tick says so at once: the operator has just typed the command.
func (l *Loop) ready(ctx context.Context, f durable.Flow, n int, o tick.Options) (Reason, string, error) {
	for began, said := l.now(), ""; ; {
		if reason, why, err := l.before(n); reason != "" || err != nil {
			return reason, why, err
		}
		waited := l.now().Sub(began)
		held := tick.AtWork(ctx, l.env, o, waited)
		if first := l.last.RunID == "" && l.series == nil; held == "" || first || waited > l.longest() {
			if said == "" {
				return "", "", nil
			}
			return "", "", l.show(f, l.progress(n))
		}
		if held != said && waited > heldInSilence {
			said = held
			l.closeSession(ctx) // hours may pass
			p := l.progress(n)
			p.Held = "the next tick begins once " + held
			if l.env.Observer != nil {
				l.env.Observer.Observe(progress.Event{Kind: progress.Notice, At: l.now(), Text: p.Held})
			}
			if err := l.show(f, p); err != nil {
				return "", "", err
			}
		}
		select {
		case <-ctx.Done():
			return "", "", ctx.Err()
		case <-time.After(lookAgain):
		}
	}
}
