package ledger

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// How the cost of a call is known.
const (
	BasisReported  = "reported"  // the vendor said so
	BasisEstimated = "estimated" // the plugin's guess
	BasisTable     = "table"     // tokens times the dated price table
	BasisUnknown   = "unknown"
)

// Line is one line of usage.jsonl. null in it means that nobody said.
type Line struct {
	At               time.Time `json:"at"`
	CallID           string    `json:"call_id"` // identifies the call
	RunID            string    `json:"run_id"`
	MilestoneID      string    `json:"milestone_id,omitempty"`
	CycleID          string    `json:"cycle_id,omitempty"` // the audit cycle that the call was made for
	Role             string    `json:"role"`
	Provider         string    `json:"provider"`
	Model            string    `json:"model,omitempty"`
	InputTokens      *int64    `json:"input_tokens"`
	OutputTokens     *int64    `json:"output_tokens"`
	CacheReadTokens  *int64    `json:"cache_read_tokens"`
	CacheWriteTokens *int64    `json:"cache_write_tokens"`
	ReasoningTokens  *int64    `json:"reasoning_tokens,omitempty"`
	CostUSD          *float64  `json:"cost_usd"`               // null: unknown
	CostBasis        string    `json:"cost_basis"`             // one of the Basis constants
	PricesAsOf       string    `json:"prices_as_of,omitempty"` // with BasisTable
	MaxUSD           float64   `json:"max_usd,omitempty"`      // what it was allowed to cost
	// GuessUSD is what counts against the milestone's dollars while the cost is unknown;
	// see [Ledger.guess].
	GuessUSD float64 `json:"guess_usd,omitempty"`
	Outcome  string  `json:"outcome"`
}

func (l *Ledger) usageLine(p Pending, u Usage) Line { return p.line(l.state.milestone(), u, l.prices) }

func (p Pending) line(milestone string, u Usage, own *priceTable) Line {
	model := p.Model
	if u.Model != "" {
		model = clip(u.Model, 200)
	}
	out := Line{At: now(), CallID: p.CallID, RunID: p.RunID, MilestoneID: milestone, CycleID: p.CycleID, Role: p.Role, Provider: p.Provider, Model: model,
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens,
		ReasoningTokens: u.ReasoningTokens, MaxUSD: p.MaxUSD, Outcome: u.Outcome}
	out.Outcome = cmp.Or(out.Outcome, "ok")
	out.CostUSD, out.CostBasis, out.PricesAsOf = u.cost(own, model)
	return out
}

// Cost is what a call of a model cost: what the vendor reported, or else its tokens by
// the price table of the date asOf. usd is nil when unknown.
func (l *Ledger) Cost(model string, u Usage) (usd *float64, basis, asOf string) {
	return u.cost(l.prices, model)
}

func (u Usage) cost(own *priceTable, model string) (usd *float64, basis, asOf string) {
	switch {
	case u.CostUSD != nil && sane(*u.CostUSD) == *u.CostUSD && u.CostIsEstimate:
		return u.CostUSD, BasisEstimated, ""
	case u.CostUSD != nil && sane(*u.CostUSD) == *u.CostUSD:
		return u.CostUSD, BasisReported, ""
	}
	if usd, asOf = price(own, model, u); usd != nil {
		return usd, BasisTable, asOf
	}
	return nil, BasisUnknown, ""
}

// cost is what a settled call adds to the counters; the call itself was counted
// when it was reserved.
func (u *Line) cost() Counters {
	if u.CostUSD == nil {
		return Counters{UnknownCostCalls: 1, UnknownMaxUSD: u.MaxUSD, UnknownGuessUSD: u.GuessUSD}
	}
	return Counters{EstimatedCostUSD: *u.CostUSD}
}

// counters is all that a call adds up to.
func (u *Line) counters() Counters { return counterOf(u.Role).plus(u.cost(), 1) }

// Usages calls fn for each line of usage.jsonl, oldest first, until it returns an
// error. Lines that a crash tore are passed over; those that can't be read come last, as
// [Unreadable].
func Usages(ws *workspace.Workspace, fn func(Line) error) error {
	return usagesFrom(ws, 0, fn)
}

func usagesFrom(ws *workspace.Workspace, offset int64, fn func(Line) error) error {
	var bad damage
	err := readLines(ws.Usage(), offset, func(b []byte) error {
		var u Line
		if json.Unmarshal(b, &u) != nil || u.CallID == "" {
			bad.met(b)
			return nil
		}
		bad.passed(u)
		u.mend()
		return fn(u)
	})
	if err != nil {
		return err
	}
	return bad.each(fn)
}

// Mark is where usage.jsonl ends now. The calls after it are found by [UsagesFrom],
// whatever the clock did meanwhile.
func Mark(ws *workspace.Workspace) (int64, error) { return sizeOf(ws.Usage()) }

// UsagesFrom is Usages for the lines from a mark on; all, when the file has become shorter.
func UsagesFrom(ws *workspace.Workspace, mark int64, fn func(Line) error) error {
	size, err := sizeOf(ws.Usage())
	if err != nil {
		return err
	}
	if size < mark {
		mark = 0
	}
	return usagesFrom(ws, mark, fn)
}

// slack is how far the clock may have been set back without a line being missed.
const slack = time.Hour

// UsagesSince is Usages for the lines from a time on. Since lines are written as time
// goes by, it does not read those before: it costs what it gives, however old the file.
func UsagesSince(ws *workspace.Workspace, since time.Time, fn func(Line) error) error {
	since = since.UTC().Truncate(time.Millisecond) // as the lines are stamped
	size, err := sizeOf(ws.Usage())
	if err != nil {
		return err
	}
	from, to := int64(0), size
	for to-from > 64<<10 { // below that, reading is as fast as looking
		middle, stop := from+(to-from)/2, errors.New("stop")
		at := time.Time{}
		err := usagesFrom(ws, middle, func(u Line) error { at = u.At; return stop })
		if err != nil && !errors.Is(err, stop) {
			return err
		}
		if at.IsZero() || !at.Before(since.Add(-slack)) {
			to = middle
		} else {
			from = middle
		}
	}
	return usagesFrom(ws, from, func(u Line) error {
		if u.At.Before(since) {
			return nil
		}
		return fn(u)
	})
}

// appendLine adds one line to a file of lines and makes it last. A line that a
// crash tore is ended first, so that it spoils no other.
func appendLine(path string, b []byte) (err error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_APPEND|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return appendFault(path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = appendFault(path, cerr)
		}
	}()
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = workspace.ErrNotRegular
	}
	if err != nil {
		return appendFault(path, err)
	}
	out := append(b, '\n')
	if n := fi.Size(); n > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, n-1); err == nil && last[0] != '\n' {
			out = append([]byte{'\n'}, out...)
		}
	}
	if _, err := f.Write(out); err != nil {
		return appendFault(path, err)
	}
	if err := f.Sync(); err != nil {
		return appendFault(path, err)
	}
	return nil
}

func appendFault(path string, err error) *diag.Error {
	why := err.Error()
	switch {
	case diag.Full(err):
		why = "the disk or the quota is full"
	case errors.Is(err, unix.ELOOP):
		why = "it is a symbolic link, which relay does not follow"
	}
	return &diag.Error{Code: judge.StopInterrupted, What: "relay can't use " + path, Why: why, Fix: "`ls -ld " + diag.Word(path) + "` and `df -h " + diag.Word(path) + "` show the place; make it a file of yours, or move it away", Err: err}
}

// tooLong stands for a line that relay can't have written.
var tooLong = []byte("too long\n")

// atLine reports whether a line begins at an offset.
func atLine(f io.ReaderAt, at int64) bool {
	b := make([]byte, 1)
	_, err := f.ReadAt(b, at-1)
	return err == nil && b[0] == '\n'
}

// readLines calls fn for each line that begins at an offset or after it; absence is an empty file.
func readLines(path string, from int64, fn func([]byte) error) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	skip := from > 0 && !atLine(f, from)
	r := bufio.NewReaderSize(io.NewSectionReader(f, from, math.MaxInt64-from), 64<<10)
	for {
		b, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) { // longer than any line of relay's
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = r.ReadSlice('\n')
			}
			b = tooLong
		}
		if skip {
			skip = false
		} else if len(b) > 0 {
			if ferr := fn(b); ferr != nil {
				return ferr
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func sizeOf(path string) (int64, error) {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// usable reports whether calls could be written down.
func usable(path string) error {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !fi.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err == nil {
		err = unix.Access(path, unix.R_OK|unix.W_OK)
	}
	if err == nil {
		return nil
	}
	f := appendFault(path, err)
	f.Code = judge.BlockedCrashRecovery
	return f
}
