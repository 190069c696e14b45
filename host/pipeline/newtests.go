package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/verify"
)

// lookAtTests finds out for a review what the change's new tests are worth.
func (a *taskRun) lookAtTests(f durable.Flow, round int) error {
	if on := a.p.env.Config.Verification.Mutation; on != nil && !*on || len(a.commands()) == 0 {
		return nil
	}
	found, err := do(a, f, fmt.Sprintf("tests-%d", round), func(ctx context.Context, _ durable.Attempt) (*report.NewTests, error) {
		if err := a.stand(ctx); err != nil {
			return nil, err
		}
		return a.newTests(ctx)
	})
	if err != nil {
		return err
	}
	text := "the change brings none"
	if a.record.NewTests = found; found != nil {
		text = found.String()
	}
	a.leave(text)
	return nil
}

func (a *taskRun) newTests(ctx context.Context) (*report.NewTests, error) {
	k := a.Checks()
	v := &a.p.env.Config.Verification
	configured := map[string]bool{}
	for i, c := range a.commands() {
		id := c.id
		if configured[id] = id != ""; id == "" {
			id = fmt.Sprintf("validation %d", i+1)
		}
		k.Commands = append(k.Commands, verify.Command{ID: id, Slow: true, Argv: c.argv})
	}
	k.Settings = func(id string) (dir string, env []string, limit time.Duration) {
		if configured[id] {
			dir, env, limit = v.Setting(id)
		}
		return dir, env, limit
	}
	return a.NewTests(ctx, k, nil)
}

// aboutTests tells a reviewer of it.
func (a *taskRun) aboutTests() []prompts.Output {
	n := a.record.NewTests
	if n == nil {
		return nil
	}
	lines := slices.Concat([]string{n.String()}, n.Lines())
	return []prompts.Output{{Command: "the new and changed tests, on the source as it was and on small mistakes in the changed lines", Text: strings.Join(lines, "\n")}}
}
