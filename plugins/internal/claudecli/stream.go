package claudecli

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/httpjson"
)

// Event is one thing of interest in the stream, as far as a person or a meter
// cares. One field is set.
type Event struct {
	Started *Started
	Text    string         // a piece of the answer as it is written
	Tool    *Tool          // a tool is called, or has ended
	Usage   *sdk.Usage     // cumulative
	Limit   *sdk.RateLimit // a snapshot of an account's limit
	Retry   *Retry         // the program asks the API again
}

// Started is what the program says of itself.
type Started struct {
	Version string
	Model   string
	Session string
}

// Tool is a call of one of the program's tools.
type Tool struct {
	ID      string
	Name    string
	Command string // of Bash
	Path    string // of a tool that works on one file
	Done    bool
	Failed  bool // meaningful when Done
}

// Retry is a notice that a request to the API failed and is made again.
type Retry struct {
	Attempt int
	Max     int
	Delay   time.Duration
	Status  int    // 0: no answer came
	Kind    string // the program's word: "rate_limit"
}

// Stream reads the lines of one run and remembers what the verdict needs.
type Stream struct {
	started  Started
	model    string // that answered last
	text     string // of the last answer, in case no result repeats it
	tools    map[string]Tool
	acted    bool // a tool that can change files was called
	retries  []Retry
	rejected *rateLimitInfo
	apiError apiError

	message  string    // id of the message that is being written
	past     sdk.Usage // of the finished messages
	now      sdk.Usage // of that message
	answered bool      // a real model has said something

	results    int
	result     resultEvent
	structured json.RawMessage
	stray      string // the last line that was not an event
}

// line is every event kind at once: the fields that are read of each.
type line struct {
	Type      string          `json:"type"`
	Subtype   string          `json:"subtype"`
	Version   string          `json:"claude_code_version"`
	Model     string          `json:"model"`
	SessionID string          `json:"session_id"`
	Message   message         `json:"message"`
	Event     apiEvent        `json:"event"`
	Limit     *rateLimitInfo  `json:"rate_limit_info"`
	ErrorKind json.RawMessage `json:"error"` // a string in the events that are read here
	RequestID string          `json:"request_id"`
	APIParams struct {
		Limit *rateLimitInfo `json:"rate_limit_info"`
	} `json:"api_error_params"`

	Attempt    int     `json:"attempt"`
	MaxRetries int     `json:"max_retries"`
	DelayMS    float64 `json:"retry_delay_ms"`
	Status     *int    `json:"error_status"`
}

type message struct {
	ID      string     `json:"id"`
	Model   string     `json:"model"`
	Content contents   `json:"content"`
	Usage   tokenUsage `json:"usage"`
}

type content struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Input     input  `json:"input"`
	ToolUseID string `json:"tool_use_id"`
	IsError   bool   `json:"is_error"`
}

// contents is a list of blocks; a user's message may be a bare string instead.
type contents []content

func (c *contents) UnmarshalJSON(b []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		return nil
	}
	return json.Unmarshal(b, (*[]content)(c))
}

// input is what is shown of a tool's input. Inputs that a model made up may have
// any shape; those of another shape show nothing.
type input struct{ Command, Path string }

func (i *input) UnmarshalJSON(b []byte) error {
	var in struct {
		Command      any `json:"command"`
		FilePath     any `json:"file_path"`
		NotebookPath any `json:"notebook_path"`
	}
	if json.Unmarshal(b, &in) != nil {
		return nil
	}
	i.Command, _ = in.Command.(string)
	if i.Path, _ = in.FilePath.(string); i.Path == "" {
		i.Path, _ = in.NotebookPath.(string)
	}
	return nil
}

type apiEvent struct {
	Type    string     `json:"type"`
	Message message    `json:"message"`
	Usage   tokenUsage `json:"usage"`
	Delta   struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"delta"`
}

type rateLimitInfo struct {
	Status      string  `json:"status"`
	ResetsAt    float64 `json:"resetsAt"` // since 1970
	Type        string  `json:"rateLimitType"`
	Utilization float64 `json:"utilization"` // 0 to 1
}

func (r *rateLimitInfo) reset() time.Time {
	if r == nil {
		return time.Time{}
	}
	return httpjson.Epoch(r.ResetsAt)
}

// apiError is how the program labels a message that it made up from an error.
type apiError struct {
	kind      string // "billing_error", "authentication_failed", …
	requestID string
	limit     *rateLimitInfo
	text      string // in the program's own words
}

// synthetic is the model of messages that no model wrote.
const synthetic = "<synthetic>"

// Feed takes one line of standard output, without its end.
func (s *Stream) Feed(b []byte) []Event {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return nil
	}
	var l line
	if err := clitool.Unmarshal(b, &l); err != nil || l.Type == "" {
		s.stray = string(b[:min(len(b), 500)])
		return nil
	}
	switch l.Type {
	case "system":
		return s.system(l)
	case "stream_event":
		return s.partial(l.Event)
	case "assistant":
		return s.assistant(l)
	case "user":
		return s.toolResults(l.Message.Content)
	case "rate_limit_event":
		return s.limit(l.Limit)
	case "result":
		return s.end(b)
	}
	return nil // a kind that this version does not know
}

func (s *Stream) system(l line) []Event {
	switch l.Subtype {
	case "init":
		first := s.started == (Started{})
		s.started = Started{Version: l.Version, Model: l.Model, Session: l.SessionID}
		if first {
			return []Event{{Started: &s.started}}
		}
	case "api_retry":
		r := Retry{Attempt: l.Attempt, Max: l.MaxRetries, Kind: l.kind(),
			Delay: time.Duration(l.DelayMS * float64(time.Millisecond))}
		if l.Status != nil {
			r.Status = *l.Status
		}
		s.retries = append(s.retries, r)
		return []Event{{Retry: &r}}
	}
	return nil
}

func (l line) kind() string {
	var kind string
	if json.Unmarshal(l.ErrorKind, &kind) != nil {
		return ""
	}
	return kind
}

func (s *Stream) partial(e apiEvent) []Event {
	switch e.Type {
	case "message_start":
		return s.begin(e.Message)
	case "content_block_delta":
		if e.Delta.Type == "text_delta" && e.Delta.Text != "" {
			return []Event{{Text: e.Delta.Text}}
		}
	case "message_delta":
		s.now = newer(s.now, e.Usage.sdk(true))
		return s.usage()
	}
	return nil
}

// begin starts counting another message; a message that is known continues.
func (s *Stream) begin(m message) []Event {
	if m.Model == synthetic || m.ID == "" || m.ID == s.message {
		return nil
	}
	s.answered = true
	s.model = m.Model
	s.message = m.ID
	s.past = plus(s.past, s.now)
	s.now = m.Usage.sdk(false)
	return s.usage()
}

func (s *Stream) usage() []Event {
	u := s.used()
	return []Event{{Usage: &u}}
}

// used is what is known of the run so far.
func (s *Stream) used() sdk.Usage { return plus(s.past, s.now) }

func (s *Stream) assistant(l line) []Event {
	m := l.Message
	if m.Model == synthetic {
		s.apiError = apiError{l.kind(), l.RequestID, l.APIParams.Limit, ""}
		for _, c := range m.Content {
			if c.Type == "text" {
				s.apiError.text = c.Text
			}
		}
		return nil
	}
	events := s.begin(m)
	for _, c := range m.Content {
		switch c.Type {
		case "text":
			s.text = c.Text
		case "tool_use":
			t := Tool{ID: c.ID, Name: c.Name, Command: c.Input.Command, Path: c.Input.Path}
			if s.tools == nil {
				s.tools = map[string]Tool{}
			}
			s.tools[t.ID] = t
			s.acted = s.acted || !harmless[t.Name]
			events = append(events, Event{Tool: &t})
		}
	}
	return events
}

// harmless are the tools that change nothing; any other might.
var harmless = map[string]bool{"Read": true, "Glob": true, "Grep": true, structuredOutput: true}

// structuredOutput is the tool by which the model gives an answer in a schema.
const structuredOutput = "StructuredOutput"

func (s *Stream) toolResults(blocks contents) []Event {
	var events []Event
	for _, c := range blocks {
		t, ok := s.tools[c.ToolUseID]
		if c.Type != "tool_result" || !ok {
			continue
		}
		delete(s.tools, t.ID)
		t.Done, t.Failed = true, c.IsError
		events = append(events, Event{Tool: &t})
	}
	return events
}

func (s *Stream) limit(info *rateLimitInfo) []Event {
	if info == nil {
		return nil
	}
	if info.Status == "rejected" {
		s.rejected = info
	}
	return []Event{{Limit: &sdk.RateLimit{Name: info.Type, UsedFraction: info.Utilization, ResetAt: info.reset()}}}
}

// Ended says that a result was printed; nothing more is needed of the process.
func (s *Stream) Ended() bool { return s.results > 0 }

// answer is the text that stands for the run when the result has none.
func (s *Stream) answer() string {
	if s.result.Result != nil && strings.TrimSpace(*s.result.Result) != "" {
		return *s.result.Result
	}
	return s.text
}
