package ledger

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Unreadable names everything about a call whose line can't be read, in the place of its
// run, provider and so on. Nobody knows anything of it, and that is how it counts.
const Unreadable = "unreadable"

// damage gathers the lines that can't be read.
type damage struct {
	at   time.Time // of the last line that could be read
	bad  []Line
	torn map[string]int // the ids in torn lines, as far as they are there, and where in bad they are
}

// beginning is what a crash leaves of a line: it ends before the call is named, or after.
var beginning = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\{"at":"([^"]*)"?(?:,"call_id":"([^"]*)("?))?`)
})

// met takes a line that can't be read.
func (d *damage) met(b []byte) {
	whole := bytes.HasSuffix(b, []byte("\n"))
	b = bytes.Trim(b, "\x00 \t\r\n")
	if !whole || len(b) == 0 {
		return // it may be under way, or nothing of it came to the disk
	}
	m := beginning().FindSubmatch(b)
	if m != nil && len(m[2]) == 0 && !bytes.HasSuffix(b, []byte("}")) {
		return // torn before the call was named: it is settled anew
	}
	at := d.at
	if m != nil && len(m[2]) > 0 {
		if d.torn == nil {
			d.torn = map[string]int{}
		}
		d.torn[string(m[2])+string(m[3])] = len(d.bad)
		if own, err := time.Parse(time.RFC3339, string(m[1])); err == nil {
			at = own
		}
	}
	d.bad = append(d.bad, Line{At: at, RunID: Unreadable, Role: Unreadable, Provider: Unreadable, Model: Unreadable, CostBasis: BasisUnknown, Outcome: Unreadable})
}

// passed takes a line that can be read: a call whose line was torn is settled anew.
func (d *damage) passed(u Line) {
	d.at = u.At
	for id, i := range d.torn {
		if strings.HasPrefix(u.CallID+`"`, id) {
			d.bad[i].Outcome = ""
			delete(d.torn, id)
		}
	}
}

// each gives those that count.
func (d *damage) each(fn func(Line) error) error {
	for _, u := range d.bad {
		if u.Outcome == "" {
			continue
		}
		if u.At.IsZero() {
			u.At = d.at // nothing could be read before it
		}
		if err := fn(u); err != nil {
			return err
		}
	}
	return nil
}

// maxCount is more than one call can use, in tokens and in millionths of a dollar: a larger
// number is no count, and sums of such would wrap.
const maxCount = 1 << 40

// mend takes out what can't be: it would lower what other calls have used.
func (u *Line) mend() {
	if u.CostUSD != nil && sane(*u.CostUSD) != *u.CostUSD {
		u.CostUSD, u.CostBasis = nil, BasisUnknown
	}
	for _, n := range []**int64{&u.InputTokens, &u.OutputTokens, &u.CacheReadTokens, &u.CacheWriteTokens, &u.ReasoningTokens} {
		if *n != nil && (**n < 0 || **n > maxCount) {
			*n = nil
		}
	}
	u.MaxUSD = sane(u.MaxUSD)
}
