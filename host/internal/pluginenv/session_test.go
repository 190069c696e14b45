package pluginenv

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
)

// kept is a session that keeps a plugin which nobody has started yet. ended says how
// often it was ended.
func kept(t *testing.T, e Env) (s *Session, p *Plugin, ended *int) {
	t.Helper()
	ended = new(int)
	p = &Plugin{Entry: catalog.Entry{Name: "claude", Version: "1"}, Lazy: pluginhost.NewLazy(pluginhost.Spec{}), Worker: &report.Worker{Plugin: "claude", Calls: 3},
		cleanup: []func(){func() { *ended++ }}}
	p.wordsTo(e.StderrDir)
	return &Session{plugins: map[string]*Plugin{"claude": p}}, p, ended
}

func history(t *testing.T, dirs ...string) string {
	t.Helper()
	var all []string
	for _, dir := range dirs {
		text, err := os.ReadFile(filepath.Join(dir, "claude.stderr"))
		if os.IsNotExist(err) {
			text = []byte("none")
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return strings.Join(all, " ")
}

// One process serves run after run: each run has an account and a file of its own, and
// what is said between two runs is in neither.
func TestSessionKeepsProviders(t *testing.T) {
	ctx, first, second, third := context.Background(), t.TempDir(), t.TempDir(), t.TempDir()
	s, p, ended := kept(t, Env{StderrDir: first})
	say := func(text string) { fmt.Fprint(&p.words, text) }
	say("one")
	s.Finish(ctx, p)
	s.Done(ctx, p)
	say("between")
	again, err := s.Provider(ctx, Env{StderrDir: second}, "claude", nil)
	if err != nil || again != p || *ended != 0 {
		t.Fatalf("another process for the second run: %v, %v", again != p, err)
	}
	if p.Worker.Calls != 0 || p.Worker.Plugin != "claude" || p.Worker.Version != "1" {
		t.Errorf("the second run begins with %+v", p.Worker)
	}
	say("two")
	p.Failed(&pluginhost.Failure{StderrPath: "of the run that started it"})
	s.Done(ctx, p)
	if _, err := s.Provider(ctx, Env{StderrDir: third}, "claude", nil); err != nil {
		t.Fatal(err)
	}
	s.Done(ctx, p)
	if got := history(t, first, second, third); got != "one two none" {
		t.Errorf("the files of the three runs: %s", got)
	}
	if left := s.Close(ctx); left != 0 || *ended != 1 || p.Lazy != nil {
		t.Errorf("ended %d times, %d left behind", *ended, left)
	}
	if left := s.Close(ctx); left != 0 || *ended != 1 {
		t.Error("a session that was closed closes again")
	}
}

// A failure names the file of the run that it happened in, when something was said there.
func TestFailureNamesItsOwnRun(t *testing.T) {
	dir := t.TempDir()
	_, p, _ := kept(t, Env{StderrDir: dir})
	defer p.Close(context.Background())
	f := &pluginhost.Failure{StderrPath: "/an/older/run"}
	if p.Failed(f); f.StderrPath != "" {
		t.Errorf("nothing was said, and it is in %s", f.StderrPath)
	}
	fmt.Fprint(&p.words, "no memory")
	f = &pluginhost.Failure{StderrPath: "/an/older/run"}
	if p.Failed(f); f.StderrPath != filepath.Join(dir, "claude.stderr") {
		t.Error(f.StderrPath)
	}
}

// Without a session every run has its own, and it ends with the run.
func TestNoSession(t *testing.T) {
	var s *Session
	_, p, ended := kept(t, Env{})
	ctx := context.Background()
	s.Finish(ctx, p)
	if s.Done(ctx, p); *ended != 1 || p.Lazy != nil {
		t.Errorf("ended %d times", *ended)
	}
	if left := s.Close(ctx); left != 0 {
		t.Error(left)
	}
}

// What can't be started is not kept, and the reason is said.
func TestSessionHiresNobody(t *testing.T) {
	folder := t.TempDir()
	plugins, err := catalog.Load(catalog.Options{InstallDir: folder, CacheDir: folder, Root: folder})
	if err != nil {
		t.Fatal(err)
	}
	e := Env{Catalog: plugins, Config: &config.Config{}, Means: "copy", Root: folder, StateDir: folder, Home: folder}
	s := &Session{}
	for _, s := range []*Session{s, nil} {
		_, err := s.Provider(context.Background(), e, "nobody", nil)
		if f, ok := diag.As(err); !ok || f.Code != judge.BlockedPlugin {
			t.Errorf("%v", err)
		}
	}
	if len(s.plugins) > 0 {
		t.Errorf("%+v", s.plugins)
	}
}
