package cycle

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/config"
)

// The rate of an account holds for the calls of cycles too; one that leaves no room is a
// limit like a vendor's, and not waited for where no limit is.
func TestRate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.env()
	e.Config.Providers = map[string]config.Account{"replay": {CallsPerMinute: 0.5, Burst: 2}}
	e.Config.Limits.MaxWait = "0s"
	_, err := Start(t.Context(), e, StartOptions{Service: w.service("S", "cycle.timeout_seconds=5")}, nil)
	if err == nil || !strings.Contains(err.Error(), "met RATE_LIMITED (calls_per_minute)") {
		t.Fatalf("a third call within the minute: %v", err)
	}
	all, err := List(e.WS)
	must(t, err)
	if len(all) != 1 || all[0].State != AuditComplete || len(all[0].Calls) != 2 || !all[0].Waits() {
		t.Errorf("%+v", all)
	}
}
