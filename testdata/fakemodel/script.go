package fakemodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
)

// Script says what each API answers, turn after turn.
type Script struct {
	Anthropic []*Turn `json:"anthropic"`
	OpenAI    []*Turn `json:"openai"`
	Gemini    []*Turn `json:"gemini"`
}

// Turn is one answer. The first turn of an API that has uses left and whose
// conditions fit the request is served.
type Turn struct {
	Name string `json:"name"` // for the log only

	Match      string `json:"match"`       // the body must contain it
	NotMatch   string `json:"not_match"`   // the body must not contain it
	MatchModel string `json:"match_model"` // the model's name must contain it
	Times      int    `json:"times"`       // uses: 0 is one, -1 is without end

	Thinking   string `json:"thinking"`
	Text       string `json:"text"`
	Tool       *Tool  `json:"tool"`
	Tools      []Tool `json:"tools"`
	StopReason string `json:"stop_reason"` // "" follows from the content
	Phase      string `json:"phase"`       // of an OpenAI message, for example final_answer
	Usage      *Usage `json:"usage"`

	Error *Fault `json:"error"` // answered instead of a message

	DelayMS      int  `json:"delay_ms"`       // before the status line
	ChunkDelayMS int  `json:"chunk_delay_ms"` // before each event of a stream
	Hang         bool `json:"hang"`           // no answer until the client goes
	HangStream   bool `json:"hang_stream"`    // headers, the first event, then nothing
	Drop         bool `json:"drop"`           // the connection is closed without an answer
	Truncate     bool `json:"truncate"`       // the connection is closed in the middle of the stream

	mu   sync.Mutex
	used int
}

// Tool is a tool call of the model.
type Tool struct {
	Name       string          `json:"name"`
	Namespace  string          `json:"namespace"`
	ID         string          `json:"id"`          // "" is made up
	Input      json.RawMessage `json:"input"`       // a JSON object
	Raw        string          `json:"raw"`         // input of an OpenAI custom tool, as it is
	Custom     bool            `json:"custom"`      // an OpenAI custom tool, also with empty Raw
	LocalShell []string        `json:"local_shell"` // an OpenAI local_shell_call
}

// Error is an answer that is an error.
type Fault struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`   // a JSON string is sent as plain text
	Stream  bool              `json:"stream"` // an error event in a stream that began with 200
}

// Usage is in tokens and in each API's own meaning: Input is what is billed in
// full for Anthropic, and the whole prompt, cached tokens included, elsewhere.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read"`
	CacheWrite int `json:"cache_write"`
	Reasoning  int `json:"reasoning"`
}

// Parse reads a script. Each {{NAME}} is replaced by its value in vars first,
// escaped so that it may stand in a JSON string.
func Parse(b []byte, vars map[string]string) (*Script, error) {
	for name, value := range vars {
		quoted, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		b = bytes.ReplaceAll(b, []byte("{{"+name+"}}"), quoted[1:len(quoted)-1])
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	s := new(Script)
	if err := dec.Decode(s); err != nil {
		return nil, err
	}
	return s, nil
}

// Load reads a script file.
func Load(path string, vars map[string]string) (*Script, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := Parse(b, vars)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// exhausted is what a client gets that asks for more than the script has.
const exhausted = "[fakemodel: script exhausted]"

func pick(turns []*Turn, model string, body []byte) (*Turn, string) {
	for i, t := range turns {
		if t.fits(model, body) && t.take() {
			return t, strings.TrimSpace(fmt.Sprintf("turn %d %s", i, t.Name))
		}
	}
	return &Turn{Text: exhausted}, "exhausted"
}

func (t *Turn) fits(model string, body []byte) bool {
	return bytes.Contains(body, []byte(t.Match)) &&
		(t.NotMatch == "" || !bytes.Contains(body, []byte(t.NotMatch))) &&
		strings.Contains(model, t.MatchModel)
}

func (t *Turn) take() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Times >= 0 && t.used >= max(t.Times, 1) {
		return false
	}
	t.used++
	return true
}

func (t *Turn) calls() []Tool {
	if t.Tool == nil {
		return t.Tools
	}
	return append([]Tool{*t.Tool}, t.Tools...)
}

func (t *Turn) usage() Usage {
	if t.Usage != nil {
		return *t.Usage
	}
	return Usage{Input: 1000, Output: 50}
}

func (c Tool) input() json.RawMessage {
	if len(c.Input) == 0 {
		return json.RawMessage("{}")
	}
	return c.Input
}

func (c Tool) id(prefix string, n int64, i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("%s%06d%02d", prefix, n, i)
}
