package progress

import (
	"time"

	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/judge"
)

// Kind says what an event is about.
type Kind string

// The kinds.
const (
	Entered  Kind = "entered"  // a state began
	Finished Kind = "finished" // a state ended; Elapsed and Text are set
	Plugin   Kind = "plugin"   // a plugin said something
	Spent    Kind = "spent"    // tokens or dollars changed
	Notice   Kind = "notice"   // a remark of relay's own
	Waiting  Kind = "waiting"  // nothing happens before Until; Text says what for
	Limit    Kind = "limit"    // what is under way is ended at Until; Text names the limit
	Called   Kind = "called"   // a call of a model came back; Made and Elapsed are set
	Ended    Kind = "ended"    // the run ended, or waits for a person; Code is set where there is one
)

// Event is one step of progress. Texts that come from plugins are not made safe for
// a terminal; the printer does that.
type Event struct {
	Kind    Kind          `json:"kind"`
	At      time.Time     `json:"at"`
	RunID   string        `json:"run_id,omitempty"`
	State   string        `json:"state,omitempty"` // LOCK, PREFLIGHT, ORCHESTRATE, …
	Elapsed time.Duration `json:"elapsed_ns,omitempty"`
	Plugin  string        `json:"plugin,omitempty"`
	Text    string        `json:"text,omitempty"`
	Failed  bool          `json:"failed,omitempty"` // the state that Finished is about ended the work
	Until   time.Time     `json:"until,omitzero"`
	Usage   Usage         `json:"usage,omitzero"` // of the whole run so far
	// Call is the paid call that Spent is about; Soon is what it used until now while it
	// continues. It becomes a part of Usage when the call is settled, and Soon is empty then.
	Call string     `json:"call,omitempty"`
	Soon Usage      `json:"soon,omitzero"`
	Code judge.Code `json:"code,omitempty"`
	Made *Call      `json:"made,omitempty"` // the call that came back
}

// Call is one call of a provider or builder: names and numbers, nothing of what was asked
// or answered.
type Call struct {
	Role   string `json:"role"`
	Build  bool   `json:"build,omitempty"`  // of a builder
	Asked  string `json:"asked,omitempty"`  // the model that was asked for
	Model  string `json:"model,omitempty"`  // the one that answered
	JSON   bool   `json:"json,omitempty"`   // the answer was held to a schema
	Stop   string `json:"stop,omitempty"`   // why the answer ended, in the vendor's word
	Failed string `json:"failed,omitempty"` // the reason, as the protocol names it
	Usage  Usage  `json:"usage,omitzero"`
}

// Usage is what is known to have been used. nil is unknown.
type Usage struct {
	InputTokens      *int64   `json:"input_tokens,omitempty"` // without what came from or went to the cache
	OutputTokens     *int64   `json:"output_tokens,omitempty"`
	CacheReadTokens  *int64   `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens *int64   `json:"cache_write_tokens,omitempty"`
	ReasoningTokens  *int64   `json:"reasoning_tokens,omitempty"` // part of the output tokens
	CostUSD          *float64 `json:"cost_usd,omitempty"`
}

// Add adds another usage; a sum of unknowns stays unknown.
func (u *Usage) Add(o Usage) {
	ledger.Plus(&u.InputTokens, o.InputTokens)
	ledger.Plus(&u.OutputTokens, o.OutputTokens)
	ledger.Plus(&u.CacheReadTokens, o.CacheReadTokens)
	ledger.Plus(&u.CacheWriteTokens, o.CacheWriteTokens)
	ledger.Plus(&u.ReasoningTokens, o.ReasoningTokens)
	ledger.Plus(&u.CostUSD, o.CostUSD)
}

// Observer receives events, one at a time, in order. It must return quickly: the
// workflow waits for it.
type Observer interface {
	Observe(Event)
}

// Func is a function as an Observer.
type Func func(Event)

// Observe calls f.
func (f Func) Observe(e Event) { f(e) }
