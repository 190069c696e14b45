package checks

import (
	"context"

	"github.com/paxiom/relay/verify"
	"github.com/paxiom/relay/verify/evidence"
)

// prove holds a check that ended well to what its tests say. A difference from the base
// is believed only where the base, run once more, still says the same.
func (c *Checker) prove(ctx context.Context, k Checks, r *verify.Result, so verify.Finding) verify.Finding {
	if r.Report == nil {
		return so
	}
	base := c.known(ctx, k, r.Command, false)
	compare := func() verify.Evidence {
		f := evidence.Compare(base, *r.Report, k.Removed)
		if so == verify.FailedBefore {
			f.Failed = nil // it is known to fail, and nothing new does
		}
		return f
	}
	f := compare()
	// Where nothing ran at all, another look at the base can't explain it.
	doubted := !f.OK() && base.Named() && len(f.Missing) < len(base.Tests)
	if ctx.Err() == nil && (doubted || r.Report.Named() && !base.Named()) {
		if again := c.known(ctx, k, r.Command, true); again != nil {
			if base.Named() {
				evidence.Narrow(base, *again)
			} else {
				base = again
			}
			f = compare()
		}
	}
	r.Evidence = &f
	if !f.OK() {
		return verify.Unproven
	}
	return so
}
