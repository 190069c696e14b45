package main

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"github.com/paxiom/relay/sdk"
)

// client is what the agent may ask of us, and what it told.
type client struct {
	config
	root *os.Root // the workspace
	dir  string
	out  sdk.Events

	mu        sync.Mutex
	now       state
	text      strings.Builder
	answered  bool // the agent wrote something
	acted     bool // something was done that may change files
	calls     map[acp.ToolCallId]*toolCall
	model     string
	usage     sdk.Usage
	terminals map[string]*terminal
	running   sync.WaitGroup // commands
	next      int
	closed    bool
}

// state is how far a talk got.
type state int

const (
	before  state = iota // the agent has not answered
	talking              // it speaks the protocol
	asking               // it has the prompt
)

func (c *client) set(s state) { c.mu.Lock(); defer c.mu.Unlock(); c.now = s }
func (c *client) greeted()    { c.set(talking) }
func (c *client) asked()      { c.set(asking) }

func (c *client) state() state { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

// toolCall is a call of the agent's own tools.
type toolCall struct {
	title string
	kind  acp.ToolKind
	paths []string
}

// harmless are tools that change no files.
var harmless = []acp.ToolKind{acp.ToolKindRead, acp.ToolKindSearch, acp.ToolKindThink, acp.ToolKindFetch, acp.ToolKindSwitchMode}

// SessionUpdate hears what the agent does.
func (c *client) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch u := n.Update; {
	case u.AgentMessageChunk != nil:
		c.message(u.AgentMessageChunk.Content)
	case u.AgentThoughtChunk != nil:
		c.answered = true
	case u.ToolCall != nil:
		t := u.ToolCall
		c.begin(t.ToolCallId, t.Title, t.Kind, t.Locations)
		c.advance(t.ToolCallId, t.Status)
	case u.ToolCallUpdate != nil:
		c.update(u.ToolCallUpdate)
	case u.UsageUpdate != nil:
		if cost := u.UsageUpdate.Cost; cost != nil && cost.Currency == "USD" && cost.Amount >= 0 {
			c.usage.CostMicroUSD, c.usage.Estimated = sdk.Known(int64(math.Ceil(cost.Amount*1e6))), true
			c.out.Usage(c.usage)
		}
	}
	return nil
}

func (c *client) message(content acp.ContentBlock) {
	if content.Text == nil || content.Text.Text == "" {
		return
	}
	c.answered = true
	const enough = 4 << 20
	if c.text.Len() < enough {
		c.text.WriteString(content.Text.Text)
	}
	c.out.Progress(sdk.Progress{Phase: "message", Text: clip(content.Text.Text, 500)})
}

// begin is a new tool call. What the agent wrote before it is not its answer.
func (c *client) begin(id acp.ToolCallId, title string, kind acp.ToolKind, places []acp.ToolCallLocation) {
	c.answered = true
	c.text.Reset()
	if c.calls == nil {
		c.calls = map[acp.ToolCallId]*toolCall{}
	}
	t := &toolCall{title: title, kind: kind}
	for _, p := range places {
		t.paths = append(t.paths, p.Path)
	}
	c.calls[id] = t
	c.out.Progress(sdk.Progress{Phase: "tool", Text: clip(title, 500)})
}

func (c *client) update(u *acp.SessionToolCallUpdate) {
	t := c.calls[u.ToolCallId]
	if t == nil {
		c.begin(u.ToolCallId, string(u.ToolCallId), acp.ToolKindOther, nil)
		t = c.calls[u.ToolCallId]
	}
	if u.Title != nil {
		t.title = *u.Title
	}
	if u.Kind != nil {
		t.kind = *u.Kind
	}
	for _, p := range u.Locations {
		t.paths = append(t.paths, p.Path)
	}
	if u.Status != nil {
		c.advance(u.ToolCallId, *u.Status)
	}
}

// advance follows a tool call. One that began may have done its work even when it
// fails.
func (c *client) advance(id acp.ToolCallId, status acp.ToolCallStatus) {
	t := c.calls[id]
	changes := !slices.Contains(harmless, t.kind)
	switch status {
	case acp.ToolCallStatusInProgress:
		c.acted = c.acted || changes
	case acp.ToolCallStatusCompleted:
		c.acted = c.acted || changes
		delete(c.calls, id)
		if !changes {
			return
		}
		for _, path := range t.paths {
			c.out.File(c.shown(path))
		}
	case acp.ToolCallStatusFailed:
		delete(c.calls, id)
		c.out.Notice("inside the turn: " + clip(t.title, 200) + " failed")
	}
}

// shown is a path as people know it.
func (c *client) shown(path string) string {
	if rel, err := filepath.Rel(c.dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// RequestPermission answers by the policy. What is asked for once is allowed once.
func (c *client) RequestPermission(ctx context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	kind, title := acp.ToolKindOther, string(r.ToolCall.ToolCallId)
	if r.ToolCall.Kind == nil || r.ToolCall.Title == nil {
		kind, title = c.told(ctx, r.ToolCall.ToolCallId, kind, title)
	}
	if r.ToolCall.Kind != nil {
		kind = *r.ToolCall.Kind
	}
	if r.ToolCall.Title != nil {
		title = *r.ToolCall.Title
	}
	want := []acp.PermissionOptionKind{acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways}
	if !c.allows(kind) {
		want = []acp.PermissionOptionKind{acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways}
		c.out.Notice("the agent was not allowed: " + clip(title, 300))
	}
	for _, k := range want {
		for _, o := range r.Options {
			if o.Kind == k {
				return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
			}
		}
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
}

// told is what the agent said of a call before it asked for permission. The library hands
// requests over at once and notifications in turn, so what was sent first can come last:
// it is waited for.
func (c *client) told(ctx context.Context, id acp.ToolCallId, kind acp.ToolKind, title string) (acp.ToolKind, string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		c.mu.Lock()
		t := c.calls[id]
		if t != nil {
			kind, title = t.kind, t.title
		}
		c.mu.Unlock()
		if t != nil {
			return kind, title
		}
		select {
		case <-ctx.Done():
			return kind, title
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// editing are the kinds of work that the policy edits allows.
var editing = []acp.ToolKind{acp.ToolKindRead, acp.ToolKindSearch, acp.ToolKindThink, acp.ToolKindEdit, acp.ToolKindMove, acp.ToolKindDelete}

func (c *client) allows(kind acp.ToolKind) bool {
	return c.Permissions == "allow" || c.Permissions == "edits" && slices.Contains(editing, kind)
}

// answer is what the agent wrote after its last tool call.
func (c *client) answer() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.TrimSpace(c.text.String())
}

// count takes the tokens that the agent reports at its end.
func (c *client) count(u *acp.Usage) {
	if u == nil || u.InputTokens == 0 && u.OutputTokens == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known := func(n *int) sdk.Count {
		if n == nil {
			return sdk.Count{}
		}
		return sdk.Known(int64(*n))
	}
	c.usage.Input, c.usage.Output = sdk.Known(int64(u.InputTokens)), sdk.Known(int64(u.OutputTokens))
	c.usage.CacheRead, c.usage.CacheWrite, c.usage.Reasoning = known(u.CachedReadTokens), known(u.CachedWriteTokens), known(u.ThoughtTokens)
	c.usage.Output = c.usage.Output.Plus(c.usage.Reasoning) // the protocol counts them apart
}

// effect is what a failed build left behind.
func (c *client) effect(why sdk.Reason) sdk.Effect {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.acted:
		return sdk.EffectChanged
	case c.answered:
		return sdk.EffectCharged
	case c.now != asking:
		return sdk.EffectNone
	}
	switch why {
	case sdk.AuthRejected, sdk.Permission, sdk.Billing, sdk.RateLimited, sdk.Overloaded, sdk.ModelUnknown:
		return sdk.EffectNone // the agent's API said no
	}
	return sdk.EffectUnknown
}
