package host

import (
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/health"
	"github.com/paxiom/relay/host/tick"
)

func preflightLines(checks []tick.Check) (lines []health.Check) {
	for _, c := range checks {
		line := health.Check{ID: c.ID, OK: c.Err == nil && !c.Skipped, Skip: c.Skipped, What: c.Found}
		if c.Err != nil {
			line = *health.Failed(c.ID, diag.Internal(c.Err))
		}
		lines = append(lines, line)
	}
	return lines
}
