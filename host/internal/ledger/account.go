package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/coordinator"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// account is what the repositories that share their days have used today, and the calls
// that they have under way. It is replaced whole, so that a call is in it once: pending, or
// in a sum, or cancelled.
type account struct {
	doc coordinator.Document
	accountFile
}

// accountFile is the account of one machine: a file, and a lock beside it.
type accountFile struct{ dir string }

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
	a := &account{accountFile: accountFile{filepath.Join(stateDir, "spend")}}
	if a.doc = coordinator.At("spend"); a.doc == nil {
		a.doc = a.accountFile
	}
	return a
}

func (f accountFile) file() string { return filepath.Join(f.dir, "account.json") }

// Read gives the file.
func (f accountFile) Read() ([]byte, error) {
	raw, err := workspace.ReadFile(f.file(), workspace.MaxRunnerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return raw, err
}

// Change replaces the file under the machine's lock.
func (f accountFile) Change(do func([]byte) ([]byte, error)) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return accountFault(f.dir, err)
	}
	fd, err := unix.Open(filepath.Join(f.dir, "lock"), unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return accountFault(f.dir, err)
	}
	defer unix.Close(fd)
	if err := flock(fd, 10*time.Second); err != nil {
		return accountFault(f.dir, err)
	}
	raw, err := f.Read()
	if err != nil {
		return f.damaged(err)
	}
	if raw, err = do(raw); err != nil || raw == nil {
		return err
	}
	return workspace.WriteFile(f.file(), raw)
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
	if _, ok := fault.As(err); err != nil && !ok {
		return accountFault(a.dir, err)
	}
	return err
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
	raw, err := a.doc.Read()
	if err != nil {
		return nil, a.damaged(err)
	}
	return a.decode(raw)
}

func (f accountFile) decode(raw []byte) (*accountBook, error) {
	b := &accountBook{}
	if raw == nil {
		return b, nil
	}
	err := json.Unmarshal(raw, b)
	if err == nil && b.SchemaVersion > bookVersion {
		err = fmt.Errorf("a newer relay has written it: its version is %d, this relay knows %d", b.SchemaVersion, bookVersion)
	}
	if err != nil {
		return nil, f.damaged(err)
	}
	return b, nil
}

func (f accountFile) damaged(err error) error {
	return fault.Wrap(err, judge.BlockedCrashRecovery, "the account of this machine's calls can't be read",
		"`mv "+fault.Word(f.file())+" "+fault.Word(f.file()+".damaged")+"`: the day is then counted anew from here")
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
		return fault.Wrap(err, judge.BlockedBudgetExhausted, "the account of the fleet's calls can't be used", "`relay fleet doctor`, and look at the worker that started this")
	}
	return &fault.Fault{Code: judge.BlockedBudgetExhausted, What: "the account of this machine's calls can't be used", Why: err.Error(),
		Fix: "`ls -la " + fault.Word(dir) + "` shows it; `relay run --set budgets.shared=false` counts this repository alone", Err: err}
}
