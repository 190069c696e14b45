package plugintest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// Session is one plugin that is tried. What it takes is done once, when the first rule
// needs it, and then read by every rule.
type Session struct {
	ctx       context.Context
	cfg       Config
	instances []*instance
	calls     []*call // every call made so far, in order
	failures  []namedFailure
	stub      *standIn
	unknown   error // the status of a call that no version of the protocol has

	info     *infoEvidence
	made     *callEvidence
	canaries []canary
}

// namedFailure is a failure that came another way than as the last event of a call.
type namedFailure struct {
	where string
	f     *pluginpb.Failure
	at    time.Time
}

// canary is a variable that a plugin has no business with, or a secret that it may
// know and not tell.
type canary struct {
	name, value string
	declared    bool
}

func newSession(ctx context.Context, cfg Config) *Session { return &Session{ctx: ctx, cfg: cfg} }

func (s *Session) close() {
	s.stub.close()
	for _, p := range s.instances {
		p.stop()
		_ = os.RemoveAll(p.dirs.root)
	}
}

// needsBinary skips a rule that only a real process can break.
func (s *Session) needsBinary() error {
	if s.cfg.Binary == "" {
		return Skip("only the built binary can be tried for this")
	}
	return nil
}

// infoEvidence is what GetInfo said.
type infoEvidence struct {
	first, second, greased *pluginpb.GetInfoResponse
	took                   time.Duration // the slowest
	err                    error
}

// getInfo asks a plugin that has no network, no configuration, and a bare environment.
func (s *Session) getInfo() *infoEvidence {
	if s.info != nil {
		return s.info
	}
	s.info = &infoEvidence{}
	p, err := s.start(nil, true)
	if err != nil {
		s.info.err = err
		return s.info
	}
	ask := func(greased bool) *pluginpb.GetInfoResponse {
		r := &pluginpb.GetInfoRequest{HostVersion: "conformance", Host: &pluginpb.HostCapabilities{TextDelta: true}}
		if greased {
			grease(r.ProtoReflect())
		}
		ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Timeout)
		defer cancel()
		start := time.Now()
		answer, err := p.base.GetInfo(ctx, r)
		s.info.took = max(s.info.took, time.Since(start))
		s.info.err = errors.Join(s.info.err, err)
		return answer
	}
	s.info.first, s.info.second, s.info.greased = ask(false), ask(false), ask(true)
	p.stop()
	return s.info
}

// callEvidence is the calls that were made for the rules.
type callEvidence struct {
	plain, again, canary []*call // one per case
	grease, schema, big  *call   // of the first case that fits; may be nil
	greaseErr            error   // why that call could not be made
	cancelled            []cancelled
	closed               time.Duration // from closing standard input to the exit
	left                 error         // what calls that ended by themselves left behind
	reused               bool          // several calls were made with one process
	err                  error
}

// canceled is what was seen after a cancel.
type cancelled struct {
	call     *call
	after    time.Duration // the point of the cancel
	returned time.Duration // from the cancel to the handler's return
	left     []string      // processes that were still there
}

// evidence makes all calls, each with a plugin of its own.
func (s *Session) evidence() (*callEvidence, error) {
	if len(s.cfg.Cases) == 0 {
		return nil, Skip("it needs a call, and no case says which one may be made")
	}
	if s.getInfo().err != nil {
		return nil, Skip("GetInfo does not answer: see B1 and P1")
	}
	if s.made == nil {
		s.made = &callEvidence{}
		s.made.err = s.makeCalls(s.made)
	}
	if s.made.err != nil { // the case itself reports it
		return nil, Skip("the calls could not be made: " + s.made.err.Error())
	}
	return s.made, nil
}

func (s *Session) makeCalls(e *callEvidence) error {
	if err := s.standsIn(); err != nil {
		return err
	}
	info := s.getInfo()
	s.makeCanaries(info.first)
	for _, c := range s.cfg.Cases {
		for _, v := range []struct {
			to *[]*call
			h  how
		}{{&e.plain, how{}}, {&e.again, how{name: "again"}}, {&e.canary, how{name: "with canaries", env: s.canaryEnv()}}} {
			if s.cfg.Binary == "" && v.to != &e.plain {
				continue // the environment of this process is not ours to change
			}
			made, err := s.call(c, v.h)
			if err != nil {
				return err
			}
			s.look(made)
			made.p.stop()
			*v.to = append(*v.to, made)
		}
	}
	first := s.cfg.Cases[0]
	var err error
	e.grease, e.greaseErr = s.oneCall(first, how{name: "with unknown fields", grease: true, env: greaseEnv()})
	if e.big, err = s.oneCall(first, how{name: "with the largest message", padding: ruleLimits.message}); err != nil {
		return err
	}
	if c, ok := s.schemaCase(); ok && info.first.GetCapabilities().GetOutputSchema() {
		if e.schema, err = s.oneCall(c, how{name: "with a schema", schema: true}); err != nil {
			return err
		}
	}
	for i := range max(3, len(s.cfg.Cases)) {
		n := i % len(s.cfg.Cases)
		third := e.plain[n].end.Sub(e.plain[n].start)/3 + time.Millisecond
		if err := s.cancelCall(e, s.cfg.Cases[n], time.Duration(i%3)*third+mathrand.N(third)); err != nil {
			return err
		}
	}
	if err := s.reuse(e); err != nil {
		return err
	}
	if s.cfg.Binary != "" {
		return s.closeDuringCall(e, first, e.plain[0].end.Sub(e.plain[0].start)/2)
	}
	return nil
}

// schemaCase is the completion that is best asked for JSON: one that names a schema
// itself, otherwise the first.
func (s *Session) schemaCase() (found Case, ok bool) {
	for _, c := range s.cfg.Cases {
		if c.Complete != nil && (!ok || len(found.Complete.OutputSchema) == 0 && len(c.Complete.OutputSchema) > 0) {
			found, ok = c, true
		}
	}
	return found, ok
}

func (s *Session) oneCall(c Case, h how) (*call, error) {
	made, err := s.call(c, h)
	if err == nil {
		made.p.stop()
	}
	return made, err
}

// cancelCall cancels a call and then drains: Drain comes back when the handler has.
func (s *Session) cancelCall(e *callEvidence, c Case, after time.Duration) error {
	before := goroutines()
	made, err := s.call(c, how{name: fmt.Sprintf("cancelled after %v", after.Round(time.Millisecond)), cancel: after})
	if err != nil {
		return err
	}
	defer made.p.stop()
	out := cancelled{call: made, after: after}
	at := made.start.Add(after)
	if made.end.After(at) {
		at = made.end
	}
	limit := ruleLimits.cancel + ruleLimits.slack
	for out.left = made.p.children(); len(out.left) > 0 && time.Since(at) < limit; out.left = made.p.children() {
		time.Sleep(10 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(s.ctx, 4*limit)
	defer cancel()
	if _, err := made.p.base.Drain(ctx, drainRequest(2*limit)); err != nil {
		return fmt.Errorf("Drain after a cancel: %w", err)
	}
	out.returned = time.Since(at)
	made.p.stop()
	for s.cfg.Binary == "" && goroutines() > before {
		if time.Since(at) > 2*limit {
			out.left = append(out.left, fmt.Sprintf("%d goroutines more than before", goroutines()-before))
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	e.cancelled = append(e.cancelled, out)
	return nil
}

// closeDuringCall closes standard input while a call is going on, as a host that dies.
func (s *Session) closeDuringCall(e *callEvidence, c Case, after time.Duration) error {
	var at time.Time
	closed := make(chan struct{})
	made, err := s.call(c, how{name: "with standard input closed", meanwhile: func(p *instance) {
		defer close(closed)
		time.Sleep(after)
		at = time.Now()
		_ = p.stdin.Close()
	}})
	if err != nil {
		return err
	}
	<-closed
	made.p.waitExit(ruleLimits.close + ruleLimits.slack + time.Second)
	e.closed = time.Since(at)
	made.p.stop()
	return nil
}

// wellKnown are variables with secrets that are often there.
var wellKnown = []string{
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "GH_TOKEN", "NPM_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY",
	"GEMINI_API_KEY", "GOOGLE_API_KEY", "AZURE_CLIENT_SECRET", "SSH_AUTH_SOCK", "DATABASE_URL", "KUBECONFIG", "CI", "EDITOR",
}

func (s *Session) makeCanaries(info *pluginpb.GetInfoResponse) {
	declared := map[string]bool{}
	for _, v := range info.GetEnv() {
		declared[v.GetName()] = true
	}
	given := map[string]bool{}
	add := func(env []string) {
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			given[name] = true
			secret := slices.ContainsFunc(info.GetEnv(), func(v *pluginpb.GetInfoResponse_EnvVar) bool {
				return v.GetName() == name && v.GetSecret()
			})
			if secret && len(value) >= 8 { // shorter ones would be found by chance
				s.canaries = append(s.canaries, canary{name, value, true})
			}
		}
	}
	add(s.cfg.Env)
	for _, c := range s.cfg.Cases {
		add(c.Env)
	}
	for _, name := range wellKnown {
		if !declared[name] && !given[name] {
			s.canaries = append(s.canaries, canary{name, "canary-" + rand.Text(), false})
		}
	}
}

// canaryEnv is the variables that the plugin has not declared.
func (s *Session) canaryEnv() (env []string) {
	for _, c := range s.canaries {
		if !c.declared {
			env = append(env, c.name+"="+c.value)
		}
	}
	return env
}

// allFailures are the failures of all calls and those that came otherwise.
func (s *Session) allFailures() []namedFailure {
	out := slices.Clone(s.failures)
	for _, c := range s.calls {
		if f := c.failure(); f != nil {
			out = append(out, namedFailure{c.name, f, c.end})
		}
	}
	return out
}

// checkCase compares a case's plain call with what its author expects.
func (s *Session) checkCase(i int) error {
	e, err := s.evidence()
	if s.made != nil && s.made.err != nil {
		return s.made.err
	}
	if err != nil {
		return err
	}
	want, got := s.cfg.Cases[i], e.plain[i]
	if got.err != nil {
		return Skip("the call ended with a status: see S1")
	}
	if f := got.failure(); sdk.Reason(f.GetReason()) != want.WantReason {
		if f == nil {
			return fmt.Errorf("the call succeeded; a failure %s was expected", want.WantReason)
		}
		return fmt.Errorf("the call failed with %s: %s (%s)", sdk.Reason(f.GetReason()), f.GetSummary(), f.GetDetail())
	}
	if err := compareFiles(got.p.dirs.workspace, want.WantFiles); err != nil {
		return err
	}
	if done, ok := got.done().(*pluginpb.CompleteDone); ok && want.WantText != "" && done.GetText() != want.WantText {
		return fmt.Errorf("the text is %.200q; expected %.200q", done.GetText(), want.WantText)
	}
	return nil
}

// sameInfo compares two GetInfo answers.
func sameInfo(what string, a, b proto.Message) error {
	if proto.Equal(a, b) {
		return nil
	}
	return fmt.Errorf("%s: %v is not %v", what, a, b)
}
