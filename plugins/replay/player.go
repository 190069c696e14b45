package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/script"
)

// player plays one script. The first call that has uses left and fits a request
// answers it.
type player struct {
	strict bool

	mu     sync.Mutex
	script *script.Script
	used   []int  // per call
	memory string // file that keeps used between runs; empty: none
}

type config struct {
	Script   string `json:"script"`
	Remember bool   `json:"remember"`
	Strict   bool   `json:"strict"`
}

const scriptFix = `set "script" in the block of the plugin replay to a script file or folder`

func (p *player) configure(_ context.Context, c *sdk.Config) error {
	var cfg config
	if err := c.Decode(&cfg); err != nil {
		return err
	}
	if cfg.Script == "" {
		return nil // complete and health say so; a plugin without a job may start
	}
	s, err := script.Load(cfg.Script)
	if err != nil {
		return sdk.Fail(sdk.BadConfig, "the script can't be read", sdk.Cause(err), sdk.Fix("correct "+cfg.Script))
	}
	p.script, p.strict, p.used = s, cfg.Strict, make([]int, len(s.Calls))
	if !cfg.Remember {
		return nil
	}
	if c.StateDir == "" {
		return sdk.Fail(sdk.BadConfig, "remember needs a folder for the plugin's state", sdk.Fix(`remove "remember"`))
	}
	return p.recall(c.StateDir)
}

// recall reads how far an earlier run got. Another script has another file.
func (p *player) recall(dir string) error {
	b, err := json.Marshal(p.script)
	if err != nil {
		return sdk.Fail(sdk.Internal, "the script can't be written down", sdk.Cause(err))
	}
	sum := sha256.Sum256(b)
	p.memory = filepath.Join(dir, "played-"+hex.EncodeToString(sum[:8])+".json")
	b, err = os.ReadFile(p.memory)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var used []int
	if err == nil {
		err = json.Unmarshal(b, &used)
	}
	if err == nil && len(used) != len(p.used) {
		err = errors.New("it is for another number of calls")
	}
	if err != nil {
		return sdk.Fail(sdk.BadConfig, "what was played before can't be read", sdk.Cause(err), sdk.Fix("`rm "+p.memory+"` starts the script again"))
	}
	p.used = used
	return nil
}

func (p *player) health(context.Context, bool) (*sdk.Health, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.script == nil {
		return nil, sdk.Fail(sdk.BadConfig, "there is no script to play", sdk.Fix(scriptFix))
	}
	left := 0
	for i := range p.script.Calls {
		if p.left(i) {
			left++
		}
	}
	return &sdk.Health{Detail: fmt.Sprintf("%d of %d calls left to play", left, len(p.script.Calls))}, nil
}

func (p *player) left(i int) bool {
	times := p.script.Calls[i].Times
	return times == script.Forever || p.used[i] < max(times, 1)
}

// next takes the call that answers a request.
func (p *player) next(r script.Request) (*script.Call, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.script == nil {
		return nil, sdk.Fail(sdk.BadConfig, "there is no script to play", sdk.Fix(scriptFix))
	}
	for i := range p.script.Calls {
		c := &p.script.Calls[i]
		if !p.left(i) || !c.Fits(r) || p.strict && !c.RecordedFor(r) {
			continue
		}
		p.used[i]++
		return c, p.remember()
	}
	return nil, p.miss(r)
}

func (p *player) remember() error {
	if p.memory == "" {
		return nil
	}
	b, err := json.Marshal(p.used)
	if err == nil {
		err = replace(p.memory, b)
	}
	if err != nil {
		return sdk.Fail(sdk.Internal, "what was played can't be remembered", sdk.Cause(err))
	}
	return nil
}

// replace writes a file as a whole: several runs may play the same script at once.
func replace(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// miss shows what was asked, and what the script could still have answered.
func (p *player) miss(r script.Request) error {
	a := r.Asked()
	var b strings.Builder
	fmt.Fprintf(&b, "asked: role %q, model %q, a prompt of %d bytes with sha256 %s, which begins %q\n",
		a.Role, a.Model, a.PromptBytes, a.PromptSHA256, clip(strings.Join(strings.Fields(r.Text()), " "), 80))
	left := 0
	for i := range p.script.Calls {
		if p.left(i) {
			left++
			fmt.Fprintf(&b, "left: call %d %s\n", i+1, describe(&p.script.Calls[i]))
		}
	}
	if left == 0 {
		b.WriteString("left: nothing, every call has been played\n")
	}
	return sdk.Fail(sdk.BadRequest, "no call of the script answers this request", sdk.EffectNone,
		sdk.Detail(strings.TrimSpace(b.String())), sdk.Fix("add a call to the script, or record it again with `relay run --record DIR`"))
}

func describe(c *script.Call) string {
	what := "answers"
	switch {
	case c.Failure != nil:
		what = "fails with " + c.Failure.Reason
	case c.Hang:
		what = "hangs"
	}
	if c.Name != "" {
		what = fmt.Sprintf("(%s) %s", c.Name, what)
	}
	if c.When == nil {
		return what + " anything"
	}
	when, err := json.Marshal(c.When)
	if err != nil {
		return what
	}
	return what + " when " + string(when)
}

func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}

// complete answers one request as the script says.
func (p *player) complete(ctx context.Context, r *sdk.CompleteRequest, out sdk.Events) (*sdk.Completion, error) {
	c, err := p.next(request(r))
	if err != nil {
		return nil, err
	}
	if !pause(ctx, time.Duration(c.Delay), c.Hang) {
		return nil, sdk.Fail(sdk.Cancelled, "the call was cancelled while the script waited", sdk.EffectNone)
	}
	if c.Limit != nil {
		out.RateLimit(limit(c.Limit, time.Now()))
	}
	if c.Failure != nil {
		return nil, failure(c, time.Now())
	}
	out.Started(sdk.Started{Model: modelOf(c, r)})
	return answer(c, r, out)
}

// pause waits, for ever when hang is set; false means that the caller gave up.
func pause(ctx context.Context, d time.Duration, hang bool) bool {
	if hang {
		<-ctx.Done()
		return false
	}
	if d <= 0 {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
