package ledger

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/coordinator"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/store"
	"github.com/paxiom/relay/judge"
)

// account is what the repositories that share their days have used today, and the calls
// that they have under way. It is replaced whole, so that a call is in it once: pending, or
// in a sum, or canceled.
type account struct {
	doc        coordinator.Document
	store.File // of one machine
}

type accountBook struct {
	SchemaVersion int           `json:"schema_version"` // bookVersion
	Quarters      []quarter     `json:"quarters"`       // those in which something was used, the last two days'
	Pending       []accountCall `json:"pending,omitempty"`
}

const bookVersion = 2

// quarter is what was used in a quarter of an hour. All time zones begin their days with
// one, so that processes that live by different clocks count the same calls.
type quarter struct {
	From  time.Time      `json:"from"`
	Spent map[string]Sum `json:"spent"` // by provider
}

const quarterLong = 15 * time.Minute

// accountCall is a call that was reserved and not settled. It counts against the
// present day whenever it began, since that is when it will be settled.
type accountCall struct {
	Workspace string    `json:"workspace"`
	CallID    string    `json:"call_id"`
	Provider  string    `json:"provider"`
	At        time.Time `json:"at"`
	MaxUSD    float64   `json:"max_usd,omitempty"`
	Offset    int64     `json:"usage_offset"`
}

// forgotten is the age at which a pending call of a repository that was never opened
// again ceases to count, old that at which what was used is of no day that still is one
// anywhere.
const (
	forgotten = 24 * time.Hour
	old       = 48 * time.Hour
)

func openAccount(stateDir string) *account {
	if stateDir == "" {
		return nil
	}
	a := &account{File: store.File{Path: filepath.Join(stateDir, "spend", "account.json")}}
	if a.doc = coordinator.At("spend"); a.doc == nil {
		a.doc = a.File
	}
	return a
}

// do changes the book; an unchanged one is not written. change is called again where another
// machine came first.
func (a *account) do(change func(*accountBook) (changed bool, err error)) error {
	err := a.doc.Change(func(raw []byte) ([]byte, error) {
		b, err := a.decode(raw)
		if err != nil {
			return nil, err
		}
		b.turn(now())
		if changed, err := change(b); err != nil || !changed {
			return nil, err
		}
		raw, err = json.Marshal(b)
		return append(raw, '\n'), err
	})
	if _, ok := diag.As(err); err != nil && !ok {
		return accountFault(filepath.Dir(a.Path), err)
	}
	return err
}

func (a *account) read() (*accountBook, error) {
	raw, err := a.doc.Read()
	if err != nil {
		return nil, a.damaged(err)
	}
	return a.decode(raw)
}

func (a *account) decode(raw []byte) (*accountBook, error) {
	b := &accountBook{}
	if raw == nil {
		return b, nil
	}
	err := json.Unmarshal(raw, b)
	if err == nil && b.SchemaVersion > bookVersion {
		err = fmt.Errorf("a newer relay has written it: its version is %d, this relay knows %d", b.SchemaVersion, bookVersion)
	}
	if err != nil {
		return nil, a.damaged(err)
	}
	return b, nil
}

func (a *account) damaged(err error) error {
	return diag.Wrap(err, judge.BlockedCrashRecovery, "the record of this machine's calls can't be read",
		"`mv "+diag.Word(a.Path)+" "+diag.Word(a.Path+".damaged")+"`: the day is then counted from here on")
}

// turn forgets what is of no day any more, and calls that nobody will ever settle.
func (b *accountBook) turn(t time.Time) {
	b.SchemaVersion = bookVersion
	b.Quarters = slices.DeleteFunc(b.Quarters, func(q quarter) bool { return t.Sub(q.From).Abs() > old })
	kept := b.Pending[:0:0]
	for _, p := range b.Pending {
		if t.Sub(p.At) < forgotten {
			kept = append(kept, p)
		}
	}
	b.Pending = kept
}

// add counts a settled call.
func (b *accountBook) add(u Line) {
	from := u.At.UTC().Truncate(quarterLong)
	i := slices.IndexFunc(b.Quarters, func(q quarter) bool { return q.From.Equal(from) })
	if i < 0 {
		i, b.Quarters = len(b.Quarters), append(b.Quarters, quarter{from, map[string]Sum{}})
	}
	s := b.Quarters[i].Spent[u.Provider]
	s.Add(u)
	b.Quarters[i].Spent[u.Provider] = s
}

// sums are those of the day that a time is of, where the person is, reserved calls
// included.
func (b *accountBook) sums(t time.Time) map[string]Sum {
	out, began := map[string]Sum{}, midnight(t)
	for _, q := range b.Quarters {
		if !q.From.Add(quarterLong).After(began) {
			continue
		}
		for name, of := range q.Spent {
			s := out[name]
			s.Merge(of)
			out[name] = s
		}
	}
	for _, p := range b.Pending {
		s := out[p.Provider]
		s.reserve(p.MaxUSD)
		out[p.Provider] = s
	}
	return out
}

func (b *accountBook) take(ws, id string) (accountCall, bool) {
	for i, p := range b.Pending {
		if p.Workspace == ws && p.CallID == id {
			b.Pending = append(b.Pending[:i:i], b.Pending[i+1:]...)
			return p, true
		}
	}
	return accountCall{}, false
}

// reserve adds a call when allowed agrees with the day as it is.
func (a *account) reserve(c accountCall, allowed func(map[string]Sum) error) error {
	defer journal.Reached("ledger.account")
	return a.do(func(b *accountBook) (bool, error) {
		if err := allowed(b.sums(now())); err != nil {
			return false, err
		}
		b.Pending = append(b.Pending, c)
		return true, nil
	})
}

// settle moves a call from the pending ones into the day's sums; a second time, or
// for a call that was never reserved here, it does nothing. u is nil for a call that
// was never sent.
func (a *account) settle(ws, id string, u *Line) error {
	defer journal.Reached("ledger.accounted")
	return a.do(func(b *accountBook) (bool, error) {
		_, found := b.take(ws, id)
		if found && u != nil {
			b.add(*u)
		}
		return found, nil
	})
}

// of are the pending calls of one workspace.
func (a *account) of(ws string) (calls []accountCall, err error) {
	err = a.do(func(b *accountBook) (bool, error) {
		calls = nil
		for _, p := range b.Pending {
			if p.Workspace == ws {
				calls = append(calls, p)
			}
		}
		return false, nil
	})
	return calls, err
}

// day gives the day's sums.
func (a *account) day() (sums map[string]Sum, err error) {
	b, err := a.read() // replaced whole, so it can be looked at any time
	if err != nil {
		return nil, err
	}
	b.turn(now())
	return b.sums(now()), nil
}

func accountFault(dir string, err error) error {
	if coordinator.Here() != "" {
		return diag.Wrap(err, judge.BlockedBudgetExhausted, "the record of the fleet's calls can't be used", "`relay fleet doctor`, and look at the worker that started this")
	}
	return &diag.Error{Code: judge.BlockedBudgetExhausted, What: "the account of this machine's calls can't be used", Why: err.Error(),
		Fix: "`ls -la " + diag.Word(dir) + "` shows it; `relay run --set budgets.shared=false` counts this repository alone", Err: err}
}
