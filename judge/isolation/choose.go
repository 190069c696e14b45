package isolation

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// Wish says which means is wanted.
type Wish struct {
	// Means is one of them, Auto or "".
	Means string
	// Required is the weakest that is accepted; "" accepts any.
	Required string
	// StateDir is relay's own state: what the machine allows is remembered there.
	StateDir string
	// Root is the repository, "" for any: an overlay can't be made of every one.
	Root string
}

// Choose gives the means to use, or a *box.Error that says why there is none. What the
// machine allows is tried once and remembered until it is started again.
func Choose(ctx context.Context, w Wish) (string, error) {
	if w.Means != "" && w.Means != box.Auto {
		if err := box.Enough(w.Means, w.Required); err != nil {
			return "", err
		}
		return w.Means, nil
	}
	var tried []Trial
	if e := box.Unfit(w.Root); e != nil {
		tried = append(tried, Trial{Means: box.Overlay, Why: e.Why, Fix: e.Fix})
	}
	if means := remembered(w.StateDir); means != "" && box.AtLeast(means, w.Required) && (means != box.Overlay || tried == nil) {
		return means, nil
	}
	for _, means := range box.Ladder() {
		if !box.AtLeast(means, w.Required) {
			break
		}
		if means == box.Overlay && tried != nil {
			continue
		}
		t, err := probe(ctx, w.StateDir, means)
		if err != nil {
			return "", err
		}
		if t.OK {
			if len(tried) == 0 || box.Unfit(w.Root) == nil { // of the machine, not of this repository
				remember(w.StateDir, means)
			}
			return means, nil
		}
		tried = append(tried, t)
	}
	return "", tooWeak(tried, w.Required)
}

// Pick gives the means to use where all have been tried, and remembers what the machine
// allows.
func Pick(s Support, w Wish) (string, error) {
	remember(w.StateDir, s.Means)
	want := s.Means
	if w.Means != "" && w.Means != box.Auto {
		want = w.Means
	}
	for _, t := range s.Trials {
		if t.Means == want && t.OK && box.AtLeast(want, w.Required) {
			return want, nil
		}
	}
	if want == w.Means && !box.AtLeast(want, w.Required) {
		return Choose(context.Background(), w)
	}
	var failed []Trial
	for _, t := range s.Trials {
		if !t.OK && (want != w.Means || t.Means == want) {
			failed = append(failed, t)
		}
	}
	return "", tooWeak(failed, w.Required)
}

// tooWeak says why the means that were tried are not there. The first is the one that
// most machines can be made to allow.
func tooWeak(tried []Trial, required string) *box.Error {
	e := &box.Error{Op: "contain a builder", Unsupported: true, Fix: "`relay doctor` says what stands in the way"}
	for i, t := range tried {
		if i > 0 {
			e.Why += "; "
		}
		if e.Why += t.Means + ": " + t.Why; i == 0 && t.Fix != "" {
			e.Fix = t.Fix
		}
	}
	if required != "" {
		e.Why = "box.required is " + required + ", and this machine allows nothing that is as strong (" + e.Why + ")"
	}
	return e
}

// known is what is remembered of a machine.
type known struct{ Key, Means string }

func knownFile(stateDir string) string { return filepath.Join(stateDir, "means.json") }

// remembered is the strongest means that this machine allowed, "" when that is unknown.
func remembered(stateDir string) string {
	var k known
	text, err := judge.ReadFile(knownFile(stateDir), 64<<10)
	if err != nil || json.Unmarshal(text, &k) != nil || k.Key != box.MachineKey() {
		return ""
	}
	return k.Means
}

func remember(stateDir, means string) {
	text, err := json.Marshal(known{box.MachineKey(), means})
	if err == nil {
		name := knownFile(stateDir)
		if os.WriteFile(name+".new", text, 0o600) == nil {
			os.Rename(name+".new", name)
		}
	}
}
