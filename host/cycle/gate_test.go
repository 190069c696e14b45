package cycle

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/internal/sampling"
)

// operatorsWord are the commands that a gate opens for, by state.
var operatorsWord = map[State][]string{
	AwaitingReview:     {"continue", "abort"},
	AwaitingAcceptance: {"accept", "accept failing", "iterate", "abort"},
}

// commands are all that can be done to a cycle.
var commands = map[string]func(ctx context.Context, w *world, id string) error{
	"start": func(ctx context.Context, w *world, _ string) error {
		_, err := Start(ctx, w.env(), StartOptions{Service: w.service("S")}, nil)
		return err
	},
	"review": func(ctx context.Context, w *world, id string) error {
		_, err := ReviewPlan(ctx, w.env(), id, func(string) error { return nil })
		return err
	},
	"continue": func(ctx context.Context, w *world, id string) error {
		_, err := Continue(ctx, w.env(), id, nil)
		return err
	},
	"accept": func(ctx context.Context, w *world, id string) error {
		_, err := Decide(ctx, w.env(), id, DecideAccept, Despite{})
		return err
	},
	"accept failing": func(ctx context.Context, w *world, id string) error {
		_, err := Decide(ctx, w.env(), id, DecideAccept, Despite{FailingTests: true})
		return err
	},
	"iterate": func(ctx context.Context, w *world, id string) error {
		_, err := Decide(ctx, w.env(), id, DecideIterate, Despite{})
		return err
	},
	"decide nonsense": func(ctx context.Context, w *world, id string) error {
		_, err := Decide(ctx, w.env(), id, "skip", Despite{FailingTests: true})
		return err
	},
	"resume": func(ctx context.Context, w *world, id string) error {
		_, err := Resume(ctx, w.env(), id, nil)
		return err
	},
	"resume without": func(ctx context.Context, w *world, id string) error {
		_, err := Resume(ctx, w.env(), id, []string{"plan", "audit_a"})
		return err
	},
	"abort": func(ctx context.Context, w *world, id string) error {
		_, err := Abort(ctx, w.env(), id, "")
		return err
	},
	"gc": func(ctx context.Context, w *world, _ string) error { _, err := w.env().Collect(ctx, false); return err },
	"rotate": func(_ context.Context, w *world, _ string) error {
		_, err := w.env().Rotate(w.service("S").Service)
		return err
	},
}

// stand is what no command may move but the operator's word.
type stand struct {
	waiting, tip string
	revisions    int
	accepted     bool
}

func (w *world) stand(id string) stand {
	w.T.Helper()
	store, err := durable.NewFiles(Dir(w.env().WS), nil)
	must(w.T, err)
	st, err := store.State(id)
	must(w.T, err)
	out := stand{waiting: string(st.Status) + " " + st.Waiting}
	out.tip = w.Git("for-each-ref", "--format=%(objectname)", "refs/heads/relay/s-"+id[:6])
	must(w.T, ledger.Usages(w.env().WS, func(l ledger.Line) error {
		if l.Role == "revision" {
			out.revisions++
		}
		return nil
	}))
	out.accepted = exec.Command("git", "-C", w.Root, "rev-parse", "-q", "--verify", readyRef(id)).Run() == nil
	return out
}

// In every state that lasts, no command passes a gate but the one that is there for it.
func TestNoCommandPassesAGate(t *testing.T) {
	sampling.Rare(t)
	w := newWorld(t)
	id := w.start().UUID
	tried := 0
	hold := func(state State, also ...string) {
		t.Helper()
		before := w.stand(id)
		for name, do := range commands {
			if slices.Contains(append(also, operatorsWord[state]...), name) {
				continue
			}
			_ = do(t.Context(), w, id)
			tried++
			if now := w.stand(id); now != before {
				t.Errorf("%s in %s: %+v became %+v", name, state, before, now)
			}
		}
		if r, err := ReadRecord(w.env().WS, id); err != nil || r.State != state {
			t.Fatalf("state.json: %v %v, want %s", r, err, state)
		}
	}
	step := func(name string) {
		t.Helper()
		if err := commands[name](t.Context(), w, id); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	hold(AwaitingReview)
	step("continue")
	before := w.stand(id)
	if err := commands["accept"](t.Context(), w, id); err == nil || !strings.Contains(err.Error(), "tests failed") || w.stand(id) != before {
		t.Errorf("failing tests were accepted just like that: %v", err)
	}
	hold(AwaitingAcceptance)
	step("iterate")
	hold(AwaitingReview, "accept failing") // of what the first iteration landed
	step("continue")
	step("accept")
	hold(Complete)

	w = newWorld(t)
	id = w.start().UUID
	step("abort")
	hold(Aborted)

	// A cycle whose revision fails for a while: it stands behind gate 1, before gate 2.
	w = newWorld(t)
	id = w.start().UUID
	calls := answers()
	w.Script(slices.DeleteFunc(calls, func(c map[string]any) bool { return c["when"].(map[string]any)["role"] == "revision" })...)
	if err := commands["continue"](t.Context(), w, id); err == nil {
		t.Fatal("a revision without an answer")
	}
	if r, err := ReadRecord(w.env().WS, id); err != nil || r.State != RevisionRunning || r.Problem == nil {
		t.Fatalf("%+v %v", r, err)
	}
	for name, do := range commands {
		if name == "abort" {
			continue
		}
		_ = do(t.Context(), w, id)
		tried++
		if now := w.stand(id); now.accepted || strings.Contains(now.waiting, "accept-") || strings.HasPrefix(now.waiting, "done") {
			t.Errorf("%s with a problem: %+v", name, now)
		}
	}
	t.Logf("%d commands tried", tried)
}

// file is a file of the cycle.
func (w *world) file(id, name string) string { return filepath.Join(folder(w.env().WS, id), name) }

func (w *world) forge(id, name string, change func(string) string) {
	w.T.Helper()
	b, err := os.ReadFile(w.file(id, name))
	must(w.T, err)
	must(w.T, os.WriteFile(w.file(id, name), []byte(change(string(b))), 0o644))
}

// answered appends the operator's answer to the engine's log, as someone would who can
// write there.
func (w *world) answered(id, wait string, answer any) {
	w.T.Helper()
	raw, err := json.Marshal(answer)
	must(w.T, err)
	line, err := json.Marshal(map[string]any{"kind": "answer", "name": wait, "at": time.Now(), "result": json.RawMessage(raw)})
	must(w.T, err)
	w.forge(id, "log.jsonl", func(s string) string { return s + string(line) + "\n" })
}

func (w *world) opened(id string) *Cycle {
	w.T.Helper()
	c, err := open(w.env(), id)
	must(w.T, err)
	_, err = c.run(w.T.Context())
	must(w.T, err)
	return c
}

// Whatever is written into a cycle's files, nothing but relay audit continue on this machine
// opens the first gate.
func TestForgedFirstGate(t *testing.T) {
	w := newWorld(t)
	id := w.start().UUID
	before := w.stand(id)
	good := func() Approval { a, err := w.opened(id).approval(t.Context()); must(t, err); return a }
	other := newWorld(t)
	otherKey, err := other.env().seal(map[string]string{})
	must(t, err)

	forgeries := map[string]func(){}
	for _, s := range []State{Initialized, AuditRunning, AuditComplete, PlanApproved, RevisionRunning, Testing, AwaitingAcceptance, Complete, Iterating, Aborted, "NONSENSE"} {
		forgeries["state.json says "+string(s)] = func() {
			w.forge(id, stateFile, func(text string) string {
				return strings.Replace(text, `"state": "AWAITING_REVIEW"`, fmt.Sprintf("%q: %q", "state", s), 1)
			})
		}
	}
	forgeries["state.json has an approval"] = func() {
		a, _ := json.Marshal(good())
		w.forge(id, stateFile, func(text string) string {
			return strings.Replace(text, `"schema_version"`, `"approval": `+string(a)+`, "schema_version"`, 1)
		})
	}
	forgeries["state.json is empty"] = func() { w.forge(id, stateFile, func(string) string { return "" }) }
	forgeries["state.json is gone"] = func() { must(t, os.Remove(w.file(id, stateFile))) }
	forgeries["state.json is a link"] = func() {
		must(t, os.Remove(w.file(id, stateFile)))
		must(t, os.Symlink("/etc/passwd", w.file(id, stateFile)))
	}
	for name, do := range forgeries {
		do()
		for _, cmd := range []string{"resume", "accept", "accept failing", "iterate", "review", "gc"} {
			_ = commands[cmd](t.Context(), w, id)
		}
		if now := w.stand(id); now != before {
			t.Errorf("%s: %+v became %+v", name, before, now)
		}
		if r, err := ReadRecord(w.env().WS, id); err != nil || r.State != AwaitingReview {
			t.Errorf("%s: state.json was not remade: %v", name, err)
		}
	}

	// Answers in the log: each is void, and the cycle is at the gate again under the next
	// name.
	n := 1
	for _, f := range []struct {
		name   string
		answer func() any
	}{
		{"no seal", func() any { a := good(); a.Seal = ""; return a }},
		{"a seal of another machine", func() any { a := good(); a.Seal = otherKey; return a }},
		{"another plan", func() any { a := good(); a.Plan = strings.Repeat("0", 64); return a }},
		{"just true", func() any { return map[string]any{"reviewed": true} }},
		{"of another cycle", func() any { a := good(); a.UUID = newUUID(); return a }},
	} {
		w.answered(id, fmt.Sprintf("plan-1-%d", n), f.answer())
		n++
		_ = commands["resume"](t.Context(), w, id)
		now := w.stand(id)
		if now.tip != before.tip || now.revisions != 0 || now.waiting != fmt.Sprintf("waiting plan-1-%d", n) {
			t.Errorf("%s: %+v", f.name, now)
		}
	}
	if err := commands["continue"](t.Context(), w, id); err != nil || w.stand(id).revisions != 1 {
		t.Errorf("the real one: %v", err)
	}
}

// An approval holds for exactly what it was given for.
func TestStaleApproval(t *testing.T) {
	for name, change := range map[string]func(w *world, r *Record){
		"the plan was edited": func(w *world, r *Record) {
			w.forge(r.UUID, planFile, func(s string) string { return s + "2. And something else in src/b.txt.\n" })
		},
		"an audit was edited": func(w *world, r *Record) {
			w.forge(r.UUID, r.Audits[0].File, func(s string) string { return s + "\nmore\n" })
		},
		"the branch moved": func(w *world, r *Record) {
			must(w.T, os.WriteFile(filepath.Join(r.Worktree, "src/a.txt"), []byte("evil\n"), 0o644))
			w.Git("-C", r.Worktree, "commit", "-qam", "behind the operator's back")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			rec := w.start()
			w.Script(slices.DeleteFunc(answers(), func(c map[string]any) bool { return c["when"].(map[string]any)["role"] == "revision" })...)
			if err := commands["continue"](t.Context(), w, rec.UUID); err == nil {
				t.Fatal("a revision without an answer")
			}
			w.Script(answers()...)
			change(w, rec)
			before := w.stand(rec.UUID)
			if err := commands["resume"](t.Context(), w, rec.UUID); err != nil {
				t.Fatal(err)
			}
			now := w.stand(rec.UUID)
			if now.waiting != "waiting plan-1-2" || now.tip != before.tip || now.revisions != before.revisions {
				t.Errorf("%+v became %+v", before, now)
			}
			r, err := ReadRecord(w.env().WS, rec.UUID)
			must(t, err)
			if note := r.Transitions[len(r.Transitions)-1].Note; r.State != AwaitingReview || !strings.Contains(note, "void") {
				t.Errorf("%s %q", r.State, note)
			}
		})
	}
}

// The second gate opens for exactly the result that was shown.
func TestForgedSecondGate(t *testing.T) {
	sampling.Rare(t)
	for name, f := range map[string]struct {
		forge func(w *world, r *Record)
		then  string // the command that must not accept
	}{
		"an acceptance without a seal": {func(w *world, r *Record) {
			a, err := w.opened(r.UUID).acceptance(w.T.Context(), Acceptance{Decision: DecideAccept, Failing: true})
			must(w.T, err)
			a.Seal = ""
			w.answered(r.UUID, "accept-1-1", a)
		}, "resume"},
		"a sealed iteration turned into an acceptance": {func(w *world, r *Record) {
			a, err := w.opened(r.UUID).acceptance(w.T.Context(), Acceptance{Decision: DecideIterate})
			must(w.T, err)
			a.Decision = DecideAccept
			w.answered(r.UUID, "accept-1-1", a)
		}, "resume"},
		"the approval of the plan": {func(w *world, r *Record) { w.answered(r.UUID, "accept-1-1", r.Approval) }, "resume"},
		"another diff": {func(w *world, r *Record) {
			w.forge(r.UUID, revisionFile, func(s string) string { return strings.Replace(s, "second", "harmless", 1) })
		}, "accept failing"},
		"another output of the tests": {func(w *world, r *Record) {
			w.forge(r.UUID, testsFile, func(string) string { return "all fine\n" })
		}, "accept failing"},
		"another commit": {func(w *world, r *Record) {
			must(w.T, os.WriteFile(filepath.Join(r.Worktree, "src/a.txt"), []byte("evil\n"), 0o644))
			w.Git("-C", r.Worktree, "commit", "-qam", "one more")
		}, "accept failing"},
		"a work tree with changes": {func(w *world, r *Record) {
			must(w.T, os.WriteFile(filepath.Join(r.Worktree, "src/a.txt"), []byte("evil\n"), 0o644))
		}, "accept failing"},
		"state.json says that tests passed": {func(w *world, r *Record) {
			w.forge(r.UUID, stateFile, func(s string) string { return strings.Replace(s, `"passed": false`, `"passed": true`, 1) })
		}, "accept"},
		"state.json says COMPLETE": {func(w *world, r *Record) {
			w.forge(r.UUID, stateFile, func(s string) string {
				return strings.Replace(s, `"state": "AWAITING_ACCEPTANCE"`, `"state": "COMPLETE"`, 1)
			})
		}, "resume"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.start().UUID
			must(t, commands["continue"](t.Context(), w, id))
			rec, err := ReadRecord(w.env().WS, id)
			must(t, err)
			f.forge(w, rec)
			_ = commands[f.then](t.Context(), w, id)
			if now := w.stand(id); now.accepted || !strings.HasPrefix(now.waiting, "waiting accept-1-") {
				t.Errorf("%+v", now)
			}
		})
	}
}

// A cycle that came along with a clone is none of this machine's.
func TestCycleOfAnotherMachine(t *testing.T) {
	w := newWorld(t)
	id := w.start().UUID
	must(t, os.Remove(filepath.Join(w.env().StateDir, "gate.key")))
	for _, cmd := range []string{"continue", "resume", "review"} {
		err := commands[cmd](t.Context(), w, id)
		if err == nil || !strings.Contains(err.Error(), "not started by relay on this machine") {
			t.Errorf("%s: %v", cmd, err)
		}
	}
	must(t, commands["abort"](t.Context(), w, id))
}

// The table has no way around the operator.
func TestTransitions(t *testing.T) {
	for _, tr := range transitions {
		leaves := tr.from.Gate()
		if leaves != (tr.by == byOperator) {
			t.Errorf("%s -> %s by %s", tr.from, tr.to, tr.by)
		}
		if (tr.to == PlanApproved || tr.to == Complete) && !tr.from.Gate() {
			t.Errorf("%s -> %s", tr.from, tr.to)
		}
		if !may(tr.from, tr.to, tr.by) {
			t.Errorf("%s -> %s is not in its own table", tr.from, tr.to)
		}
	}
	if may(AwaitingReview, PlanApproved, byRelay) || may(AwaitingAcceptance, Complete, byRelay) || may(AwaitingReview, Complete, byRelay) || may(AwaitingAcceptance, PlanApproved, byRelay) || may(Complete, Aborted, byOperator) || may(Testing, Complete, byOperator) {
		t.Error("relay can pass a gate by itself")
	}
}
