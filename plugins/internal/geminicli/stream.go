package geminicli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/sdk"
)

// Stream collects the events of one run. The zero Stream is ready.
type Stream struct {
	account Account

	session  string
	model    string
	begun    bool // the prompt was taken: a request may be under way
	text     strings.Builder
	answered bool // the model wrote something, or called a tool
	acted    bool // a tool that may change files was let run
	calls    map[string]call
	result   *resultEvent
	errors   []errorEvent
	usage    sdk.Usage
	stray    string // the last line that was not an event
	cut      bool   // that line is the beginning of one
	strange  string // the last one that is an object, and no event of a known version
	problems []string
}

// Event is what a line of the stream tells.
type Event = clitool.Event

// call is a tool call that has not come back.
type call struct {
	Tool       string
	Path       string
	Line       string // of a command
	mayChange  bool
	isShell    bool
	background bool
}

type line struct {
	Type       string `json:"type"`
	Session    string `json:"session_id"`
	Model      string `json:"model"`
	Role       string `json:"role"`
	Content    string `json:"content"`
	Tool       string `json:"tool_name"`
	ID         string `json:"tool_id"`
	Parameters struct {
		Path       string `json:"file_path"`
		Command    string `json:"command"`
		Background bool   `json:"is_background"`
	} `json:"parameters"`
	Status   string          `json:"status"`
	Output   string          `json:"output"`
	Severity string          `json:"severity"`
	Message  string          `json:"message"`
	Error    *kind           `json:"error"`
	Stats    json.RawMessage `json:"stats"`
}

type kind struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

type errorEvent struct{ Severity, Message string }

type resultEvent struct {
	Status string
	Error  *kind
}

// Feed takes one line of standard output.
func (s *Stream) Feed(b []byte) []Event {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return nil
	}
	var l line
	if err := clitool.Unmarshal(b, &l); err != nil || l.Type == "" {
		s.stray = clitool.Clip(string(b), 500)
		if clitool.Object(b) {
			s.strange = s.stray
		}
		if s.cut = err != nil && bytes.HasPrefix(b, []byte(`{"type":"`)); s.cut {
			s.begun = true // the program repeats the prompt before it asks, and nothing else is as long
		}
		return nil
	}
	switch l.Type {
	case "init":
		s.session, s.model = l.Session, l.Model
	case "message":
		return s.message(l)
	case "tool_use":
		return s.use(l)
	case "tool_result":
		return s.came(l)
	case "error":
		s.errors = append(s.errors, errorEvent{l.Severity, l.Message})
		return []Event{{Notice: l.Message}}
	case "result":
		s.result = &resultEvent{l.Status, l.Error}
		if u, ok := totals(l.Stats); ok {
			s.usage = u
			return []Event{{Usage: &u}}
		}
	}
	return nil
}

func (s *Stream) message(l line) []Event {
	if l.Role != "assistant" {
		s.begun = true
		return nil
	}
	s.answered = true
	s.text.WriteString(l.Content)
	if l.Content == "" {
		return nil
	}
	return []Event{{Text: l.Content}}
}

// use is the beginning of a tool call. What the model wrote before it is not its
// answer.
func (s *Stream) use(l line) []Event {
	s.answered = true
	s.text.Reset()
	c := call{
		Tool: l.Tool, Path: l.Parameters.Path, Line: l.Parameters.Command, isShell: l.Tool == "run_shell_command",
		mayChange: !slices.Contains(readTools, l.Tool), background: l.Parameters.Background,
	}
	if s.calls == nil {
		s.calls = map[string]call{}
	}
	s.calls[l.ID] = c
	if c.isShell {
		return []Event{{Command: clitool.Shell(c.Line, nil)}}
	}
	return nil
}

// came is the end of a tool call. A tool that is not there, or that the policy holds
// back, has done nothing.
func (s *Stream) came(l line) []Event {
	c, known := s.calls[l.ID]
	if !known {
		return nil
	}
	delete(s.calls, l.ID)
	what := strings.TrimSpace(c.Tool + " " + cmp.Or(c.Path, c.Line))
	refused := l.Error != nil && slices.Contains([]string{"tool_not_registered", "policy_violation", "invalid_tool_params"}, l.Error.Type)
	s.acted = s.acted || c.mayChange && !refused
	if l.Status != "success" {
		why := l.Output
		if l.Error != nil {
			why = l.Error.Message
		}
		s.problem(clitool.Clip(what, 200) + " failed: " + clitool.Clip(clitool.FirstLine(why), 200))
	}
	switch {
	case c.isShell && l.Status == "success" && c.background:
		s.problem("the command " + clitool.Clip(c.Line, 200) + " was left running")
		return nil
	case c.isShell && refused:
		return nil
	case c.isShell: // its exit code is not told
		return nil
	case c.mayChange && c.Path != "" && l.Status == "success":
		return []Event{{File: c.Path}}
	}
	return nil
}

// problem keeps what went wrong inside a turn that may succeed all the same.
func (s *Stream) problem(text string) {
	const enough = 20
	if len(s.problems) < enough {
		s.problems = append(s.problems, text)
	}
}

// totals reads the tokens of a run, over all models. No token at all is what the
// program writes when it did not count. What is in the sum and nowhere else is what
// the model thought.
func totals(stats json.RawMessage) (sdk.Usage, bool) {
	var t struct {
		Total  int64  `json:"total_tokens"`
		Input  int64  `json:"input_tokens"` // with those from the cache
		Output int64  `json:"output_tokens"`
		Cached *int64 `json:"cached"`
	}
	if json.Unmarshal(stats, &t) != nil || t.Input == 0 && t.Output == 0 {
		return sdk.Usage{}, false
	}
	thought := max(t.Total-t.Input-t.Output, 0)
	u := sdk.Usage{Input: sdk.Known(t.Input), Output: sdk.Known(t.Output + thought), Reasoning: sdk.Known(thought)}
	if t.Cached != nil {
		u.Input, u.CacheRead = sdk.Known(max(t.Input-*t.Cached, 0)), sdk.Known(*t.Cached)
	}
	return u, true
}
