package codexcli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/sdk"
)

// Stream collects the events of one run. The zero Stream is ready.
type Stream struct {
	writes bool // the model's commands may change files

	session  string
	begun    bool   // the turn began: a request may be under way
	done     bool   // the turn completed
	failed   string // the message of a failed turn
	ended    bool   // the turn failed
	answer   string // the last message of the model
	messaged bool   // there was one
	answered bool   // the model wrote something, or called a tool
	acted    bool   // a command ran or a file was changed
	usage    sdk.Usage
	notice   string // the last error that was not the end
	stray    string // the last line that was not an event
	strange  string // the last one that is an object, and no event of a known version
	problems []string
	running  map[string]string // commands that have not ended: id → command
}

// Event is what a line of the stream tells.
type Event = clitool.Event

type line struct {
	Type    string `json:"type"`
	Thread  string `json:"thread_id"`
	Message string `json:"message"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage *tokens `json:"usage"`
	Item  *item   `json:"item"`
}

type item struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Text     string `json:"text"`
	Message  string `json:"message"`
	Command  string `json:"command"`
	Output   string `json:"aggregated_output"`
	ExitCode *int   `json:"exit_code"`
	Status   string `json:"status"`
	Changes  []struct {
		Path string `json:"path"`
	} `json:"changes"`
}

type tokens struct {
	Input      int64 `json:"input_tokens"` // with those from the cache
	CacheRead  int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Reasoning  int64 `json:"reasoning_output_tokens"`
}

// sdk converts. No token at all is what the program writes when it did not count.
func (t tokens) sdk() sdk.Usage {
	if t.Input == 0 && t.Output == 0 {
		return sdk.Usage{}
	}
	return sdk.Usage{
		Input: sdk.Known(max(t.Input-t.CacheRead-t.CacheWrite, 0)), CacheRead: sdk.Known(t.CacheRead), CacheWrite: sdk.Known(t.CacheWrite),
		Output: sdk.Known(t.Output), Reasoning: sdk.Known(t.Reasoning),
	}
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
		return nil
	}
	switch l.Type {
	case "thread.started":
		s.session = l.Thread
	case "turn.started":
		s.begun = true
	case "turn.completed":
		s.done = true
		for _, command := range s.running {
			s.problem("the command " + clitool.Clip(command, 200) + " was still running at the end of the turn")
		}
		if l.Usage != nil {
			s.usage = l.Usage.sdk()
			u := s.usage
			return []Event{{Usage: &u}}
		}
	case "turn.failed":
		s.ended = true
		if l.Error != nil {
			s.failed = l.Error.Message
		}
	case "error": // a try that failed, or the failure that the turn is about to end with
		s.notice = l.Message
		return []Event{{Notice: l.Message}}
	case "item.started", "item.updated", "item.completed":
		if l.Item != nil {
			return s.item(*l.Item, l.Type)
		}
	}
	return nil
}

func (s *Stream) item(i item, event string) []Event {
	completed := event == "item.completed"
	switch i.Type {
	case "agent_message":
		if completed {
			s.answer, s.messaged, s.answered = i.Text, true, true
			return []Event{{Text: i.Text}}
		}
	case "reasoning":
		s.answered = true
	case "error":
		return []Event{{Notice: i.Message}}
	case "command_execution":
		s.answered, s.acted = true, true
		switch {
		case completed:
			delete(s.running, i.ID)
			code := 1 // it did not get so far
			if i.ExitCode != nil {
				code = *i.ExitCode
			}
			if code != 0 {
				s.problem(fmt.Sprintf("the command %s ended with %d: %s", clitool.Clip(i.Command, 200), code, lastLine(i.Output)))
			}
			return []Event{{Command: clitool.Shell(i.Command, &code)}}
		case event == "item.started":
			if s.running == nil {
				s.running = map[string]string{}
			}
			s.running[i.ID] = i.Command
			return []Event{{Command: clitool.Shell(i.Command, nil)}}
		}
		return nil
	case "file_change":
		s.answered, s.acted = true, true
		if !completed {
			return nil
		}
		if i.Status != "completed" {
			s.problem("an edit was not made (" + i.Status + ")")
			return nil
		}
		var out []Event
		for _, c := range i.Changes {
			out = append(out, Event{File: c.Path})
		}
		return out
	default:
		s.answered = true
	}
	return nil
}

// problem keeps what went wrong inside a turn that may complete all the same.
func (s *Stream) problem(text string) {
	const enough = 20
	if len(s.problems) < enough {
		s.problems = append(s.problems, text)
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return clitool.Clip(strings.TrimSpace(lines[len(lines)-1]), 200)
}
