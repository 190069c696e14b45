package redact

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/paxiom/relay/sdk/pluginpb"
)

const secret = `sk-ant/"quoted"+0123`

func TestString(t *testing.T) {
	s := New(secret, "short", "longer-secret", "longer-secret-still")
	for _, c := range []struct{ in, want string }{
		{"nothing here", "nothing here"},
		{"key=" + secret + ".", "key=" + Mask + "."},
		{secret + secret, Mask + Mask},
		{`{"k":"sk-ant/\"quoted\"+0123"}`, `{"k":"` + Mask + `"}`},
		{"?k=sk-ant%2F%22quoted%22%2B0123&x", "?k=" + Mask + "&x"},
		{"Basic " + base64.StdEncoding.EncodeToString([]byte(secret)), "Basic " + Mask + "="},
		{"short stays", "short stays"},
		{"longer-secret-still", Mask},
		{"longer-secret-stil", Mask + "-stil"},
		{"", ""},
	} {
		if got := s.String(c.in); got != c.want {
			t.Errorf("String(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if New("", "abc", "     ") != nil {
		t.Error("a set of short values masks something")
	}
	if got := (*Set)(nil).String(secret); got != secret {
		t.Error("the nil set masks")
	}
}

func TestMessage(t *testing.T) {
	ev := &pluginpb.BuildEvent{Event: &pluginpb.BuildEvent_Command{Command: &pluginpb.CommandRun{Argv: []string{"curl", "-H", secret}}}}
	fail := &pluginpb.CompleteEvent{Event: &pluginpb.CompleteEvent_Failure{Failure: &pluginpb.Failure{Summary: "no " + secret, Usage: &pluginpb.Usage{OutputTokens: proto.Int64(3)}}}}
	done := &pluginpb.CompleteEvent{Event: &pluginpb.CompleteEvent_Completed{Completed: &pluginpb.CompleteDone{OutputJson: []byte(`"` + secret + `"`)}}}
	s := New(secret)
	for _, m := range []proto.Message{ev, fail, done} {
		s.Message(m)
		if text := m.(interface{ String() string }).String(); strings.Contains(text, "sk-ant") || !strings.Contains(text, "redacted") {
			t.Errorf("not masked: %s", text)
		}
	}
	if fail.GetFailure().GetUsage().GetOutputTokens() != 3 {
		t.Error("a number was changed")
	}
}

// What can't be a secret any more is written at once: a stream must not wait for its end.
func TestWriterIsPrompt(t *testing.T) {
	var got bytes.Buffer
	w := NewWriter(New(secret), &got)
	for _, c := range []struct{ in, want string }{
		{"data: 1\n\n", "data: 1\n\n"}, {"sk", ""}, {"ip\n", "skip\n"}, {secret[:8], ""}, {secret[8:], Mask}, {" x", " x"},
	} {
		got.Reset()
		w.Write([]byte(c.in))
		if got.String() != c.want {
			t.Errorf("after %q: %q, want %q", c.in, got.String(), c.want)
		}
	}
}

// FuzzWriter: however a stream is cut, the writer masks it as one text would be.
func FuzzWriter(f *testing.F) {
	f.Add("before "+secret+" after "+secret, uint8(3), "second-secret")
	f.Add("aaaaaaaaaaaaab", uint8(1), "aaaaaab")
	f.Fuzz(func(t *testing.T, text string, step uint8, value string) {
		s := New(secret, value)
		var got bytes.Buffer
		w := NewWriter(s, &got)
		for rest := text; rest != ""; {
			n := min(len(rest), int(step)+1)
			w.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		w.Flush()
		if want := s.String(text); got.String() != want {
			t.Errorf("%q cut at %d: %q, want %q", text, step+1, got.String(), want)
		}
	})
}
