package pluginhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/pluginpb"
	"github.com/paxiom/relay/testdata/badplugins"
)

const secret = "sk-test-2718281828459045"

// hostVar makes the test binary a host that opens a plugin and waits to be killed.
const hostVar = "PLUGINHOST_TEST_HOST"

func TestMain(m *testing.M) {
	badplugins.Act()
	os.Setenv(badplugins.SecretVar, secret)
	if kind := os.Getenv(floodVar); kind != "" {
		beFlooded(kind)
	}
	if os.Getenv(hostVar) != "" {
		actAsHost()
	}
	os.Exit(m.Run())
}

var selfHash = sync.OnceValue(func() string {
	exe, _ := os.Executable()
	f, err := os.Open(exe)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	sum, err := launch.HashFile(f) // not in memory, where it would count as the host's
	if err != nil {
		panic(err)
	}
	return sum
})

// bad is the specification of a misbehaving plugin: the test binary itself.
func bad(kind string) Spec {
	exe, _ := os.Executable()
	return Spec{
		Entry: catalog.Entry{Name: kind, Version: "1.0.0", Kinds: []catalog.Kind{catalog.Provider}, Path: exe, SHA256: selfHash(),
			Env: []catalog.EnvVar{{Name: badplugins.SecretVar, Secret: true}}},
		Env:    []string{badplugins.KindVar + "=" + kind, "GORACE=atexit_sleep_ms=0"},
		Limits: Limits{Start: 30 * time.Second, Info: 30 * time.Second, Silent: 30 * time.Second},
	}
}

func good() Spec {
	s := bad("good")
	s.Entry.Kinds = append(s.Entry.Kinds, catalog.Builder)
	return s
}

func mustOpen(t testing.TB, s Spec) *Plugin {
	t.Helper()
	p, err := Open(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(context.Background()) })
	return p
}

func prompt(text string) *pluginpb.CompleteRequest {
	return &pluginpb.CompleteRequest{CallId: "1", Parts: []*pluginpb.Part{{Part: &pluginpb.Part_Text{Text: text}}}}
}

func TestGood(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, good())
	var kinds []string
	done, f := p.Complete(context.Background(), prompt("hello"), func(ev *pluginpb.CompleteEvent) {
		kinds = append(kinds, fmt.Sprintf("%T", ev.GetEvent()))
	})
	if f != nil || done.GetText() != "hello" {
		t.Fatal(done, f)
	}
	if got := strings.Join(kinds, " "); got != "*pluginpb.CompleteEvent_Started *pluginpb.CompleteEvent_TextDelta *pluginpb.CompleteEvent_Completed" {
		t.Error(got)
	}
	built, f := p.Build(context.Background(), &pluginpb.BuildRequest{CallId: "2", Workspace: "/"}, nil)
	if f != nil || string(built.GetResultJson()) != `{"ok":true}` {
		t.Fatal(built, f)
	}
	if _, f := p.Health(context.Background(), false); f != nil {
		t.Error(f)
	}
	if p.Info().GetName() != "good" || !p.Alive() {
		t.Error(p.Info())
	}
	_, f = p.Complete(context.Background(), prompt("fail:slow down"), nil)
	if f == nil || f.Cause != Reported || f.Reason != pluginpb.Failure_REASON_RATE_LIMITED || f.RetryAfter != time.Second || f.Effect != pluginpb.Failure_EFFECT_NONE {
		t.Errorf("%+v", f)
	}
	if left := p.Close(context.Background()); left != 0 || p.Alive() {
		t.Errorf("%d left", left)
	}
	if _, f = p.Complete(context.Background(), prompt("late"), nil); f == nil {
		t.Error("a closed plugin answers")
	}
}

// want is how a bad plugin must end, in relay's own words.
type want struct {
	kind    string
	cause   Cause
	summary string
	detail  string
	effect  pluginpb.Failure_Effect
	action  Action
	code    judge.Code
	limits  func(*Limits)
	check   func(*testing.T, *Failure)
}

func quick(l *Limits) { l.Silent, l.Grace = 500*time.Millisecond, 300*time.Millisecond }

func shortStart(l *Limits) { l.Start = time.Second }

var wants = []want{
	{kind: "chatty", cause: NotStarted, summary: "plugin chatty 1.0.0 printed something else before the handshake", detail: `"loading configuration..."`, effect: none, action: Block, code: judge.BlockedPlugin},
	{kind: "mute", cause: NotStarted, summary: "plugin mute 1.0.0 said nothing within 1s", effect: none, action: Block, code: judge.BlockedPlugin, limits: shortStart},
	{kind: "crashstart", cause: NotStarted, summary: "plugin crashstart 1.0.0 crashed while it started: exit status 2", detail: "panic: no settings", effect: none, action: Block, code: judge.BlockedPlugin},
	{kind: "wrongversion", cause: NotStarted, summary: "plugin wrongversion 1.0.0 speaks relay protocol 7; this relay speaks 1", detail: "newer than this relay", effect: none, action: Block, code: judge.BlockedPlugin},
	{kind: "impostor", cause: NotStarted, summary: "plugin impostor is not what is pinned", detail: `it calls itself "somebody-else"`, effect: none, action: Block, code: judge.BlockedPlugin},

	{kind: "crash", cause: Crashed, summary: "plugin crash 1.0.0 crashed during Complete: exit status 3", effect: unknown, action: Stop, code: judge.StopPluginCrashed},
	{kind: "crash-early", cause: Crashed, summary: "crashed during Complete: exit status 4", effect: none, action: Again, code: judge.StopPluginCrashed},
	{kind: "panic-goroutine", cause: Crashed, summary: "crashed during Complete: exit status 2", detail: "panic: index out of patience, key [redacted]", effect: none, action: Again, code: judge.StopPluginCrashed,
		check: func(t *testing.T, f *Failure) {
			if !strings.Contains(f.Stack, "goroutine ") || !strings.Contains(f.Stack, "badplugins") {
				t.Errorf("stack: %q", f.Stack)
			}
		}},
	{kind: "panic-handler", cause: Reported, effect: unknown, action: Stop, code: judge.StopInterrupted},
	{kind: "orphaner"},
	{kind: "slowstart"},
	{kind: "flood-stderr"},
	{kind: "deaf", limits: func(l *Limits) { l.Grace = 300 * time.Millisecond }},
	{kind: "stopped", cause: Protocol, summary: "broke the plugin protocol during Complete", detail: "silent for 500ms", effect: unknown, action: Stop, code: judge.StopPluginCrashed, limits: quick},
	{kind: "silent", cause: Protocol, detail: "silent for 500ms", effect: unknown, action: Stop, code: judge.StopPluginCrashed, limits: quick},
	{kind: "liar-twice", cause: Protocol, detail: "an event after its final one", effect: unknown, action: Stop, code: judge.StopPluginCrashed},
	{kind: "liar-usage", cause: Protocol, detail: "output_tokens was 100 and is 7", effect: unknown, action: Stop, code: judge.StopPluginCrashed},
	{kind: "liar-nothing", cause: Protocol, detail: "neither a result nor a failure", effect: unknown, action: Stop, code: judge.StopPluginCrashed},
	{kind: "liar-gap", cause: Protocol, detail: "event number 3 where 2 was due", effect: unknown, action: Stop, code: judge.StopPluginCrashed},
	{kind: "liar-start", cause: Protocol, detail: "must be started", effect: unknown, action: Stop, code: judge.StopPluginCrashed},
	{kind: "status", cause: Protocol, detail: "gRPC status DataLoss: the dog ate it: [redacted]", effect: unknown, action: Stop, code: judge.StopPluginCrashed},
	{kind: "partial", cause: Unimplemented, summary: "plugin partial 1.0.0 does not have Complete", effect: none, action: Block, code: judge.BlockedPlugin},
	{kind: "flood", cause: Protocol, detail: "more than 1000 events a second", effect: unknown, action: Stop, code: judge.StopPluginCrashed, limits: func(l *Limits) { l.Events = 1000 }},
	{kind: "flood-bytes", cause: Protocol, detail: "its events have more than 16 MiB", effect: unknown, action: Stop, code: judge.StopPluginCrashed, limits: func(l *Limits) { l.Bytes = 16 << 20 }},
	{kind: "flood-notices", cause: Protocol, detail: "its events have more than 64 MiB", effect: unknown, action: Stop, code: judge.StopPluginCrashed},
	{kind: "fat", cause: Protocol, detail: "a message of more than 2 MiB", effect: unknown, action: Stop, code: judge.StopPluginCrashed},
	{kind: "garbled", cause: Reported, summary: "the answer of plugin garbled 1.0.0 can't be read", detail: "UTF-8", effect: unknown, action: Again, code: judge.BlockedOrchestrator},
	{kind: "commanding", cause: Reported, summary: "plugin commanding 1.0.0 says: run 'curl https://evil.example", detail: "it says: 'curl ", effect: unknown, action: Block, code: judge.BlockedAuth,
		check: func(t *testing.T, f *Failure) {
			if fl := f.Diagnostic(); strings.Contains(fl.Fix, "evil") || !strings.HasPrefix(fl.Says, "plugin commanding 1.0.0 suggests: ") {
				t.Errorf("fix %q, says %q", fl.Fix, fl.Says)
			}
			if text := f.Summary + f.Detail + f.Says; len(text) > 12<<10 || strings.ContainsAny(text, "`\n\r\x1b\u202e") {
				t.Errorf("%d bytes: %.500q", len(text), text)
			}
		}},
	{kind: "leaky", cause: Reported, summary: "key [redacted] was rejected", detail: "sent [redacted]", effect: unknown, action: Block, code: judge.BlockedAuth},
}

// round opens a plugin, makes one call, and closes it.
func round(kind string, limits func(*Limits)) (f *Failure, left int) {
	spec := bad(kind)
	if limits != nil {
		limits(&spec.Limits)
	}
	p, err := Open(context.Background(), spec)
	if err != nil {
		errors.As(err, &f)
		return f, 0
	}
	_, f = p.Complete(context.Background(), prompt("hi"), nil)
	return f, p.Close(context.Background())
}

// Every bad plugin ends in bounded time with a text of relay's own.
func TestBadPlugins(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{"good": true, "brood": true}
	for _, w := range wants {
		covered[w.kind] = true
		t.Run(w.kind, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			f, left := round(w.kind, w.limits)
			if d := time.Since(began); d > time.Minute {
				t.Errorf("took %v", d)
			}
			// Both are ended (the leak test sees to that); the count is of those that the
			// search met, and the one in the leader's group may go before it looks.
			if w.kind == "orphaner" && (left < 1 || left > 2) {
				t.Errorf("%d left behind, want 1 or 2", left)
			}
			if w.cause == "" {
				if f != nil {
					t.Error(f)
				}
				return
			}
			if f == nil {
				t.Fatal("no failure")
			}
			d := Decide(f)
			if f.Cause != w.cause || !strings.Contains(f.Summary, w.summary) || !strings.Contains(f.Detail, w.detail) || f.Effect != w.effect {
				t.Errorf("%s (%s): %v", f.Cause, f.Effect, f)
			}
			if d.Action != w.action || d.Code != w.code {
				t.Errorf("decided %+v", d)
			}
			if text := fmt.Sprintf("%+v", *f) + f.Error(); strings.Contains(text, secret) {
				t.Errorf("the secret is in %s", text)
			}
			if fl := f.Diagnostic(); fl.What == "" || fl.Fix == "" || (f.Cause != Reported && !strings.HasPrefix(fl.Fix, "`")) || fl.Code != w.code {
				t.Errorf("%+v", fl)
			}
			if w.check != nil {
				w.check(t, f)
			}
		})
	}
	for _, k := range badplugins.Kinds {
		if !covered[k.Name] {
			t.Errorf("no test for %q", k.Name)
		}
	}
}

// What a leaky plugin says is masked in events, failures and the file of standard error.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	spec := bad("leaky")
	spec.Stderr = &stderr
	p := mustOpen(t, spec)
	var events strings.Builder
	_, f := p.Complete(context.Background(), prompt("hi"), func(ev *pluginpb.CompleteEvent) { events.WriteString(ev.String()) })
	if f == nil || f.UpstreamCode != "401 [redacted]" || f.UpstreamRequestID != "[redacted]" || f.Says != "plugin leaky 1.0.0 suggests: replace [redacted]" {
		t.Errorf("%+v", f)
	}
	p.Close(context.Background())
	for name, text := range map[string]string{"events": events.String(), "stderr": stderr.String(), "tail": p.client.Tail(1 << 16)} {
		if strings.Contains(text, secret) || !strings.Contains(text, "[redacted]") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A message that is too large is refused before it is sent, and the plugin lives.
func TestTooLargeToSend(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, good())
	_, f := p.Complete(context.Background(), prompt(strings.Repeat("x", 41<<20)), nil)
	if f == nil || f.Summary != "the prompt is 42 MiB; the limit is 32 MiB" || f.Cause != OurLimit || f.Effect != none {
		t.Errorf("%v", f)
	}
	if done, f := p.Complete(context.Background(), prompt(strings.Repeat("y", 1<<20)), nil); f != nil || len(done.GetText()) != 1<<20 {
		t.Error(f)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, bad("brood"))
	ctx, cancel := context.WithCancel(context.Background())
	_, f := p.Complete(ctx, prompt("hi"), func(ev *pluginpb.CompleteEvent) {
		if ev.GetNotice() != nil {
			cancel()
		}
	})
	if f == nil || f.Cause != Cancelled || !errors.Is(f, context.Canceled) || Decide(f).Action != Stop {
		t.Errorf("%v", f)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, f = p.Complete(ctx, prompt("hi"), nil)
	if f == nil || f.Cause != Cancelled || !errors.Is(f, context.DeadlineExceeded) || !strings.Contains(f.Summary, "ran out of time") {
		t.Errorf("%v", f)
	}
}

// Calls to a plugin that is not concurrent wait for each other, and can be canceled
// while they wait.
func TestOneCallAtATime(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, bad("brood"))
	ctx, cancel := context.WithCancel(context.Background())
	running, finished := make(chan bool), make(chan bool)
	go func() {
		p.Complete(ctx, prompt("first"), func(ev *pluginpb.CompleteEvent) {
			if ev.GetNotice() != nil {
				close(running)
			}
		})
		close(finished)
	}()
	<-running
	short, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	if _, f := p.Complete(short, prompt("second"), func(*pluginpb.CompleteEvent) { t.Error("it ran") }); f == nil || f.Effect != none {
		t.Errorf("%v", f)
	}
	cancel()
	<-finished
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	schema := []byte(`{"type":"object","additionalProperties":false,"properties":{"model":{"type":"string"}}}`)
	for _, c := range []struct {
		schema, config, why string
	}{
		{string(schema), `{"model": 7}`, "model"},
		{string(schema), `{"modle": "x"}`, "modle"},
		{string(schema), `[]`, "object"},
		{string(schema), `{`, "unexpected"},
		{"", `7`, "object"},
		{`{"$ref":"file:///etc/passwd"}`, `{}`, ""},
	} {
		s := bad("good")
		s.Entry.Path = "/nonexistent" // it must not come to a start
		s.Config = []byte(c.config)
		if c.schema != "" {
			s.Entry.ConfigSchema = []byte(c.schema)
		}
		_, err := Open(context.Background(), s)
		var f *Failure
		if !errors.As(err, &f) || f.RPC == "Start" || !strings.Contains(f.Detail, c.why) {
			t.Errorf("%s against %s: %v", c.config, c.schema, err)
		}
	}
}

func TestPinnedInfo(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*catalog.Entry){
		"version": func(e *catalog.Entry) { e.Version = "2.0.0" },
		"kinds":   func(e *catalog.Entry) { e.Kinds = []catalog.Kind{catalog.Builder} },
		"schema":  func(e *catalog.Entry) { e.SchemaSHA256 = strings.Repeat("0", 64) },
	} {
		s := good()
		change(&s.Entry)
		_, err := Open(context.Background(), s)
		var f *Failure
		if !errors.As(err, &f) || !strings.Contains(f.Summary, "is not what is pinned") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A file that speaks an older protocol than was pinned is a way back to old errors.
	older := good()
	older.Entry.Protocol = 2
	_, err := Open(context.Background(), older)
	if f := mustFailure(err); f == nil || f.Detail != "it speaks protocol 1; pinned is 2, and going back is how old faults are brought back" || f.Fix != older.Entry.Reinstall() {
		t.Errorf("downgrade: %v", err)
	}
	s := bad("good")
	s.Entry.SHA256 = strings.Repeat("0", 64)
	_, err = Open(context.Background(), s)
	f, ok := diag.As(mustFailure(err).Diagnostic())
	if !ok || f.Code != judge.BlockedPlugin || !strings.Contains(f.What, "not the file that was pinned") {
		t.Errorf("%v", err)
	}
}

func mustFailure(err error) *Failure {
	var f *Failure
	errors.As(err, &f)
	return f
}

func TestLazy(t *testing.T) {
	t.Parallel()
	l := NewLazy(bad("crash-early"))
	defer l.Close(context.Background())
	l.Warm(context.Background())
	pids := map[int]bool{}
	f := Retry(context.Background(), RetryOptions{Sleep: func(context.Context, time.Duration) error { return nil }}, func(ctx context.Context, attempt int) *Failure {
		p, err := l.Get(ctx)
		if err != nil {
			return mustFailure(err)
		}
		pids[p.Pid()] = true
		_, f := p.Complete(ctx, prompt("hi"), nil)
		return f
	})
	if f == nil || f.Cause != Crashed || len(pids) != 2 {
		t.Errorf("%v after %d processes", f, len(pids))
	}
	if _, err := l.Get(context.Background()); mustFailure(err) == nil {
		t.Error("a third process was started")
	}
	l.Close(context.Background())
	if _, err := l.Get(context.Background()); mustFailure(err) == nil {
		t.Error("a closed Lazy opens its plugin")
	}

	// Close does not wait for a plugin that is still starting.
	slow := NewLazy(bad("mute"))
	slow.Warm(context.Background())
	time.Sleep(50 * time.Millisecond)
	began := time.Now()
	slow.Close(context.Background())
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("Close took %v", d)
	}
}

// actAsHost opens a plugin with children, says the pids, and continues for ever.
func actAsHost() {
	p, err := Open(context.Background(), bad("brood"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	p.Complete(context.Background(), prompt("hi"), func(ev *pluginpb.CompleteEvent) {
		if n := ev.GetNotice(); n != nil {
			fmt.Println("pids", n.GetText())
		}
	})
	time.Sleep(time.Hour)
}

// After SIGKILL of the host its plugin is gone, and so are the plugin's children,
// also one in a session of its own.
func TestHostKilled(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), hostVar+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	buf := make([]byte, 1<<10)
	n, err := out.Read(buf)
	text, ok := strings.CutPrefix(string(buf[:n]), "pids ")
	if err != nil || !ok {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	var pids []int
	for _, s := range strings.Fields(text) {
		pid, _ := strconv.Atoi(s)
		pids = append(pids, pid)
	}
	if len(pids) != 3 {
		t.Fatalf("pids %v", pids)
	}
	began := time.Now()
	syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
	for {
		living := pids[:0:0]
		for _, pid := range pids {
			if lives(pid) {
				living = append(living, pid)
			}
		}
		if len(living) == 0 {
			break
		}
		if time.Since(began) > 20*time.Second { // one second is the aim; machines are slow
			t.Fatalf("still there after %v: %v", time.Since(began), living)
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("plugin and children gone after %v", time.Since(began).Round(time.Millisecond))
}

func lives(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(b, []byte(") Z "))
}

// Two hundred rounds over the mix, as many as `make crash STORM=1000` says, leave no
// goroutine, descriptor, socket, child, folder or memory.
func TestNothingLeaks(t *testing.T) {
	storm(t, rounds(200, 40), []string{"good", "crash", "orphaner", "chatty", "liar-twice", "panic-goroutine", "fat", "wrongversion", "status", "flood",
		"crashstart", "impostor", "leaky", "crash-early", "liar-gap", "partial", "stopped", "flood-stderr", "good", "mute"}, nil)
}

// Plugins that crash, before the handshake, in a call and at its start, leave nothing
// either; `make crash` launches a thousand of them.
func TestCrashingLaunches(t *testing.T) {
	storm(t, rounds(60, 20), []string{"crashstart", "crash-early", "crashstart", "panic-goroutine"}, func(kind string, err error) {
		if err == nil || !strings.Contains(err.Error(), "crashed") {
			t.Errorf("%s: %v", kind, err)
		}
	})
}

// rounds is how many there are: what RELAY_STORM says, or else all, or with -short few.
func rounds(all, few int) int {
	if n, err := strconv.Atoi(os.Getenv("RELAY_STORM")); err == nil {
		return n
	}
	if testing.Short() {
		return few
	}
	return all
}

// storm launches and calls bad plugins of these kinds in turn, two at a time, and compares
// what there is of everything before and after. ended, if any, is told how each went.
func storm(t *testing.T, rounds int, mix []string, ended func(kind string, err error)) {
	t.Helper()
	limits := func(l *Limits) {
		l.Silent, l.Grace, l.Events, l.Start = 400*time.Millisecond, 200*time.Millisecond, 1000, 5*time.Second
	}
	sockets, err := os.MkdirTemp("/tmp", "rl") // t.TempDir is too long for sockets
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(sockets)
	t.Setenv("TMPDIR", sockets)
	one := func(i int) {
		kind := mix[i%len(mix)]
		spec := bad(kind)
		spec.SocketDir = sockets
		limits(&spec.Limits)
		if kind == "mute" {
			spec.Limits.Start = 200 * time.Millisecond
		}
		p, err := Open(context.Background(), spec)
		if err == nil {
			if _, f := p.Complete(context.Background(), prompt("hi"), nil); f != nil {
				err = f
			}
			p.Close(context.Background())
		}
		if ended != nil {
			ended(kind, err)
		}
	}
	for i := range mix { // what is made once is made now
		if i%4 == 0 {
			one(i)
		}
	}
	before := census(sockets)
	began := time.Now()
	next := make(chan int)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range next {
				one(i)
			}
		})
	}
	for i := range rounds {
		next <- i
	}
	close(next)
	wg.Wait()
	took := time.Since(began)
	var after counts
	for range 200 {
		if after = census(sockets); after.within(before) {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Logf("%d rounds in %v: before %+v, after %+v", rounds, took.Round(time.Millisecond), before, after)
	if !after.within(before) {
		buf := make([]byte, 1<<20)
		t.Errorf("leaked: before %+v, after %+v\n%s", before, after, buf[:runtime.Stack(buf, true)])
	}
}

type counts struct {
	goroutines, descriptors, sockets, children, folders int
	heap                                                uint64
}

// heapSlack is more than a run's own tables take, and far less than what a thousand
// rounds would leave behind of their messages.
const heapSlack = 8 << 20

func (c counts) within(o counts) bool {
	return c.goroutines <= o.goroutines+2 && c.descriptors <= o.descriptors && c.sockets <= o.sockets && c.children <= o.children &&
		c.folders <= o.folders && c.heap <= o.heap+heapSlack
}

func census(folder string) counts {
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	c := counts{goroutines: runtime.NumGoroutine(), heap: mem.HeapAlloc}
	left, _ := os.ReadDir(folder)
	c.folders = len(left)
	fds, _ := os.ReadDir("/proc/self/fd")
	c.descriptors = len(fds)
	for _, fd := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.HasPrefix(to, "socket:") {
			c.sockets++
		}
	}
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, t := range tasks {
		b, _ := os.ReadFile(t)
		c.children += len(strings.Fields(string(b)))
	}
	return c
}

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		p, err := Open(context.Background(), good())
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		p.Close(context.Background())
		b.StartTimer()
	}
}

func BenchmarkComplete(b *testing.B) {
	p := mustOpen(b, good())
	for b.Loop() {
		if _, f := p.Complete(context.Background(), prompt("hello"), nil); f != nil {
			b.Fatal(f)
		}
	}
}

func BenchmarkClose(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		p := mustOpen(b, good())
		b.StartTimer()
		p.Close(context.Background())
	}
}
