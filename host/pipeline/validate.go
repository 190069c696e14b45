package pipeline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/verify"
)

// validate runs the task's validation command on exactly what would land, and the checks
// that every change has to pass, until one fails. A task without any passes.
func (a *taskRun) validate(f durable.Flow, round int) (Check, error) {
	c := Check{OK: true}
	var err error
	for i, argv := range a.record.Task.Validation.Command.Steps() {
		name := fmt.Sprintf("validate-%d", round)
		if i > 0 {
			name = fmt.Sprintf("validate-%d-%d", round, i+1)
		}
		if c, err = a.check(f, name, round, required{argv: argv}); err != nil || !c.OK {
			break
		}
	}
	for _, k := range a.p.env.Config.Verification.RequiredChecks() {
		if err != nil || !c.OK {
			break
		}
		c, err = a.check(f, fmt.Sprintf("required-%s-%d", k.ID, round), round, required{id: k.ID, argv: k.Argv})
	}
	if hidden := a.hidden(); err == nil && c.OK && len(hidden) > 0 {
		c, err = a.checkBy(f, fmt.Sprintf("hidden-%d", round), round, func(ctx context.Context) (Check, error) { return a.tryHidden(ctx, hidden) })
	}
	return c, err
}

// required is a command that a change of the task has to pass: the task's own, or a check of
// the configuration, which may have a folder, variables and a limit of its own.
type required struct {
	id   string // of the check
	argv []string
}

// commands are all of them.
func (a *taskRun) commands() (all []required) {
	for _, argv := range a.record.Task.Validation.Command.Steps() {
		all = append(all, required{argv: argv})
	}
	for _, k := range a.p.env.Config.Verification.RequiredChecks() {
		all = append(all, required{id: k.ID, argv: k.Argv})
	}
	return all
}

// check is one of them.
func (a *taskRun) check(f durable.Flow, name string, round int, r required) (Check, error) {
	return a.checkBy(f, name, round, func(ctx context.Context) (Check, error) {
		c, _, err := a.try(ctx, name, r)
		return c, err
	})
}

func (a *taskRun) checkBy(f durable.Flow, name string, round int, try func(context.Context) (Check, error)) (Check, error) {
	c, err := do(a, f, name, func(ctx context.Context, _ durable.Attempt) (Check, error) {
		if err := a.stand(ctx); err != nil {
			return Check{}, err
		}
		c, err := try(ctx)
		c.Round = round
		return c, err
	})
	if err != nil {
		return c, err
	}
	a.record.Checks = append(a.record.Checks, c)
	a.left(c.Outcome, !c.OK)
	return c, nil
}

// stand opens the box and has the judge read it, for the step that continues what is there.
func (a *taskRun) stand(ctx context.Context) error {
	if _, err := a.open(ctx); err != nil {
		return err
	}
	_, err := a.look(ctx)
	return err
}

// try runs a command in a fresh box with the change, and keeps what it printed.
func (a *taskRun) try(ctx context.Context, name string, of required) (Check, string, error) {
	k := a.Checks(verify.Command{ID: name, Slow: true, Argv: of.argv})
	if k.Settings = nil; of.id != "" {
		k.Settings = func(string) (dir string, env []string, limit time.Duration) {
			return a.p.env.Config.Verification.Setting(of.id)
		}
	}
	results, code := a.Checker.Verify(ctx, k)
	a.Plan.Tell(a.At.Heard)
	if ctx.Err() != nil {
		return Check{}, "", ctx.Err()
	}
	if len(results) == 0 {
		return Check{}, "", diag.Internal(fmt.Errorf("the command %q was not run", of.argv))
	}
	r := results[0]
	c := Check{Command: of.argv, OK: code == judge.Success, Outcome: r.Outcome(), ExitCode: r.ExitCode, TimedOut: r.TimedOut, MS: r.Duration.Milliseconds(), File: "check-" + name + ".txt", Tests: report.FactsOf(r)}
	if !c.OK {
		c.Code = code
	}
	return c, string(r.Output), workspace.WriteFile(a.dir(c.File), r.Output)
}

// hidden are the hidden checks that count for the task.
func (a *taskRun) hidden() []verify.Command {
	all, _ := a.p.env.Config.Verification.HiddenChecks(a.p.place, a.p.env.Home, a.record.Task.HiddenChecks)
	return all
}

// tryHidden runs them on the change. What they print is the operator's alone.
func (a *taskRun) tryHidden(ctx context.Context, all []verify.Command) (Check, error) {
	k := a.Checks()
	k.Hidden = all
	began := time.Now()
	_, code := a.Checker.VerifyHidden(ctx, k)
	a.Plan.Tell(a.At.Heard)
	if ctx.Err() != nil {
		return Check{}, ctx.Err()
	}
	var v report.Verification
	told := a.TellHidden(&v)
	c := Check{Command: []string{}, OK: code == judge.Success, Outcome: told.Said + " passed", Hidden: v.Hidden, Seed: v.Seed, MS: time.Since(began).Milliseconds()}
	if !c.OK {
		c.Code, c.ExitCode, c.Outcome = judge.StopHiddenFailed, 1, told.Failed()
	}
	return c, nil
}

// problem is the end of a task whose last check failed.
func (a *taskRun) problem(c Check, why string) *Problem {
	p := &Problem{Code: c.Code, What: "the validation command fails", Why: c.Outcome + why, Fix: "`relay task show " + a.record.TaskID + "` has its output"}
	switch c.Code {
	case judge.StopHiddenFailed:
		p.What, p.Fix = "the hidden checks fail", "`relay show "+a.record.RunID+"` says what they printed, to you alone"
	case judge.StopTestsMissing:
		p.What = "the validation command no longer runs " + format.Count(len(c.Tests.Missing), "test")
	case judge.StopOldTestsFail:
		p.What = "the validation command passes only with the changed tests, and fails with those of the base"
	}
	return p
}

// outputs are what the validation command printed the last time.
func (a *taskRun) outputs() (all []prompts.Output) {
	for _, c := range a.record.Checks {
		if c.Round != a.record.Checks[len(a.record.Checks)-1].Round {
			continue
		}
		text := "[" + c.Outcome + "]"
		if c.Hidden == "" {
			b, err := workspace.ReadFile(a.dir(c.File), 2<<20)
			if err != nil {
				b = []byte(err.Error())
			}
			text += "\n" + tail(string(b), 12_000)
		}
		all = append(all, prompts.Output{Command: c.Name(), Text: text})
	}
	return all
}

// tail keeps the end of a text.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "[…]\n" + strings.ToValidUTF8(s[len(s)-n:], "")
}
