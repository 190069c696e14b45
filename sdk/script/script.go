package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// Version is the format written by this package, and the only one it reads.
const Version = 1

// Forever as Call.Times lets a call be played without end.
const Forever = -1

// Script is a list of calls. A folder of script files is read as one script, its
// files in the order of their names.
type Script struct {
	Version int    `json:"version"`
	Note    string `json:"note,omitempty"`
	Calls   []Call `json:"calls"`
}

// Call is one answer of the model, and the requests it is meant for. Exactly one
// of Answer, Failure and Hang is set.
type Call struct {
	// Name is shown when a script does not fit; it decides nothing.
	Name string `json:"name,omitempty"`
	// When narrows the requests that this call answers; nil fits every request.
	When *When `json:"when,omitempty"`
	// Times is how often the call may be played: 0 means once, Forever without end.
	Times int `json:"times,omitempty"`
	// Delay passes before the first event of the answer.
	Delay Duration `json:"delay,omitempty"`

	Answer  *Answer  `json:"answer,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	// Hang answers nothing until the caller gives up.
	Hang bool `json:"hang,omitempty"`

	Usage *Usage `json:"usage,omitempty"`
	Limit *Limit `json:"limit,omitempty"`

	// Asked says what was asked when the call was recorded. It is information,
	// unless the player is told to be strict.
	Asked *Asked `json:"asked,omitempty"`
}

// When holds conditions on a request; every condition that is set must hold.
type When struct {
	Role         string `json:"role,omitempty"`          // equal to the request's role
	Model        string `json:"model,omitempty"`         // equal to the model asked for
	Prompt       string `json:"prompt,omitempty"`        // regular expression, found in the prompt
	System       string `json:"system,omitempty"`        // regular expression, found in the system prompt
	PromptSHA256 string `json:"prompt_sha256,omitempty"` // equal to Request.PromptSHA256

	prompt, system *regexp.Regexp
}

// Answer is a good answer. Output is what a request with an output schema gets;
// without it the text is used, which then has to be JSON.
type Answer struct {
	Text       string          `json:"text,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`
	StopReason string          `json:"stop_reason,omitempty"`
	Model      string          `json:"model,omitempty"`
}

// Failure is a failed call, in the words of pluginpb.Failure without its enum
// prefixes: reason "RATE_LIMITED", effect "CHARGED". An empty effect is NONE.
type Failure struct {
	Reason            string     `json:"reason"`
	Summary           string     `json:"summary"`
	Detail            string     `json:"detail,omitempty"`
	Fix               string     `json:"fix,omitempty"`
	RetryAfter        Duration   `json:"retry_after,omitempty"`
	ResetAt           *time.Time `json:"reset_at,omitempty"`
	ResetIn           Duration   `json:"reset_in,omitempty"` // from the moment of the call; for scripts that must not age
	LimitName         string     `json:"limit_name,omitempty"`
	UpstreamCode      string     `json:"upstream_code,omitempty"`
	UpstreamRequestID string     `json:"upstream_request_id,omitempty"`
	Effect            string     `json:"effect,omitempty"`
}

// Usage is what the call used; nil fields are unknown, which is not zero.
type Usage struct {
	InputTokens      *int64 `json:"input_tokens,omitempty"`
	OutputTokens     *int64 `json:"output_tokens,omitempty"`
	CacheReadTokens  *int64 `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens *int64 `json:"cache_write_tokens,omitempty"`
	ReasoningTokens  *int64 `json:"reasoning_tokens,omitempty"`
	CostMicroUSD     *int64 `json:"cost_microusd,omitempty"` // millionths of a US dollar
	Estimated        bool   `json:"estimated,omitempty"`
}

// Limit is a rate limit snapshot.
type Limit struct {
	Name         string   `json:"name"`
	Limit        int64    `json:"limit,omitempty"`
	Remaining    int64    `json:"remaining,omitempty"`
	ResetIn      Duration `json:"reset_in,omitempty"`
	UsedFraction float64  `json:"used_fraction,omitempty"`
}

// Asked identifies a request without repeating it: prompts hold the user's code.
type Asked struct {
	Role         string `json:"role,omitempty"`
	Model        string `json:"model,omitempty"`
	PromptSHA256 string `json:"prompt_sha256,omitempty"`
	PromptBytes  int    `json:"prompt_bytes,omitempty"`
	HasSchema    bool   `json:"has_schema,omitempty"`
}

// Duration is a time.Duration that is written as "1.5s" in JSON.
type Duration time.Duration

// MarshalJSON writes the duration in Go's notation.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).String())
}

// UnmarshalJSON reads Go's notation; a negative duration is an error.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return errors.New(`a duration is a string such as "250ms" or "2s"`)
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf(`%q is not a duration such as "250ms" or "2s"`, s)
	}
	if v < 0 {
		return fmt.Errorf("the duration %q is negative", s)
	}
	*d = Duration(v)
	return nil
}

// Validate checks the whole script and prepares its expressions. Load and Parse
// have called it; a script built in Go needs it before Fits is used.
func (s *Script) Validate() error {
	if s.Version != Version {
		return fmt.Errorf("version is %d; this relay reads version %d", s.Version, Version)
	}
	for i := range s.Calls {
		if err := s.Calls[i].validate(); err != nil {
			return fmt.Errorf("call %d%s: %w", i+1, named(s.Calls[i].Name), err)
		}
	}
	return nil
}

func named(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", name)
}

func (c *Call) validate() error {
	outcomes := 0
	for _, set := range []bool{c.Answer != nil, c.Failure != nil, c.Hang} {
		if set {
			outcomes++
		}
	}
	if outcomes != 1 {
		return errors.New("it needs exactly one of answer, failure and hang")
	}
	if c.Times < Forever {
		return fmt.Errorf("times is %d; use a count, or -1 for without end", c.Times)
	}
	if c.When != nil {
		if err := c.When.compile(); err != nil {
			return err
		}
	}
	if c.Failure != nil {
		return c.Failure.Validate()
	}
	return nil
}

func (w *When) compile() (err error) {
	if w.Prompt != "" {
		if w.prompt, err = regexp.Compile(w.Prompt); err != nil {
			return fmt.Errorf("when.prompt: %w", err)
		}
	}
	if w.System != "" {
		if w.system, err = regexp.Compile(w.System); err != nil {
			return fmt.Errorf("when.system: %w", err)
		}
	}
	return nil
}

// Validate checks what can't be said in the protocol's words.
func (f *Failure) Validate() error {
	if pluginpb.Failure_Reason_value["REASON_"+f.Reason] == 0 {
		return fmt.Errorf("failure.reason %q is not known; one is RATE_LIMITED", f.Reason)
	}
	if f.Effect != "" && pluginpb.Failure_Effect_value["EFFECT_"+f.Effect] == 0 {
		return fmt.Errorf("failure.effect %q is not NONE, CHARGED, CHANGED or UNKNOWN", f.Effect)
	}
	if strings.TrimSpace(f.Summary) == "" {
		return errors.New("failure.summary is empty")
	}
	if f.ResetAt != nil && f.ResetIn != 0 {
		return errors.New("failure has both reset_at and reset_in")
	}
	return nil
}
