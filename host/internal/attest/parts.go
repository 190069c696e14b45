package attest

import (
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/ledger"
)

// Call is one paid call.
type Call struct {
	Role, Plugin, Model string
	CostUSD             *float64 // nil: unknown
}

// Parts adds up the calls of each role, plugin and model. A sum with an unknown part is
// unknown. The catalog, which may be nil, has their versions.
func Parts(calls []Call, c *catalog.Catalog) (all []Plugin) {
	at, cost := map[Plugin]int{}, []float64{}
	unknown := map[int]bool{}
	for _, l := range calls {
		p := Plugin{Role: l.Role, Name: l.Plugin, Model: l.Model}
		i, ok := at[p]
		if !ok {
			i = len(all)
			at[p] = i
			for _, kind := range []catalog.Kind{catalog.Provider, catalog.Builder} {
				if c == nil {
					break
				}
				if e, err := c.Find(l.Plugin, kind); err == nil {
					p.Version, p.SHA256 = e.Version, e.SHA256
				}
			}
			all, cost = append(all, p), append(cost, 0)
		}
		if all[i].Calls++; l.CostUSD == nil {
			unknown[i] = true
		} else {
			cost[i] = ledger.Dollars(cost[i] + *l.CostUSD)
		}
	}
	for i := range all {
		if !unknown[i] {
			all[i].CostUSD = &cost[i]
		}
	}
	return all
}
