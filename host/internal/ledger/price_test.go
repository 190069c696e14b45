package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
)

func table(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The operator's own table decides for the models that it has, an unknown price
// included; the built-in one for the others.
func TestOwnPrices(t *testing.T) {
	own, err := ownPrices(table(t, `{"as_of":"2026-11-01","models":[{"name":"my-model","input":1,"output":10},{"name":"claude-opus-4-5","input":2,"output":3},{"name":"claude-opus-4-1"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	million := int64(1e6)
	u := Usage{InputTokens: &million, OutputTokens: &million}
	for model, want := range map[string]float64{"my-model": 11, "vendor/My-Model-2026-10-10": 11, "claude-opus-4-5": 5, "claude-opus-4-1": -1, "claude-opus-4-6": 30, "nobody-knows": -1} {
		usd, asOf := price(own, model, u)
		if got := -1.0; usd != nil {
			got = *usd
			if got != want {
				t.Errorf("%s: %v", model, got)
			}
		} else if want != got {
			t.Errorf("%s: unknown, wanted %v", model, want)
		}
		if model == "my-model" && asOf != "2026-11-01" {
			t.Errorf("as of %s", asOf)
		}
	}
	if usd, asOf := price(nil, "claude-opus-4-5", u); usd == nil || *usd != 30 || asOf != PricesAsOf() {
		t.Errorf("built-in: %v %s", usd, asOf)
	}
}

func TestOwnPricesRefused(t *testing.T) {
	for _, text := range []string{"", "{}", `{"as_of":"soon","models":[]}`, `{"as_of":"2026-11-01","models":[{"name":"x","input":-1}]}`,
		`{"as_of":"2026-11-01","models":[{"input":1}]}`, `{"as_of":"2026-11-01","models":[{"name":"x","inputs":1}]}`} {
		_, err := ownPrices(table(t, text))
		if f, ok := diag.As(err); !ok || !strings.Contains(f.Fix, "prices_file") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ownPrices("/no/such/table"); err == nil {
		t.Error("a missing table is taken")
	}
	if own, err := ownPrices(""); own != nil || err != nil {
		t.Errorf("%v %v", own, err)
	}
}
