package cycle

import (
	"context"
	"errors"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/modelcall"
	"github.com/paxiom/relay/host/internal/progress"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
)

// failed says what became of a step: limits, which end by themselves, or a problem, which
// is the operator's.
func (c *Cycle) failed(err error) ([]report.Limit, *Problem) {
	if limited, ok := errors.AsType[*modelcall.Limited](err); ok {
		c.log("limit " + report.Tell(limited.Limits, report.Limit.Met))
		return limited.Limits, nil
	}
	p := problemOf(err)
	c.stuck(p)
	return nil, p
}

// stuck tells the operator of a problem.
func (c *Cycle) stuck(p *Problem) {
	c.log("problem " + string(p.Code) + " " + p.What + after(": ", p.Why))
	c.rec.Problem = p
	c.notify()
}

// waiting is what a step decides about limits: a wait, or that it would be too long.
type waiting struct {
	Wait    *quota.Wait `json:"wait,omitempty"`
	Problem *Problem    `json:"problem,omitempty"`
}

// wait sleeps until everything may be asked again: however often relay and the machine are
// restarted meanwhile, and shorter when the operator says so. A limit that lasts too
// long is a problem, and the series is over: nil.
func (c *Cycle) wait(f durable.Flow, step string, series *quota.Wait, limits []report.Limit) (*quota.Wait, error) {
	fresh := false
	d, err := durable.Step(f, "wait-"+step, func(context.Context, durable.Attempt) (waiting, error) {
		fresh = true
		w, err := quota.Next(series, limits, c.env.now(), c.env.Config.Limits.LongestWait())
		var long *quota.TooLong
		if !errors.As(err, &long) {
			return waiting{Wait: w}, err
		}
		p := c.tooLong(limits, long)
		c.stuck(p)
		return waiting{Problem: p}, nil
	})
	if err != nil || d.Wait == nil {
		c.rec.Problem = d.Problem
		return nil, err
	}
	name := "limit-" + step
	if st, err := c.store.State(c.rec.UUID); fresh || err == nil && st.Waiting == name {
		if err := c.beginWait(f.Context(), d.Wait); err != nil {
			return nil, err
		}
	}
	if err := f.SleepUntil(name, d.Wait.Until); err != nil {
		return nil, err
	}
	if c.rec.Wait != nil {
		c.log("limit over, everything is asked again")
		c.rec.Wait = nil
		err = c.save()
	}
	return d.Wait, err
}

// beginWait makes the wait visible while it lasts. Hours may pass: no plugin lives on.
func (c *Cycle) beginWait(ctx context.Context, w *quota.Wait) error {
	c.closePlugins(ctx)
	c.rec.Wait = w
	c.log("limit waits until " + w.Until.Local().Format(time.DateTime))
	c.observe(progress.Event{Kind: progress.Waiting, Until: w.Until, Text: report.Tell(w.Limits, report.Limit.Met)})
	err := c.save()
	journal.Reached("cycle.waits")
	return err
}

// tooLong is the problem of a limit that lasts longer than is waited.
func (c *Cycle) tooLong(limits []report.Limit, long *quota.TooLong) *Problem {
	return problemOf(diag.New("", report.Tell(limits, report.Limit.Met), long.Error(), "`relay audit resume "+Short(c.rec.UUID)+"` asks again; limits.max_wait says how long relay waits on its own"))
}

// Wake ends the waits of the cycles of a workspace, or of the one that is named: everybody
// is asked again. It gives those that waited.
func Wake(ws *workspace.Workspace, uuid string) ([]*Record, error) {
	all, err := List(ws)
	if err != nil {
		return nil, err
	}
	store, err := durable.NewFiles(Dir(ws), nil)
	if err != nil {
		return nil, diag.Internal(err)
	}
	var woken []*Record
	for _, r := range all {
		if r.Wait == nil || r.State.Ended() || uuid != "" && r.UUID != uuid {
			continue
		}
		if err := store.Wake(r.UUID); err != nil {
			return woken, diag.Internal(err)
		}
		woken = append(woken, r)
	}
	return woken, nil
}

// Running reports whether a process has the cycle in hand.
func Running(ws *workspace.Workspace, uuid string) bool {
	store, err := durable.NewFiles(Dir(ws), nil)
	if err != nil {
		return false
	}
	held, _ := store.Glance(uuid)
	return held
}
