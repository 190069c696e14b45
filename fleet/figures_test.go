package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/paxiom/relay/fleet/internal/job"
)

var figures = flag.Bool("figures", false, "measure in TestFigures")

// What a fleet costs beside the engine and beside one worker. It prints, and judges nothing: make bench-fleet.
func TestFigures(t *testing.T) {
	if *bin == "" || !*figures {
		t.Skip("make bench-fleet")
	}
	p := newPlace(t)
	p.serve()
	t.Setenv("TEMPORAL_API_KEY", "")
	c, err := p.engine().dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	alone, whole := p.empty(c, 300)
	t.Logf("empty ticks: %.0f/s by the fleet's workflows; a workflow of one empty activity: %.0f/s", whole, alone)

	const each = 6
	one := p.second(c, 1, each)
	added := (one - each*time.Second) / each
	t.Logf("one worker, ticks of a second one after the other: %v for %d; the fleet adds %v to each", one.Round(time.Millisecond), each, added.Round(time.Millisecond))
	eight := p.second(c, 8, each)
	t.Logf("8 workers: %v for %d; %.2f times one worker", eight.Round(time.Millisecond), 8*each, 8*float64(one)/float64(eight))
}

// empty gives how many ticks a second an activity that does nothing allows: in a workflow of its own, and by the fleet's.
func (p *place) empty(c client.Client, n int) (alone, whole float64) {
	p.t.Helper()
	w := worker.New(c, "figures", worker.Options{MaxConcurrentWorkflowTaskPollers: 8, MaxConcurrentActivityTaskPollers: 8})
	w.RegisterActivityWithOptions(func(context.Context, job.Step) (job.Result, error) { return job.Result{Code: "SUCCESS"}, nil }, activity.RegisterOptions{Name: job.TickType})
	w.RegisterWorkflowWithOptions(job.Repository, workflow.RegisterOptions{Name: job.RepositoryType})
	w.RegisterWorkflowWithOptions(job.Run, workflow.RegisterOptions{Name: job.RunType})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, j job.Job) (res job.Result, err error) {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		err = workflow.ExecuteActivity(ctx, job.TickType, job.Step{Job: j}).Get(ctx, &res)
		return res, err
	}, workflow.RegisterOptions{Name: "alone"})
	if err := w.Start(); err != nil {
		p.t.Fatal(err)
	}
	defer w.Stop()
	rate := func(kind string) float64 {
		begun := time.Now()
		p.side(n, func(i int) {
			j := job.New(job.Spec{Remote: kind, Ref: "r" + strconv.Itoa(i), Key: strconv.Itoa(i)}, "", "figures")
			j.Mirror = "" // no worker here has a repository
			p.asked(c, j, kind)
		})
		return float64(n) / time.Since(begun).Seconds()
	}
	return rate("alone"), rate(job.RunType)
}

// asked starts a workflow as submit does and waits for its end.
func (p *place) asked(c client.Client, j job.Job, kind string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	h, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: j.ID, TaskQueue: j.Queue}, kind, j)
	if err == nil && kind == job.RunType {
		_, err = c.SignalWithStartWorkflow(ctx, j.RepositoryID(), job.QueueSignal, j.ID, client.StartWorkflowOptions{ID: j.RepositoryID(), TaskQueue: j.Queue}, job.RepositoryType, []string(nil))
	}
	if err == nil {
		err = h.Get(ctx, nil)
	}
	if err != nil {
		p.t.Error(kind, err)
	}
}

// side does n things, 32 at a time.
func (p *place) side(n int, do func(int)) {
	turns, done := make(chan struct{}, 32), make(chan struct{}, n)
	for i := range n {
		turns <- struct{}{}
		go func() { do(i); <-turns; done <- struct{}{} }()
	}
	for range n {
		<-done
	}
}

// second has workers make so many ticks each whose relay takes a second, and gives how long that took. Each worker has a
// branch of its own at hand: what is of one branch is made one after the other.
func (p *place) second(c client.Client, workers, each int) time.Duration {
	p.t.Helper()
	home := p.home("operator")
	var all []*machine
	var most []string
	for i := range workers {
		name := fmt.Sprintf("%d-%d", workers, i)
		p.command(home, "git", "-C", p.remote, "branch", "-f", "s"+name, "main")
		h := p.home(name)
		w := &machine{p: p, home: h, program: filepath.Join(h, "relay")}
		write(p.t, w.program, "#!/bin/sh\n[ \"$1\" = run ] || exec "+*bin+"/relay \"$@\"\nsleep 1\n"+`echo '{"report": {"code": "SUCCESS", "run_id": "r"}}'`+"\n")
		w.start("--label", strconv.Itoa(workers))
		all = append(all, w)
	}
	queue := queueOf(strconv.Itoa(workers))
	make := func(tag string, n int) time.Duration {
		begun := time.Now()
		p.side(workers, func(i int) {
			for k := range n {
				s := job.Spec{Kind: job.KindRun, Remote: p.remote, Ref: fmt.Sprintf("s%d-%d", workers, i), Key: fmt.Sprintf("%s-%d", tag, k), Goal: "canary"}
				raw, err := json.Marshal(s)
				digest := ""
				if err == nil {
					digest, err = p.engine().store().Put(raw)
				}
				if err != nil {
					p.t.Error(err)
				}
				p.asked(c, job.New(s, digest, queue), job.RunType)
			}
		})
		return time.Since(begun)
	}
	make("warm", 1) // the first clones
	took := make("tick", each)
	for _, w := range all {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
		for line := range strings.Lines(string(status)) {
			if peak, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				most = append(most, strings.Join(strings.Fields(peak), " "))
			}
		}
		w.kill()
	}
	slices.Sort(most)
	p.t.Logf("most memory of each of %d workers: %s", workers, strings.Join(most, ", "))
	return took
}
