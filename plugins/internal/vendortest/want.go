package vendortest

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/sdk"
)

// Want is a failure that must come.
type Want struct {
	Reason sdk.Reason
	Effect sdk.Effect
	Check  func(*sdk.Failure) bool // nil: nothing more
}

// Hold compares. Got is what came beside the failure, for the message.
func (w Want) Hold(t *testing.T, got any, f *sdk.Failure) {
	t.Helper()
	if f == nil {
		t.Fatalf("it passed: %+v", got)
	}
	effect := cmp.Or(f.Effect, sdk.EffectUnknown)
	if f.Reason != w.Reason || w.Effect != 0 && effect != w.Effect {
		t.Errorf("got %v with effect %v: %v", f.Reason, effect, f)
	}
	if w.Check != nil && !w.Check(f) {
		t.Errorf("got %+v", f)
	}
	if f.Reason.UserCanFix() && f.Fix == "" {
		t.Error("a person can fix this, and is not told how")
	}
	if len(f.Summary) > 200 || strings.Contains(f.Summary, "\n") {
		t.Errorf("summary: %q", f.Summary)
	}
}

// Recorded are the lines of an output that was recorded in testdata.
func Recorded(t testing.TB, name string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(b, []byte("\n"))
}

// AllRecorded gives every recorded output to a fuzz test.
func AllRecorded(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.jsonl")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}
