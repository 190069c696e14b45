package verify

import (
	"context"

	"github.com/paxiom/relay/verify/evidence"
)

// prove holds a check that ended well to what its tests say. A difference from the base
// is believed only where the base, run once more, still says the same.
func (o Options) prove(ctx context.Context, r *Result, so Finding) Finding {
	if r.Report == nil {
		return so
	}
	var base *evidence.Report
	if o.Known != nil {
		base = o.Known(ctx, r.Command, false)
	}
	compare := func() evidence.Finding {
		f := evidence.Compare(base, *r.Report, o.Removed)
		if so == FailedBefore {
			f.Failed = nil // it is known to fail, and nothing new does
		}
		return f
	}
	f := compare()
	// Where nothing ran at all, another look at the base can't explain it.
	doubted := !f.OK() && base.Named() && len(f.Missing) < len(base.Tests)
	if o.Known != nil && ctx.Err() == nil && (doubted || r.Report.Named() && !base.Named()) {
		if again := o.Known(ctx, r.Command, true); again != nil {
			if base.Named() {
				base.Narrow(*again)
			} else {
				base = again
			}
			f = compare()
		}
	}
	r.Evidence = &f
	if !f.OK() {
		return Unproven
	}
	return so
}
