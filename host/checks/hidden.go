package checks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// verifyHidden runs the hidden checks, each in a box that alone shows its files, and the
// code that it calls in others. All of them run, so that the operator sees all that is
// wrong.
func (c *Checker) verifyHidden(ctx context.Context, k Checks) judge.Code {
	c.hidden, c.seed = nil, k.Seed
	if c.seed == 0 {
		c.seed = rand.Uint64N(1 << 53) // a number that every language can hold
	}
	code := judge.Success
	for i, cmd := range k.Hidden {
		x := &boxExec{c: c, on: fmt.Sprintf("hidden%d-", i), kept: c.of.Verdict().Kept}
		r := x.examine(ctx, cmd, k.options(x).Timeout(cmd), strconv.FormatUint(c.seed, 10))
		if ctx.Err() != nil {
			return judge.StopInterrupted
		}
		if c.hidden = append(c.hidden, r); !r.OK() {
			code = judge.StopHiddenFailed
		}
	}
	return code
}

// VerifyHidden is the part of Verify that is about the hidden checks.
func (c *Checker) VerifyHidden(ctx context.Context, k Checks) ([]verify.Result, judge.Code) {
	if results, code := c.tainted(k.Hidden); code != judge.Success {
		return results, code
	}
	code := c.verifyHidden(ctx, k)
	return c.hidden, code
}

// Hidden is what the hidden checks of the last Verify did, and the seed that they made
// their values from. No part of it but how many passed may reach a model, nor a file that
// a builder can read.
func (c *Checker) Hidden() (results []verify.Result, seed uint64) { return c.hidden, c.seed }
