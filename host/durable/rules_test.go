package durable_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/durable"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s = %v, want %v", what, got, want)
	}
}

func once(t *testing.T, s *session) {
	done := 0
	w := func(die bool) durable.Workflow {
		return func(f durable.Flow) error {
			n, err := durable.Step(f, "pay", func(context.Context, durable.Attempt) (int, error) { done++; return 42, nil })
			must(t, err)
			want(t, "result", n, 42)
			if die {
				panic(crash{})
			}
			return nil
		}
	}
	_, _, died := s.run("r", 1, w(true))
	want(t, "died", died, true)
	s.restart(t)
	st, err, _ := s.run("r", 1, w(false))
	must(t, err)
	want(t, "status", st.Status, durable.Done)
	want(t, "times done", done, 1)
}

func again(t *testing.T, s *session) {
	var seen []durable.Attempt
	w := func(f durable.Flow) error {
		_, err := durable.Step(f, "pay", func(_ context.Context, a durable.Attempt) (int, error) {
			if seen = append(seen, a); len(seen) == 1 {
				panic(crash{})
			}
			return 1, nil
		})
		return err
	}
	s.run("r", 1, w)
	s.restart(t)
	st, err := s.e.State("r")
	must(t, err)
	want(t, "status", st.Status, durable.Interrupted)
	want(t, "in flight", st.InFlight, "pay")
	_, err, _ = s.run("r", 1, w)
	must(t, err)
	want(t, "attempts", len(seen), 2)
	want(t, "first Again", seen[0].Again, false)
	want(t, "second Again", seen[1].Again, true)
	want(t, "same key", seen[0].Key, seen[1].Key)
}

// anyCrash dies before, in and after every step of a workflow whose steps leave a
// mark under their key, as a commit or a file would.
func anyCrash(t *testing.T, s *session) {
	const steps = 4
	for point := 0; point <= 3*steps; point++ {
		id := fmt.Sprintf("run-%d", point)
		marks, tick, armed := map[string]int{}, 0, true
		maybe := func() {
			if tick++; armed && tick == point {
				armed = false
				panic(crash{})
			}
		}
		w := func(f durable.Flow) error {
			for i := range steps {
				maybe()
				v, err := durable.Step(f, fmt.Sprintf("s%d", i), func(_ context.Context, a durable.Attempt) (int, error) {
					if _, left := marks[a.Key]; !left {
						marks[a.Key] = i
					}
					maybe()
					return i * i, nil
				})
				must(t, err)
				want(t, "value", v, i*i)
				maybe()
			}
			return nil
		}
		for try := 0; ; try++ {
			st, err, died := s.run(id, 1, w)
			if died && try < 2 {
				s.restart(t)
				continue
			}
			must(t, err)
			want(t, "status", st.Status, durable.Done)
			want(t, "steps", st.Steps, steps)
			break
		}
		want(t, fmt.Sprintf("marks after a crash at %d", point), len(marks), steps)
	}
}

func keys(t *testing.T, s *session) {
	seen := map[string]bool{}
	w := func(f durable.Flow) error {
		for _, name := range []string{"a", "b", "a"} {
			durable.Step(f, name, func(_ context.Context, a durable.Attempt) (int, error) { seen[a.Key] = true; return 0, nil })
		}
		return nil
	}
	s.run("r1", 1, w)
	s.run("r2", 1, w)
	want(t, "different keys", len(seen), 6)
}

func failure(t *testing.T, s *session) {
	calls := 0
	var got []string
	w := func(f durable.Flow) error {
		_, err := durable.Step(f, "pay", func(context.Context, durable.Attempt) (int, error) {
			calls++
			return 0, errors.New("card refused")
		})
		got = append(got, err.Error())
		if calls == 1 && len(got) == 1 {
			panic(crash{})
		}
		return err
	}
	s.run("r", 1, w)
	s.restart(t)
	st, err, _ := s.run("r", 1, w)
	must(t, err)
	want(t, "status", st.Status, durable.Failed)
	want(t, "error", st.Error, "card refused")
	want(t, "calls", calls, 1)
	want(t, "errors seen", got, []string{"card refused", "card refused"})
}

func wait(t *testing.T, s *session) {
	asked, after := 0, 0
	w := func(f durable.Flow) error {
		asked++
		ok, err := durable.Ask[bool](f, "gate-1", map[string]string{"plan": "sha256:1"})
		if err != nil {
			return err
		}
		want(t, "answer", ok, true)
		after++
		return nil
	}
	st, err, _ := s.run("r", 1, w)
	must(t, err)
	want(t, "status", st.Status, durable.Waiting)
	want(t, "waiting for", st.Waiting, "gate-1")
	if !strings.Contains(string(st.About), "sha256:1") {
		t.Fatalf("about = %s", st.About)
	}
	s.restart(t)
	st, err, _ = s.run("r", 1, w)
	must(t, err)
	want(t, "status after a restart", st.Status, durable.Waiting)
	want(t, "went past the gate", after, 0)
	must(t, s.e.Answer("r", "gate-1", true))
	s.restart(t)
	st, err, _ = s.run("r", 1, w)
	must(t, err)
	want(t, "status", st.Status, durable.Done)
	want(t, "went past the gate", after, 1)
}

func answers(t *testing.T, s *session) {
	w := func(f durable.Flow) error { _, err := f.Wait("q", nil); return err }
	if err := s.e.Answer("r", "q", 1); !errors.Is(err, durable.ErrUnknown) {
		t.Fatalf("no run: %v", err)
	}
	s.run("r", 1, w)
	if err := s.e.Answer("r", "other", 1); !errors.Is(err, durable.ErrNotAsked) {
		t.Fatalf("not asked: %v", err)
	}
	must(t, s.e.Answer("r", "q", 1))
	if err := s.e.Answer("r", "q", 2); !errors.Is(err, durable.ErrAnswered) {
		t.Fatalf("answered: %v", err)
	}
	twice := func(f durable.Flow) error {
		if _, err := f.Wait("same", nil); err != nil {
			return err
		}
		_, err := f.Wait("same", nil)
		return err
	}
	s.run("r2", 1, twice)
	must(t, s.e.Answer("r2", "same", 1))
	if _, err, _ := s.run("r2", 1, twice); !errors.Is(err, durable.ErrAsked) {
		t.Fatalf("an old answer served a new question: %v", err)
	}
}

func sleep(t *testing.T, s *session) {
	until := s.clock.Now().Add(8 * time.Hour)
	first := true
	w := func(f durable.Flow) error {
		t0 := until
		if !first {
			t0 = until.Add(time.Hour) // what is asked after a restart no longer counts
		}
		first = false
		return f.SleepUntil("limit", t0)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan durable.State, 1)
	go func() { st, _ := s.e.Run(ctx, "r", "test", 1, w); done <- st }()
	want(t, "until", asleep(t, s).Until.Unix(), until.Unix())
	stop() // relay is stopped
	<-done
	s.restart(t)
	s.clock.Move(8*time.Hour + time.Second) // and the machine was off
	st, err, _ := s.run("r", 1, w)
	must(t, err)
	want(t, "status", st.Status, durable.Done)
}

// asleep waits until the run sleeps.
func asleep(t *testing.T, s *session) durable.State {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if st, err := s.e.State("r"); err == nil && st.Status == durable.Sleeping {
			return st
		}
		if time.Now().After(end) {
			t.Fatal("the run does not sleep")
		}
	}
}

func setBack(t *testing.T, s *session) {
	began := s.clock.Now()
	w := func(f durable.Flow) error { return f.SleepUntil("limit", began.Add(10*time.Minute)) }
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan durable.State, 1)
	go func() { st, _ := s.e.Run(ctx, "r", "test", 1, w); done <- st }()
	asleep(t, s)
	stop()
	<-done
	s.clock.Move(-9 * time.Hour)
	s.restart(t)
	go func() { st, _ := s.e.Run(context.Background(), "r", "test", 1, w); done <- st }()
	for slept := time.Duration(0); ; slept += time.Minute {
		for !s.clock.Watched() {
			select {
			case st := <-done:
				want(t, "status", st.Status, durable.Done)
				want(t, "slept", slept, 10*time.Minute)
				return
			case <-time.After(time.Millisecond):
			}
		}
		if slept > time.Hour {
			t.Fatal("it sleeps on, since the clock was set back")
		}
		if s.clock.Move(time.Minute); slept == 4*time.Minute {
			for !s.clock.Watched() { // it looks at the clock in its own time
				time.Sleep(time.Millisecond)
			}
			s.clock.Move(-5 * time.Hour)
		}
	}
}

func awake(t *testing.T, s *session) {
	w := func(f durable.Flow) error { return f.SleepUntil("limit", s.clock.Now().Add(time.Hour)) }
	done := make(chan durable.State, 1)
	go func() { st, _ := s.e.Run(context.Background(), "r", "test", 1, w); done <- st }()
	for end := time.Now().Add(10 * time.Second); s.e.Answer("r", "limit", "operator") != nil; {
		if time.Now().After(end) {
			t.Fatal("the sleep cannot be ended")
		}
		time.Sleep(time.Millisecond)
	}
	for {
		select {
		case st := <-done:
			want(t, "status", st.Status, durable.Done)
			return
		case <-time.After(5 * time.Millisecond):
			s.clock.Move(0) // a look; no time passes
		}
	}
}

func diverged(t *testing.T, s *session) {
	pay := func(context.Context, durable.Attempt) (int, error) { return 1, nil }
	s.run("r", 1, func(f durable.Flow) error { durable.Step(f, "a", pay); panic(crash{}) })
	s.restart(t)
	_, err, _ := s.run("r", 2, func(f durable.Flow) error { _, err := durable.Step(f, "b", pay); return err })
	var d *durable.Diverged
	if !errors.As(err, &d) {
		t.Fatalf("a changed workflow: %v", err)
	}
	st, err, _ := s.run("r", 1, func(f durable.Flow) error { _, err := durable.Step(f, "a", pay); return err })
	must(t, err)
	want(t, "the old code continues", st.Status, durable.Done)
}

func interrupt(t *testing.T, s *session) {
	calls := 0
	ctx, stop := context.WithCancel(context.Background())
	w := func(f durable.Flow) error {
		_, err := durable.Step(f, "pay", func(ctx context.Context, _ durable.Attempt) (int, error) {
			if calls++; calls == 1 {
				stop()
				return 0, ctx.Err()
			}
			return 1, nil
		})
		return err
	}
	if _, err := s.e.Run(ctx, "r", "test", 1, w); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted run: %v", err)
	}
	st, err, _ := s.run("r", 1, w)
	must(t, err)
	want(t, "status", st.Status, durable.Done)
	want(t, "calls", calls, 2)
}

func ended(t *testing.T, s *session) {
	s.run("r", 1, func(f durable.Flow) error { _, err := f.Wait("q", nil); return err })
	must(t, s.e.Cancel("r", "operator"))
	if _, err, _ := s.run("r", 1, func(durable.Flow) error { return nil }); !errors.Is(err, durable.ErrEnded) {
		t.Fatalf("a cancelled run went on: %v", err)
	}
	if err := s.e.Answer("r", "q", 1); !errors.Is(err, durable.ErrEnded) {
		t.Fatalf("a cancelled run took an answer: %v", err)
	}
	st, err := s.e.State("r")
	must(t, err)
	want(t, "status", st.Status, durable.Cancelled)
	if err := s.e.Cancel("r", "again"); !errors.Is(err, durable.ErrEnded) {
		t.Fatalf("cancelled twice: %v", err)
	}
}

func now(t *testing.T, s *session) {
	var times []time.Time
	w := func(f durable.Flow) error {
		at, err := f.Now()
		must(t, err)
		if times = append(times, at); len(times) == 1 {
			panic(crash{})
		}
		return nil
	}
	s.run("r", 1, w)
	s.clock.Move(time.Hour)
	s.restart(t)
	s.run("r", 1, w)
	want(t, "times", times[0].Equal(times[1]), true)
}

func large(t *testing.T, s *session) {
	_, err, _ := s.run("r", 1, func(f durable.Flow) error {
		_, err := durable.Step(f, "big", func(context.Context, durable.Attempt) (string, error) {
			return strings.Repeat("x", durable.MaxResult), nil
		})
		if !errors.Is(err, durable.ErrTooLarge) {
			t.Errorf("a large result: %v", err)
		}
		return nil
	})
	must(t, err)
}
