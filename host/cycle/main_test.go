package cycle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/activitylog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/hosttest"
	"github.com/paxiom/relay/host/internal/workspace"
)

// The test binary is relay too: it drives the cycle of one service to its end.
func TestMain(m *testing.M) {
	hosttest.Main(m, func(point string) bool {
		return strings.HasPrefix(point, "cycle.") || strings.HasPrefix(point, "apply") || strings.HasPrefix(point, "ledger.") || point == "committed" || point == "built"
	}, child)
}

// envService names the service of a child's cycle.
const envService = "CYCLE_TEST_SERVICE"

// world is one repository with a service, and models that answer the same whenever they
// are asked the same.
type world struct{ *hosttest.World }

func must(t testing.TB, err error) { t.Helper(); hosttest.Must(t, err) }

const serviceYAML = `references: [docs/spec.md]
code: ["src/**"]
models:
  audit_a: {provider: replay, model: one}
  audit_b: {provider: replay, model: two}
  refinement: {provider: replay, enabled: true}
  revision: {rotation: [replay]}
cycle:
  test_command: [grep, -q, three, src/a.txt]
  max_iterations: 3
`

// sections is an answer with the five sections.
func sections(critical, action string) string {
	return "## Critical issues\n- " + critical + "\n\n## Significant concerns\nNone.\n\n## Ambiguities\nNone.\n\n## Style and convention notes\nNone.\n\n## Action plan\n1. " + action + "\n"
}

// answers are calls of a replay script that can be played as often as one likes.
func answers() []map[string]any {
	call := func(when map[string]any, text string) map[string]any {
		return map[string]any{"when": when, "times": -1, "answer": map[string]any{"text": text, "model": "m"}, "usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "cost_microusd": 1000}}
	}
	var out []map[string]any
	for n, word := range []string{"", "second", "three"} {
		if n == 0 {
			continue
		}
		iteration := fmt.Sprintf("This is iteration %d", n)
		out = append(out,
			call(map[string]any{"role": "audit_a", "prompt": iteration}, sections("the word "+word+" is missing in src/a.txt", "Write "+word+" into src/a.txt.")),
			call(map[string]any{"role": "audit_b", "prompt": iteration}, sections("src/a.txt lacks the word "+word, "Put "+word+" into src/a.txt.")),
			call(map[string]any{"role": "refinement", "prompt": "word " + word}, sections("[F1] the word "+word+" is missing", "[A1] Write "+word+" into src/a.txt.")),
			call(map[string]any{"role": "revision", "prompt": "Write " + word}, "# path: src/a.txt\n```\none\n"+word+"\n```\n\n## Coverage\n- A1: src/a.txt\n"))
	}
	return out
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOf(t, map[string]string{"S": serviceYAML})
}

// newWorldOf has these services.
func newWorldOf(t testing.TB, services map[string]string) *world {
	t.Helper()
	files := map[string]string{"src/a.txt": "one\n", "docs/spec.md": "three is wanted\n", "relay.config.json": `{"plugins":{"replay":{"script":"@SCRIPT@"}}}`}
	for id, text := range services {
		files["config/services/"+id+".yaml"] = text
	}
	w := &world{hosttest.New(t, files)}
	w.Script(answers()...)
	return w
}

// config loads the configuration, with KEY=VALUE over it.
func (w *world) config(set ...string) (*config.Config, error) {
	w.T.Helper()
	loaded, err := config.Load(config.Options{Root: w.Root, UserDir: filepath.Join(w.Home, "none"), Set: set})
	if err != nil {
		return nil, err
	}
	return loaded.Config, nil
}

func (w *world) env() *Env {
	w.T.Helper()
	c, err := w.config()
	must(w.T, err)
	ws, err := workspace.Open(w.Root, c.WorkspaceDir)
	must(w.T, err)
	must(w.T, ws.Ensure())
	must(w.T, ws.MkdirAll(ws.Logs()))
	e := &Env{Root: w.Root, Config: c, WS: ws, StateDir: filepath.Join(w.Home, "state"), DataDir: filepath.Join(w.Home, "data"), Home: w.Home, Environ: os.Environ(), Version: "test", Catalog: w.Catalog()}
	e.Log = func(uuid, service, text string) { _ = activitylog.Append(ws.Logs(), e.now(), uuid, service, text) }
	return e
}

func (w *world) service(id string, with ...string) *config.LoadedService {
	w.T.Helper()
	s, err := config.LoadService(config.Options{Root: w.Root}, id, with)
	must(w.T, err)
	return s
}

func (w *world) start(with ...string) *Record {
	w.T.Helper()
	r, err := Start(w.T.Context(), w.env(), StartOptions{Service: w.service("S", with...)}, nil)
	must(w.T, err)
	return r
}

// only is the cycle of a service; "" when there is none. One that was killed before it had
// a record can be known for the service's where there is no other service.
func (w *world) only(service string) string {
	e := w.env()
	all, err := ids(e.WS)
	must(w.T, err)
	services, err := filepath.Glob(filepath.Join(w.Root, "config/services/*.yaml"))
	must(w.T, err)
	for _, id := range all {
		r, err := ReadRecord(e.WS, id)
		if err == nil && r.ServiceID == service || err != nil && len(services) == 1 {
			return id
		}
	}
	return ""
}

// drive takes a service's cycle one command further; done says that it ended.
func (w *world) drive(ctx context.Context, service string) (done bool, err error) {
	e, id := w.env(), w.only(service)
	if id == "" {
		_, err = Start(ctx, e, StartOptions{Service: w.service(service), Force: true}, nil)
		return false, err
	}
	r, err := Resume(ctx, e, id, nil)
	if err != nil {
		if r, rerr := ReadRecord(e.WS, id); rerr == nil && r.State == Complete && !strings.Contains(err.Error(), "interrupted") {
			return true, nil
		}
		return false, err
	}
	switch {
	case r.State == AwaitingReview:
		_, err = Continue(ctx, e, id, nil)
	case r.State == AwaitingAcceptance && r.Iteration == 1:
		_, err = Decide(ctx, e, id, DecideIterate, Despite{})
	case r.State == AwaitingAcceptance:
		_, err = Decide(ctx, e, id, DecideAccept, Despite{})
	}
	return r.State.Ended(), err
}

// child drives a cycle in this process, which stands for relay.
func child(in *hosttest.World) {
	w := &world{in}
	for n := 0; n < 20; n++ {
		done, err := w.drive(context.Background(), orDefault(os.Getenv(envService), "S"))
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		if done {
			fmt.Println("done")
			return
		}
	}
	fmt.Println("error: it never ends")
	os.Exit(1)
}
