package ledger

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
)

// What is typed where nothing limits a call sets a key that counts there: a cycle's calls have
// the limit that its service had when it began.
func TestUnboundCallUnderACap(t *testing.T) {
	for again, fix := range map[string]string{
		"relay loop --mode milestone":    "`relay loop --mode milestone --set orchestrator.max_budget_usd=1 --set builder.claude_code.max_budget_usd=2`",
		"relay audit continue 1234 --at": "`relay audit continue 1234 --at --set budgets.per_cycle.max_cost_usd=0`",
	} {
		w := window{name: "it", key: "budgets.per_cycle", caps: config.Caps{MaxCostUSD: 5}, again: again}
		if f, ok := diag.As(w.covers(Need{Calls: 1, Unbound: true})); !ok || !strings.HasPrefix(f.Fix, fix) {
			t.Errorf("%s: %+v", again, f)
		}
	}
}
