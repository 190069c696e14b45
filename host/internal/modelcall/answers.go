package modelcall

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Answers is a folder of answers, one file for each question.
type Answers struct {
	Dir string // "" keeps none
}

// Answer is a question with its answer, once it is there: <id>.json.
type Answer struct {
	ID       string    `json:"id"`
	Role     string    `json:"role"`
	Provider string    `json:"provider"`
	Model    string    `json:"model,omitempty"`
	Fallback bool      `json:"fallback,omitempty"` // another one stood in
	Prompt   string    `json:"prompt_sha256"`
	AskedAt  time.Time `json:"asked_at"`
	Tries    int       `json:"tries"` // how often it was sent
	Answered bool      `json:"answered"`
	Failed   string    `json:"failed,omitempty"` // why the last try gave nothing
	Text     string    `json:"text,omitempty"`
	Masked   bool      `json:"masked,omitempty"` // it held a value of a credential, which was left out
	Stop     string    `json:"stop_reason,omitempty"`
	MS       int64     `json:"ms,omitempty"`
	// Hold is the reservation that paid for the answer, Usage what it used and Line what
	// the ledger made of it: a crash may have kept it from hearing of it.
	Hold  string        `json:"hold,omitempty"`
	Usage *ledger.Usage `json:"usage,omitempty"`
	Line  *ledger.Line  `json:"line,omitempty"`

	path string // "" is not kept
}

func (a *Answer) write() error {
	if a.path == "" {
		return nil
	}
	return workspace.WriteJSON(a.path, a)
}

// Read gives a kept question; nil when it was never asked.
func (k Answers) Read(id string) (*Answer, error) {
	path := k.path(id)
	b, err := workspace.ReadFile(path, 64<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	a := &Answer{path: path}
	if err == nil {
		err = json.Unmarshal(b, a)
	}
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedCrashRecovery, "a stored answer can't be read", "`mv "+diag.Word(path)+" "+diag.Word(path+".damaged")+"`: the call is then made again")
	}
	return a, nil
}

func (k Answers) path(id string) string { return filepath.Join(k.Dir, id+".json") }

// Kept gives what a reserved call used, where its answer was kept before a crash; nil
// when it was not. It is what ledger.OpenReservations wants to know.
func (k Answers) Kept(hold string) *ledger.Usage {
	files, _ := filepath.Glob(filepath.Join(k.Dir, "*.json"))
	for _, f := range files {
		a, err := k.Read(strings.TrimSuffix(filepath.Base(f), ".json"))
		if err == nil && a != nil && a.Answered && a.Hold == hold {
			return a.Usage
		}
	}
	return nil
}

// open finds a question that was asked before, or begins with it.
func (d *Caller) open(q Question) (*Answer, error) {
	sum := sha256.Sum256([]byte(q.System + "\x00" + q.User))
	a := &Answer{ID: q.ID, Role: q.Role, Prompt: hex.EncodeToString(sum[:])}
	if d.Answers.Dir == "" {
		return a, nil
	}
	a.path = d.Answers.path(q.ID)
	old, err := d.Answers.Read(q.ID)
	switch {
	case err != nil:
		return nil, err
	case old != nil && old.Answered:
		return old, nil
	case old != nil:
		a.Tries = old.Tries
		if old.Failed == "" && old.Tries > 0 {
			d.Note(fmt.Sprintf("the call %s (%s) was under way when relay ended, and its answer is lost; it is asked again and may be charged twice", old.ID, old.Provider))
		}
	}
	return a, os.MkdirAll(d.Answers.Dir, 0o755)
}

// nextOf numbers the requests of a kept question: each is on disk before it is sent.
func (d *Caller) nextOf(a *Answer, c pluginenv.Choice) func() (int, error) {
	if a.path == "" {
		return nil
	}
	return func() (int, error) {
		a.Tries, a.AskedAt, a.Provider, a.Model, a.Failed = a.Tries+1, d.now().UTC(), c.Name, c.Model, ""
		return a.Tries, a.write()
	}
}

// keep puts an answer on disk with what it cost.
func (d *Caller) keep(a *Answer, c pluginenv.Choice, h Hold, u ledger.Usage, began time.Time) error {
	line := h.Line(u)
	a.Provider, a.Model, a.Fallback, a.Hold, a.Usage, a.Line = c.Name, line.Model, !c.First, h.ID(), &u, &line
	a.MS = d.now().Sub(began).Milliseconds()
	return a.write()
}

// failed writes down that the last try gave nothing. Of a call that was cut off nobody
// knows that: the next attempt says so.
func (d *Caller) failed(ctx context.Context, a *Answer, f *pluginhost.Failure, err error) error {
	if a.path == "" || a.Tries == 0 || a.Answered || ctx.Err() != nil {
		return nil
	}
	switch {
	case f != nil:
		a.Failed = f.Error()
	case err != nil:
		a.Failed = err.Error()
	}
	return a.write()
}
