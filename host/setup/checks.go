package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/checkcmd"
	"github.com/paxiom/relay/host/internal/configtemplate"
	"github.com/paxiom/relay/host/internal/detect"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/verify"
)

// Time for the checks that init tries, in all, and the limit of one that did not end in it.
const (
	tryChecks = 5 * time.Minute
	longLimit = 30 * time.Minute
)

// withoutMissing leaves out the checks whose program is not here: no run that asks for one
// could succeed.
func withoutMissing(r *host.Repo, root string, res *InitResult) []detect.Check {
	there := []detect.Check{}
	for _, c := range res.Checks {
		if what, _, _ := pluginenv.CantStart(c.Cmd, r.Options.Env, root); what != "" {
			res.Notices = append(res.Notices, fmt.Sprintf("left out: the check %s (%s), since %s", c.ID, c.From, what))
			continue
		}
		there = append(there, c)
	}
	return there
}

// tryThem runs the proposed checks on the last commit, as a tick would, to know how long
// they take and which of them pass. What can't be tried stays as it is.
func tryThem(ctx context.Context, r *host.Repo, res *InitResult, tell func(string)) {
	o, err := r.Open()
	if err != nil || len(res.Checks) == 0 {
		return
	}
	t, err := checkcmd.TryOut(ctx, r, o)
	if err != nil {
		return // doctor and the first run say why
	}
	defer t.Close()
	v := &o.Loaded.Config.Verification
	began := time.Now()
	var gone []string
	for i := range res.Checks {
		c := &res.Checks[i]
		left := tryChecks - time.Since(began)
		if left < time.Second || ctx.Err() != nil {
			res.Notices = append(res.Notices, "the check "+c.ID+" was not tried: time was up")
			continue
		}
		argv := append([]string{c.Cmd}, c.Args...)
		tell("trying " + c.ID + ": " + strings.Join(argv, " "))
		t.Checks.Settings = func(id string) (dir string, env []string, limit time.Duration) {
			dir, env, _ = v.Setting(id)
			return dir, env, left
		}
		end := t.Checker.Once(ctx, t.Checks, verify.Command{ID: c.ID, Argv: argv}, nil, nil)
		said := strings.TrimSpace(string(end.Output))
		switch {
		case ctx.Err() != nil:
		case end.TimedOut:
			c.Limit = int(longLimit.Seconds())
			res.Notices = append(res.Notices, fmt.Sprintf("the check %s did not end within %v here, so it gets %v: timeout_seconds in %s", c.ID, left.Round(time.Second), longLimit, res.File))
		case end.Err != nil || end.ExitCode == 126 || end.ExitCode == 127 || strings.Contains(format.Telling(said), "No module named"):
			res.Notices = append(res.Notices, fmt.Sprintf("left out: the check %s (%s) can't run here: %s: %s", c.ID, c.From, end.Outcome(), format.Telling(said)))
			gone = append(gone, c.ID)
		case !end.OK():
			c.Fails = end.Outcome()
			res.Notices = append(res.Notices, fmt.Sprintf("the check %s fails on the last commit (%s: %s): as long as %s has it under verification.required, only a change that fixes it can land", c.ID, c.Fails, failed(end, said), res.File))
		default:
			c.Limit = limitFor(end.Duration, time.Duration(v.TimeoutFastSeconds)*time.Second)
		}
	}
	res.Checks = slices.DeleteFunc(res.Checks, func(c detect.Check) bool { return slices.Contains(gone, c.ID) })
}

// failed is why a check failed: its tests, where it names them, and what it printed of that.
func failed(end verify.Result, said string) string {
	var names []string
	if end.Report != nil {
		for name, t := range end.Report.Tests {
			if t.Status == verify.Fail {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return format.Telling(said)
	}
	return format.Count(len(names), "test") + " failed, " + host.Safe(slices.Min(names)) + " for one"
}

// limitFor is four times what a check took, in seconds and whole half minutes; 0 where the
// built-in limit leaves it that.
func limitFor(took, builtin time.Duration) int {
	if 4*took <= builtin {
		return 0
	}
	return int((4*took + 30*time.Second - 1).Truncate(30 * time.Second).Seconds())
}

// measured writes the configuration once more, with what the checks took.
func measured(ctx context.Context, r *host.Repo, root string, res *InitResult, format string, c configtemplate.Choice, tell func(string)) error {
	was := res.Config
	tryThem(ctx, r, res, tell)
	c.Project.Checks, res.Required = res.Checks, configtemplate.Required(res.Checks)
	text, err := render(res, format, c)
	if err != nil || string(text) == was {
		return err
	}
	res.Config = string(text)
	return writeTrusted(r, root, res, text)
}
