package ledger

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// account is what the repositories of this machine that share their days have used
// today, and the calls that they have under way. Its file is replaced whole under a
// lock, so that a call is in it once: pending, or in a sum, or cancelled.
type account struct{ dir string }

type accountBook struct {
	SchemaVersion int            `json:"schema_version"` // 1
	Day           string         `json:"day"`
	Spent         map[string]Sum `json:"spent"` // by provider
	Pending       []accountCall  `json:"pending,omitempty"`
}

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
// again ceases to count.
const forgotten = 24 * time.Hour

func openAccount(stateDir string) *account {
	if stateDir == "" {
		return nil
	}
	return &account{filepath.Join(stateDir, "spend")}
}

func (a *account) file() string { return filepath.Join(a.dir, "account.json") }

// do changes the book under the machine's lock; an unchanged one is not written.
func (a *account) do(change func(*accountBook) (changed bool, err error)) error {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return accountFault(a.dir, err)
	}
	fd, err := unix.Open(filepath.Join(a.dir, "lock"), unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return accountFault(a.dir, err)
	}
	defer unix.Close(fd)
	if err := flock(fd, 10*time.Second); err != nil {
		return accountFault(a.dir, err)
	}
	b, err := a.read()
	if err != nil {
		return err
	}
	b.turn(now())
	changed, err := change(b)
	if err != nil || !changed {
		return err
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return workspace.WriteFile(a.file(), append(raw, '\n'))
}

// flock waits for the lock, which its holders keep for milliseconds, unless one of
// them was stopped in the middle.
func flock(fd int, most time.Duration) error {
	for end := time.Now().Add(most); ; time.Sleep(2 * time.Millisecond) {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		if time.Now().After(end) {
			return errors.New("another relay holds its lock and does not let go; it may be stopped")
		}
	}
}

func (a *account) read() (*accountBook, error) {
	b := &accountBook{SchemaVersion: 1}
	raw, err := workspace.ReadFile(a.file(), workspace.MaxRunnerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, b)
	}
	if err != nil {
		return nil, fault.Wrap(err, judge.BlockedCrashRecovery, "the account of this machine's calls can't be read",
			"`mv "+fault.Word(a.file())+" "+fault.Word(a.file()+".damaged")+"`: the day is then counted anew from here")
	}
	return b, nil
}

// turn begins a new day, and forgets calls that nobody will ever settle.
func (b *accountBook) turn(t time.Time) {
	if day := t.Local().Format(time.DateOnly); b.Day != day {
		b.Day, b.Spent = day, nil
	}
	if b.Spent == nil {
		b.Spent = map[string]Sum{}
	}
	kept := b.Pending[:0:0]
	for _, p := range b.Pending {
		if t.Sub(p.At) < forgotten {
			kept = append(kept, p)
		}
	}
	b.Pending = kept
}

// sums are the day's, reserved calls included.
func (b *accountBook) sums() map[string]Sum {
	out := map[string]Sum{}
	for name, s := range b.Spent {
		out[name] = s
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
		if err := allowed(b.sums()); err != nil {
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
			s := b.Spent[u.Provider]
			s.Add(*u)
			b.Spent[u.Provider] = s
		}
		return found, nil
	})
}

// of are the pending calls of one workspace.
func (a *account) of(ws string) (calls []accountCall, err error) {
	err = a.do(func(b *accountBook) (bool, error) {
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
	b, err := a.read() // replaced whole, so it needs no lock to look at
	if err != nil {
		return nil, err
	}
	b.turn(now())
	return b.sums(), nil
}

func accountFault(dir string, err error) error {
	return &fault.Fault{Code: judge.BlockedBudgetExhausted, What: "the account of this machine's calls can't be used", Why: err.Error(),
		Fix: "`ls -la " + fault.Word(dir) + "` shows it; `relay run --set budgets.shared=false` counts this repository alone", Err: err}
}
