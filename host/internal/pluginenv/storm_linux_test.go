package pluginenv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/judge/box"
	_ "github.com/paxiom/relay/judge/box/copies"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/sdk/pluginpb"
	"github.com/paxiom/relay/testdata/badplugins"
)

// The test binary is the box's first process and the plugins, too.
func TestMain(m *testing.M) {
	box.Init()
	badplugins.Act()
	os.Exit(m.Run())
}

// Plugins that crash, each launched in a box of its own as in a run, leave nothing behind:
// no descriptor, goroutine, memory, process, mount or folder. `make crash STORM=1000` makes a thousand.
func TestCrashStorm(t *testing.T) {
	rounds := 24
	if testing.Short() {
		rounds = 8
	}
	if n, err := strconv.Atoi(os.Getenv("RELAY_STORM")); err == nil {
		rounds = n
	}
	kinds := []string{"crashstart", "crash", "crash-early", "panic-goroutine"}
	w := newStormWorld(t, kinds)
	for range 2 { // what is made once is made now
		for _, kind := range kinds {
			w.launch(t, kind)
		}
	}
	before := w.census()
	for i := range rounds {
		w.launch(t, kinds[i%len(kinds)])
	}
	after := w.census()
	for range 200 {
		if after.within(before) {
			break
		}
		time.Sleep(25 * time.Millisecond)
		after = w.census()
	}
	t.Logf("%d launches: before %+v, after %+v", rounds, before, after)
	if !after.within(before) {
		buf := make([]byte, 1<<20)
		t.Errorf("left behind: before %+v, after %+v\n%s", before, after, buf[:runtime.Stack(buf, true)])
	}
}

// stormWorld is a repository, a home and a state folder, and the plugins.
type stormWorld struct {
	env  Env
	git  *git.Repo
	dirs []string
}

func newStormWorld(t *testing.T, kinds []string) *stormWorld {
	t.Helper()
	dir := t.TempDir()
	w := &stormWorld{}
	for _, name := range []string{"repo", "home", "state", "tmp", "history"} {
		w.dirs = append(w.dirs, filepath.Join(dir, name))
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", w.dirs[3])
	root := w.dirs[0]
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "--allow-empty", "-m", "base"}} {
		cmd := exec.Command("git", append([]string{"-C", root}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	var err error
	if w.git, err = git.Open(context.Background(), root); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	plugins, err := catalog.Load(catalog.Options{InstallDir: dir, CacheDir: dir, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		plugins.Put(catalog.Entry{Name: kind, Version: "1.0.0", Kinds: []catalog.Kind{catalog.Provider}, Path: exe, SHA256: hex.EncodeToString(sum[:]),
			State: catalog.OK, Unpinned: "a test", Env: []catalog.EnvVar{{Name: badplugins.KindVar}, {Name: badplugins.SecretVar}}})
	}
	w.env = Env{Catalog: plugins, Config: config.Default(), Root: root, StateDir: w.dirs[2], Home: w.dirs[1], StderrDir: w.dirs[4], RunID: "storm"}
	if w.env.Means, err = Means(context.Background(), w.env.Config, w.env.StateDir, root); err != nil {
		t.Skip("this machine allows no box: " + err.Error())
	}
	return w
}

// launch starts a plugin as a run does, and sees it crash.
func (w *stormWorld) launch(t *testing.T, kind string) {
	t.Helper()
	t.Setenv(badplugins.KindVar, kind)
	p, err := w.env.Provider(kind, w.git)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	open, err := p.Lazy.Get(ctx)
	if err == nil {
		_, f := open.Complete(ctx, &pluginpb.CompleteRequest{CallId: "1"}, nil)
		if f == nil {
			err = fmt.Errorf("%s did not crash", kind)
		} else {
			err = f
		}
	}
	if !strings.Contains(err.Error(), "crashed") {
		t.Fatalf("%s: %v", kind, err)
	}
	p.Close(ctx)
}

type stormCounts struct {
	goroutines, descriptors, children, mounts, files int
	heap                                             uint64
}

func (c stormCounts) within(o stormCounts) bool {
	return c.goroutines <= o.goroutines+2 && c.descriptors <= o.descriptors && c.children <= o.children && c.mounts <= o.mounts && c.files <= o.files && c.heap <= o.heap+8<<20
}

func (w *stormWorld) census() stormCounts {
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	c := stormCounts{goroutines: runtime.NumGoroutine(), heap: mem.HeapAlloc}
	fds, _ := os.ReadDir("/proc/self/fd")
	c.descriptors = len(fds)
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		b, _ := os.ReadFile(task)
		c.children += len(strings.Fields(string(b)))
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	c.mounts = strings.Count(string(mounts), filepath.Dir(w.dirs[0]))
	for _, dir := range w.dirs[1:] {
		_ = filepath.WalkDir(dir, func(string, os.DirEntry, error) error { c.files++; return nil })
	}
	return c
}
