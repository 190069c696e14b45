package cycle

import (
	"context"
	"fmt"
	"time"

	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/report"
)

// enter writes down that the cycle is in a state, before it acts.
func (c *Cycle) enter(f durable.Flow, to State, by who, note string) error {
	c.steps++
	from := c.rec.State
	t, err := durable.Step(f, fmt.Sprintf("to-%d-%s", c.steps, to), func(context.Context, durable.Attempt) (Transition, error) {
		if from != "" && !may(from, to, by) {
			return Transition{}, fmt.Errorf("no transition leads from %s to %s by %s", from, to, by)
		}
		t := Transition{To: to, At: c.env.now().UTC().Truncate(time.Millisecond), By: by, Iteration: c.rec.Iteration, Note: note}
		c.move(t)
		if err := c.save(); err != nil {
			return t, c.halt(err)
		}
		c.log(fmt.Sprintf("state %s -> %s by %s, iteration %d%s", orDash(from), to, by, c.rec.Iteration, after(": ", note)))
		c.observe(progress.Event{Kind: progress.Entered, State: string(to)})
		if to.Gate() {
			c.notify()
		}
		journal.Reached("cycle." + string(to))
		return t, nil
	})
	if err != nil {
		return err
	}
	if n := len(c.rec.Transitions); n == 0 || c.rec.Transitions[n-1] != t {
		c.move(t)
	}
	return nil
}

func (c *Cycle) move(t Transition) {
	c.rec.State = t.To
	c.rec.Transitions = append(c.rec.Transitions, t)
}

// outcome is the recorded result of a step that may fail for a while.
type outcome[T any] struct {
	Result  T              `json:"result"`
	Problem *Problem       `json:"problem,omitempty"`
	Limits  []report.Limit `json:"limits,omitempty"` // of vendors, that all who could be asked have met
}

// Go is the operator's answer to a problem: try again, or do without some audits.
type Go struct {
	Without []string `json:"without,omitempty"`
}

// try does a step until it succeeds. Limits of vendors are waited for. After any other
// failure the cycle is parked with its problem, and the operator's resume makes another
// attempt.
func try[T any](c *Cycle, f durable.Flow, name string, work func(ctx context.Context, a durable.Attempt, without []string) (T, error)) (T, error) {
	var without []string
	var series *quota.Wait
	for n := 1; ; n++ {
		id := fmt.Sprintf("%s-%d-%d", name, c.rec.Iteration, n)
		a, err := durable.Step(f, id, func(ctx context.Context, at durable.Attempt) (outcome[T], error) {
			v, err := work(ctx, at, without)
			if err != nil && ctx.Err() == nil {
				limits, p := c.failed(err)
				return outcome[T]{Problem: p, Limits: limits}, nil
			}
			return outcome[T]{Result: v}, err
		})
		if err != nil {
			return a.Result, err
		}
		if c.rec.Problem = a.Problem; a.Problem == nil && len(a.Limits) == 0 {
			return a.Result, nil
		}
		if len(a.Limits) > 0 {
			if series, err = c.wait(f, id, series, a.Limits); err != nil {
				return a.Result, err
			}
			if series != nil {
				continue
			}
		}
		g, err := durable.Ask[Go](f, "again-"+id, c.rec.Problem)
		if err != nil {
			return a.Result, err
		}
		c.rec.Problem, without = nil, g.Without
	}
}
