package cycle

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host/attempt"
	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/checks"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// TestFacts is what the tests said.
type TestFacts struct {
	Command  []string `json:"command"`
	Passed   bool     `json:"passed"` // they ended with exit code 0
	ExitCode int      `json:"exit_code"`
	TimedOut bool     `json:"timed_out,omitempty"`
	Error    string   `json:"error,omitempty"` // they could not be run
	MS       int64    `json:"ms"`
	SHA256   string   `json:"sha256"` // of test-output.txt
}

// Text says the result in a few words.
func (t *TestFacts) Text() string {
	switch {
	case t == nil:
		return "no tests were run"
	case t.Passed:
		return "tests passed"
	case t.TimedOut:
		return "tests ran out of time"
	case t.Error != "":
		return "tests could not be run: " + t.Error
	}
	return fmt.Sprintf("tests failed with exit code %d", t.ExitCode)
}

// decide is the tests and the second gate. again: another iteration follows; approved:
// nothing landed, and the plan is carried out once more. n counts the decisions of the
// iteration.
func (c *Cycle) decide(f durable.Flow, n *int) (again bool, approved *Approval, err error) {
	if c.rec.Revision.Landed && len(c.rec.ConfigSnapshot.Cycle.TestCommand) > 0 {
		if err := c.enter(f, Testing, byRelay, ""); err != nil {
			return false, nil, err
		}
		t, err := try(c, f, "tests", func(ctx context.Context, at durable.Attempt, _ []string) (TestFacts, error) { return c.test(ctx, at) })
		if err != nil {
			return false, nil, err
		}
		c.rec.Tests = &t
		if rules := c.rec.ConfigSnapshot.Cycle; !t.Passed && rules.AutoIterate && c.rec.Iteration < rules.MaxIterations {
			return true, nil, c.enter(f, Iterating, byRelay, t.Text())
		}
	}
	note := c.rec.Tests.Text()
	if !c.rec.Revision.Landed {
		note = orDefault(c.rec.Revision.Why, "the plan's conflicts need you")
	}
	if err := c.enter(f, AwaitingAcceptance, byRelay, note); err != nil {
		return false, nil, err
	}
	for {
		*n++
		a, err := durable.Ask[Acceptance](f, fmt.Sprintf("accept-%d-%d", c.rec.Iteration, *n), map[string]any{"state": AwaitingAcceptance, "iteration": c.rec.Iteration})
		if err != nil {
			return false, nil, err
		}
		void, err := durable.Step(f, fmt.Sprintf("acceptance-%d-%d", c.rec.Iteration, *n), func(ctx context.Context, _ durable.Attempt) (string, error) {
			why, err := c.stands(ctx, a)
			if err != nil {
				return "", c.halt(err)
			}
			return orDefault(why, c.noSuch(a)), nil
		})
		if err != nil {
			return false, nil, err
		}
		if void != "" {
			c.note("the decision is void: " + void)
			continue
		}
		if a.Decision == DecideAgain {
			return false, a.Approval, nil
		}
		c.rec.Acceptance = &a
		if a.Decision == DecideIterate {
			return true, nil, c.enter(f, Iterating, byOperator, "")
		}
		if err := c.enter(f, Complete, byOperator, ""); err != nil {
			return false, nil, err
		}
		return false, nil, c.finish(f)
	}
}

// noSuch says why a decision can't be made about this revision, "" when it can.
func (c *Cycle) noSuch(a Acceptance) string {
	switch {
	case a.Decision == DecideAccept && !c.rec.Revision.Landed && c.rec.LastLanded == nil:
		return "nothing was landed, so there is nothing to accept"
	case a.Decision == DecideAgain && c.rec.Revision.Landed:
		return "the plan was carried out"
	case a.Decision == DecideIterate && c.rec.Iteration >= c.rec.ConfigSnapshot.Cycle.MaxIterations:
		return fmt.Sprintf("this was iteration %d of %d", c.rec.Iteration, c.rec.ConfigSnapshot.Cycle.MaxIterations)
	}
	return ""
}

// finish gives back what the cycle had: the branch is marked, the work tree and the
// service are free.
func (c *Cycle) finish(f durable.Flow) error {
	_, err := durable.Step(f, "finish", func(ctx context.Context, _ durable.Attempt) (string, error) {
		if err := c.markReady(ctx); err != nil {
			return "", c.halt(err)
		}
		if err := c.letGo(ctx); err != nil {
			return "", c.halt(err)
		}
		return c.rec.Acceptance.Tree, nil
	})
	return err
}

// readyRef names the commit that the operator accepted.
func readyRef(uuid string) string { return "refs/relay/accepted/" + uuid }

func (c *Cycle) markReady(ctx context.Context) error {
	_, err := c.git.Write(ctx, nil, nil, "update-ref", readyRef(c.rec.UUID), c.rec.Acceptance.Tree)
	return err
}

// letGo frees the work tree and the service; the branch stays.
func (c *Cycle) letGo(ctx context.Context) error {
	if err := c.env.releaseWorktree(ctx, c.rec.Worktree, c.rec.UUID); err != nil {
		return err
	}
	return c.env.unlockService(c.rec.ServiceID, c.rec.UUID)
}

// test runs the service's tests on the committed revision, in a fresh box: the tree
// that they see is the branch, and what they write is thrown away.
func (c *Cycle) test(ctx context.Context, at durable.Attempt) (TestFacts, error) {
	if _, err := c.at().Recover(ctx, false, nil); at.Again && err != nil {
		return TestFacts{}, err
	}
	rules := c.rec.ConfigSnapshot.Cycle
	t := TestFacts{Command: rules.TestCommand}
	commit, err := c.tip(ctx)
	if err != nil {
		return t, err
	}
	in := attempt.Attempt{At: c.at(), Programs: c.programsFile(c.rec.Iteration)}
	err = in.Begin(ctx, change.Options{RunID: fmt.Sprintf("%s-%d-tests-%s", c.rec.UUID, c.rec.Iteration, at.Key[:8]), Base: commit, Branch: c.rec.Branch})
	if err != nil {
		return t, err
	}
	defer in.Discard()
	if _, err := in.Change.Judge(ctx, judge.Policy{}); err != nil {
		return t, pluginenv.BoxFault(err)
	}
	var out bytes.Buffer
	limit := time.Duration(rules.TestTimeout) * time.Second
	results, code := in.Checker.Verify(ctx, checks.Checks{Commands: []verify.Command{{ID: "tests", Argv: rules.TestCommand}}, Fast: limit, Slow: limit, Plan: in.Plan, Env: launch.CheckEnv(), Log: &out})
	in.Plan.Tell(in.At.Heard)
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	t.Passed = code == judge.Success
	for _, r := range results {
		t.ExitCode, t.TimedOut, t.MS = r.ExitCode, r.TimedOut, r.Duration.Milliseconds()
		if r.Err != nil {
			t.Error = r.Err.Error()
		}
	}
	t.SHA256 = hashOf(out.Bytes())
	c.log(fmt.Sprintf("tests %s after %d ms: %s", strings.Join(rules.TestCommand, " "), t.MS, t.Text()))
	return t, workspace.WriteFile(c.path(testsFile), out.Bytes())
}
