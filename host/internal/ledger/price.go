package ledger

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

//go:embed prices.json
var pricesJSON []byte

// rate is what a million tokens of each kind cost, in US dollars. nil: not known.
type rate struct {
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
}

type priced struct {
	Name string `json:"name"`
	rate
	// LongOver is the prompt, in tokens, above which Long holds; nil Long: the price
	// parentModes it is not known.
	LongOver int64 `json:"long_over"`
	Long     *rate `json:"long"`
}

type priceTable struct {
	AsOf   string   `json:"as_of"`
	Unit   string   `json:"unit,omitempty"` // for readers
	Models []priced `json:"models"`
}

var prices = sync.OnceValue(func() *priceTable {
	t := &priceTable{}
	if err := json.Unmarshal(pricesJSON, t); err != nil {
		panic("ledger: prices.json: " + err.Error())
	}
	return t
})

// PricesAsOf is the date of the price table.
func PricesAsOf() string { return prices().AsOf }

// dated strips what vendors add to a model's name without changing its price.
var dated = regexp.MustCompile(`(-\d{8}|-\d{4}-\d{2}-\d{2}|@\d{8}|\[1m\]|-latest)+$`)

// ownPrices reads the operator's own table, which has the form of prices.json and goes
// before it, model by model. nil when path is "".
func ownPrices(path string) (*priceTable, error) {
	if path == "" {
		return nil, nil
	}
	if rest, below := strings.CutPrefix(path, "~/"); below {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		path = filepath.Join(home, rest)
	}
	b, err := workspace.ReadFile(path, maxPrices)
	t := &priceTable{}
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.DisallowUnknownFields()
		err = dec.Decode(t)
	}
	if err == nil {
		err = t.check()
	}
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedMissingConfig, "the table of prices "+path+" can't be used",
			"`${EDITOR:-vi} "+diag.Word(path)+"`, or take budgets.prices_file out of your configuration")
	}
	return t, nil
}

// maxPrices bounds a table, in bytes.
const maxPrices = 1 << 20

func (t *priceTable) check() error {
	if _, err := time.Parse(time.DateOnly, t.AsOf); err != nil {
		return errors.New(`"as_of" must be the day of the prices, such as "2026-11-01"`)
	}
	for _, m := range t.Models {
		rates := []rate{m.rate}
		if m.Long != nil {
			rates = append(rates, *m.Long)
		}
		for _, r := range rates {
			for _, usd := range []*float64{r.Input, r.Output, r.CacheRead, r.CacheWrite} {
				if m.Name == "" || usd != nil && *usd < 0 {
					return fmt.Errorf("the model %q needs a name, and prices that are not negative", m.Name)
				}
			}
		}
	}
	return nil
}

// find gives the line of a model, nil when there is none.
func (t *priceTable) find(model string) *priced {
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = dated.ReplaceAllString(name, "")
	for i := range t.Models {
		if p := &t.Models[i]; strings.ToLower(p.Name) == name {
			return p
		}
	}
	return nil
}

// price gives what a call cost by the operator's own table, where that has the model, or
// else by the built-in one; and the date of the one that decided.
func price(own *priceTable, model string, u Usage) (usd *float64, asOf string) {
	if own != nil {
		if p := own.find(model); p != nil {
			return p.cost(u), own.AsOf
		}
	}
	return Price(model, u), PricesAsOf()
}

// Price gives what a call cost by the dated table: nil when the model is not in it,
// or it used a kind of token whose number or price is not known. Where the price
// depends on the length of the prompt, the whole input counts as one prompt, so a
// sum over several requests is never priced too low.
func Price(model string, u Usage) *float64 {
	if p := prices().find(model); p != nil {
		return p.cost(u)
	}
	return nil
}

func (p *priced) cost(u Usage) *float64 {
	if u.InputTokens == nil || u.OutputTokens == nil {
		return nil
	}
	r := &p.rate
	if prompt := *u.InputTokens + count(u.CacheReadTokens) + count(u.CacheWriteTokens); p.LongOver > 0 && prompt > p.LongOver {
		r = p.Long
	}
	if r == nil {
		return nil
	}
	sum := 0.0
	for _, part := range []struct {
		tokens *int64
		price  *float64
	}{{u.InputTokens, r.Input}, {u.OutputTokens, r.Output}, {u.CacheReadTokens, r.CacheRead}, {u.CacheWriteTokens, r.CacheWrite}} {
		n := count(part.tokens)
		if n == 0 {
			continue
		}
		if n < 0 || part.price == nil {
			return nil
		}
		sum += float64(n) * *part.price / 1e6
	}
	sum = Dollars(sum)
	return &sum
}

func count(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
