package durable

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// wakeCheck is the longest that a sleep goes without looking at the wall clock and
// at the log: a machine that slept, or an operator who ends the wait, is noticed then.
const wakeCheck = time.Second

// fileFlow is one execution of a workflow by [Files].
type fileFlow struct {
	ctx     context.Context
	store   *Files
	id, dir string
	log     *runLog
	version int
	pos     int // the next recorded entry to hand back
}

// begin writes the first entry, or checks that the run may continue.
func (f *fileFlow) begin(kind string, version int) error {
	if len(f.log.entries) == 0 {
		err := f.log.add(entry{Kind: kindBegin, At: f.store.clock.Now(), Name: kind, Version: version})
		f.pos = 1
		return err
	}
	first, last := f.log.entries[0], f.log.entries[len(f.log.entries)-1]
	if first.Name != kind {
		return &Diverged{Recorded: "a run of " + first.Name, Asks: "a run of " + kind}
	}
	if last.ends() {
		return ErrEnded
	}
	f.pos = 1
	return nil
}

// end records how the workflow ended. Parking and canceling record nothing here.
func (f *fileFlow) end(err error) error {
	switch {
	case err == nil:
		return f.log.add(entry{Kind: kindDone, At: f.store.clock.Now()})
	case Parked(err), f.ctx.Err() != nil:
		return nil
	}
	var d *Diverged
	if errors.As(err, &d) || errors.Is(err, errBadRecord) || errors.Is(err, ErrEnded) || errors.Is(err, ErrAsked) {
		return err // nothing happened that a later, right version could not continue
	}
	return f.log.add(entry{Kind: kindFailed, At: f.store.clock.Now(), Error: err.Error()})
}

// next hands back the recorded entry at this place. Answers stand where they were
// given, which is not where they are asked for, so they are passed over here.
func (f *fileFlow) next() (entry, bool) {
	for f.pos < len(f.log.entries) && f.log.entries[f.pos].Kind == kindAnswer {
		f.pos++
	}
	if f.pos >= len(f.log.entries) {
		return entry{}, false
	}
	e := f.log.entries[f.pos]
	f.pos++
	return e, true
}

func (f *fileFlow) diverged(e entry, asks string) error {
	return &Diverged{Seq: f.pos - 1, Recorded: fmt.Sprintf("%s %q", e.Kind, e.Name), Asks: asks}
}

// Context implements [Flow].
func (f *fileFlow) Context() context.Context { return f.ctx }

// Record implements [Flow].
func (f *fileFlow) Record(name string, work func(context.Context, Attempt) (json.RawMessage, error)) (json.RawMessage, error) {
	begun, again := f.next()
	if again && (begun.Kind != kindStep || begun.Name != name) {
		return nil, f.diverged(begun, fmt.Sprintf("step %q", name))
	}
	if again {
		if r, ok := f.next(); ok {
			return f.recorded(name, r)
		}
	} else {
		if err := f.ctx.Err(); err != nil {
			return nil, err
		}
		begun = entry{Kind: kindStep, At: f.store.clock.Now(), Name: name, Key: f.key(name)}
		if err := f.write(begun); err != nil {
			return nil, err
		}
	}
	raw, err := work(f.ctx, Attempt{Key: begun.Key, Again: again})
	if err != nil && (f.ctx.Err() != nil || Parked(err)) {
		return nil, err // interrupted: no result, so the step is asked for again
	}
	done := entry{Kind: kindResult, At: f.store.clock.Now(), Name: name, Result: raw}
	if err != nil {
		done.Error = err.Error()
	}
	if len(raw) > MaxResult {
		return nil, fmt.Errorf("step %s: %w: %d bytes, the limit is %d", name, ErrTooLarge, len(raw), MaxResult)
	}
	if werr := f.write(done); werr != nil {
		return nil, werr
	}
	if err != nil {
		return nil, &StepError{Step: name, Text: err.Error()}
	}
	return raw, nil
}

func (f *fileFlow) recorded(name string, r entry) (json.RawMessage, error) {
	if r.Kind != kindResult || r.Name != name {
		return nil, f.diverged(r, fmt.Sprintf("the result of step %q", name))
	}
	if r.Error != "" {
		return nil, &StepError{Step: name, Text: r.Error}
	}
	return r.Result, nil
}

// key is the same for every attempt of this step: it depends on the run, the place
// and the name only.
func (f *fileFlow) key(name string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s", f.id, f.pos, name))
	return hex.EncodeToString(sum[:12])
}

// write appends an entry of the workflow's own and moves past it. A run that was
// canceled meanwhile takes nothing more.
func (f *fileFlow) write(e entry) error {
	err := f.log.addWith(func() (entry, error) {
		if n := len(f.log.entries); n > 0 && f.log.entries[n-1].Kind == kindCancelled {
			return entry{}, ErrEnded
		}
		return e, nil
	})
	f.pos = len(f.log.entries)
	return err
}

// Wait implements [Flow].
func (f *fileFlow) Wait(name string, about any) (json.RawMessage, error) {
	if e, ok := f.next(); ok {
		if e.Kind != kindWait || e.Name != name {
			return nil, f.diverged(e, fmt.Sprintf("an answer to %q", name))
		}
	} else {
		raw, err := json.Marshal(about)
		if err == nil {
			err = f.fresh(name)
		}
		if err != nil {
			return nil, err
		}
		if err := f.write(entry{Kind: kindWait, At: f.store.clock.Now(), Name: name, Result: raw}); err != nil {
			return nil, err
		}
	}
	if a, ok := f.answer(name); ok {
		return a.Result, nil
	}
	return nil, fmt.Errorf("waiting for %s: %w", name, errParked)
}

// fresh refuses a question or sleep that this run has had before: an answer is found
// by its name, so an old one must never answer a new question.
func (f *fileFlow) fresh(name string) error {
	for _, e := range f.log.entries {
		if (e.Kind == kindWait || e.Kind == kindSleep) && e.Name == name {
			return fmt.Errorf("%q: %w", name, ErrAsked)
		}
	}
	return checkName("question", name)
}

func (f *fileFlow) answer(name string) (entry, bool) {
	for _, e := range f.log.entries {
		if e.Kind == kindAnswer && e.Name == name {
			return e, true
		}
	}
	return entry{}, false
}

// SleepUntil implements [Flow].
func (f *fileFlow) SleepUntil(name string, t time.Time) error {
	began := f.store.clock.Now()
	if e, ok := f.next(); ok {
		if e.Kind != kindSleep || e.Name != name {
			return f.diverged(e, fmt.Sprintf("sleep %q", name))
		}
		t, began = e.Until, e.At // what was decided then still holds
		if e, ok := f.next(); ok {
			if e.Kind == kindAwake && e.Name == name {
				return nil
			}
			f.pos-- // ended from outside; this entry is the next request's
			return nil
		}
	} else {
		if err := f.fresh(name); err != nil {
			return err
		}
		if err := f.write(entry{Kind: kindSleep, At: began, Name: name, Until: t}); err != nil {
			return err
		}
	}
	return f.sleep(name, began, t)
}

// sleep looks at the clock, at the log and at the context until one of them ends it. seen
// is what the clock said last: how far it is set back is taken off the sleep.
func (f *fileFlow) sleep(name string, seen, t time.Time) error {
	for {
		if err := f.log.locked(f.log.refresh); err != nil {
			return err
		}
		if n := len(f.log.entries); f.log.entries[n-1].Kind == kindCancelled {
			return ErrEnded
		}
		if _, ended := f.answer(name); ended {
			f.pos = len(f.log.entries)
			return nil
		}
		now := f.store.clock.Now().Round(0) // the wall clock alone
		if back := seen.Round(0).Sub(now); back > 0 {
			t = t.Add(-back)
		}
		seen = now
		left := t.Sub(now)
		if left <= 0 {
			return f.write(entry{Kind: kindAwake, At: f.store.clock.Now(), Name: name})
		}
		select {
		case <-f.ctx.Done():
			return f.ctx.Err()
		case <-f.store.clock.After(min(left, wakeCheck)):
		}
	}
}

// Now implements [Flow].
func (f *fileFlow) Now() (time.Time, error) {
	if e, ok := f.next(); ok {
		if e.Kind != kindNow {
			return time.Time{}, f.diverged(e, "the time")
		}
		return e.At, nil
	}
	now := f.store.clock.Now()
	return now, f.write(entry{Kind: kindNow, At: now})
}

// Progress implements [Flow].
func (f *fileFlow) Progress(v any) error {
	if err := f.store.writeProgress(f.dir, v); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
