package ledger

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
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
	// above it is not known.
	LongOver int64 `json:"long_over"`
	Long     *rate `json:"long"`
}

type priceTable struct {
	AsOf   string   `json:"as_of"`
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

// Price gives what a call cost by the dated table: nil when the model is not in it,
// or it used a kind of token whose number or price is not known. Where the price
// depends on the length of the prompt, the whole input counts as one prompt, so a
// sum over several requests is never priced too low.
func Price(model string, u Usage) *float64 {
	name := strings.ToLower(model)
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = dated.ReplaceAllString(name, "")
	for i := range prices().Models {
		if p := &prices().Models[i]; p.Name == name {
			return p.cost(u)
		}
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
	return &sum
}

func count(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
