package lock

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/judge"
)

// TestMain lets the test binary be another process that wants the lock.
func TestMain(m *testing.M) {
	if path := os.Getenv("LOCK_TEST_PATH"); path != "" {
		l, _, err := Acquire(path, "test")
		if err != nil {
			fmt.Println("refused")
			return
		}
		fmt.Println("got")
		bufio.NewReader(os.Stdin).ReadString('\n')
		l.Release()
		return
	}
	os.Exit(m.Run())
}

func blocked(t *testing.T, err error) *fault.Fault {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != judge.BlockedLockHeld || f.What == "" || f.Why == "" || !strings.HasPrefix(f.Fix, "`") {
		t.Fatalf("not a full BLOCKED_LOCK_HELD: %#v", err)
	}
	return f
}

func TestAcquireRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.json")
	if s, _, err := Inspect(path); s != Free || err != nil {
		t.Fatalf("no file: %v %v", s, err)
	}
	l, old, err := Acquire(path, "relay run")
	if err != nil || old != nil {
		t.Fatalf("acquire: %v %v", old, err)
	}
	if err := l.SetRun("run-1"); err != nil {
		t.Fatal(err)
	}
	s, info, err := Inspect(path)
	if s != Held || err != nil || info.PID != os.Getpid() || info.RunID != "run-1" {
		t.Fatalf("held: %v %+v %v", s, info, err)
	}
	_, _, err = Acquire(path, "relay run")
	blocked(t, err)
	for range 2 {
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Fatalf("the file is left: %v", err)
	}
}

// TestManyProcesses: of eight that want it at once exactly one gets it.
func TestManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.json")
	var mu sync.Mutex
	got := 0
	var wg sync.WaitGroup
	var ends []func()
	for range 8 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "LOCK_TEST_PATH="+path)
		in, _ := c.StdinPipe()
		out, _ := c.StdoutPipe()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, func() { in.Close(); c.Wait() })
		wg.Go(func() {
			line, _ := bufio.NewReader(out).ReadString('\n')
			mu.Lock()
			defer mu.Unlock()
			if line == "got\n" {
				got++
			}
		})
	}
	wg.Wait()
	for _, end := range ends {
		end()
	}
	if got != 1 {
		t.Fatalf("%d processes had the lock at once", got)
	}
}

// TestKilledHolder: the lock of a process that was killed is taken over at once.
func TestKilledHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.json")
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "LOCK_TEST_PATH="+path)
	in, _ := c.StdinPipe()
	defer in.Close()
	out, _ := c.StdoutPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "got\n" {
		t.Fatalf("the first process says %q", line)
	}
	c.Process.Kill()
	c.Wait()
	if s, _, err := Inspect(path); s != Stale || err != nil {
		t.Fatalf("after the kill: %v %v", s, err)
	}
	l, old, err := Acquire(path, "relay run")
	if err != nil || old == nil || old.PID != c.Process.Pid {
		t.Fatalf("taking over: %+v %v", old, err)
	}
	l.Release()
}

func TestWrittenLocks(t *testing.T) {
	info := func(change func(*Info)) string {
		i := self("relay run")
		change(&i)
		b, _ := json.Marshal(i)
		return string(b)
	}
	for name, c := range map[string]struct {
		text string
		want State
	}{
		"empty":            {"", Free},
		"truncated":        {`{"pid": 12`, Corrupt},
		"garbage":          {"\x00\xff", Corrupt},
		"list":             {"[]", Corrupt},
		"null":             {"null", Corrupt},
		"no pid":           {"{}", Corrupt},
		"pid as text":      {`{"pid":"1"}`, Corrupt},
		"negative pid":     {`{"pid":-4}`, Corrupt},
		"fraction":         {`{"pid":1.5}`, Corrupt},
		"twice":            {`{"pid":1,"pid":2}`, Corrupt},
		"huge":             {`{"pid":1,"command":"` + strings.Repeat("x", maxFile) + `"}`, Corrupt},
		"lives":            {info(func(*Info) {}), Held},
		"lives, old style": {info(func(i *Info) { i.PIDStart = "" }), Held},
		"pid used again":   {info(func(i *Info) { i.PIDStart = "1" }), Stale},
		"gone":             {info(func(i *Info) { i.PID = 1 << 22 }), Stale},
		"other boot":       {info(func(i *Info) { i.BootID = "another" }), Stale},
		"other machine":    {info(func(i *Info) { i.BootID = "another"; i.Host = "elsewhere.invalid" }), Held},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock.json")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if s, _, err := Inspect(path); s != c.want || err != nil {
				t.Fatalf("inspect: %v %v, want %v", s, err, c.want)
			}
			l, _, err := Acquire(path, "relay run")
			if c.want == Held || c.want == Corrupt {
				blocked(t, err)
				if got, _ := os.ReadFile(path); string(got) != c.text {
					t.Fatal("a refused lock was written")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			l.Release()
		})
	}
}

// TestFixWorks: the command of the refusal makes the lock usable again.
func TestFixWorks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's here")
	os.Mkdir(dir, 0o755)
	path := filepath.Join(dir, "lock.json")
	os.WriteFile(path, []byte("[]"), 0o644)
	_, _, err := Acquire(path, "relay run")
	fix := strings.Split(blocked(t, err).Fix, "`")[1]
	if out, err := exec.Command("sh", "-c", fix).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", fix, err, out)
	}
	l, _, err := Acquire(path, "relay run")
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
}

func TestOddFiles(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	os.WriteFile(victim, []byte("keep"), 0o644)
	link, folder := filepath.Join(dir, "link"), filepath.Join(dir, "folder")
	os.Symlink(victim, link)
	os.Mkdir(folder, 0o755)
	for _, path := range []string{link, folder, filepath.Join(dir, "missing", "lock.json")} {
		_, _, err := Acquire(path, "relay run")
		blocked(t, err)
	}
	if b, _ := os.ReadFile(victim); string(b) != "keep" {
		t.Fatal("a link was followed")
	}
}

// TestReleaseLeavesOthers: a file that was replaced meanwhile is not ours to remove.
func TestReleaseLeavesOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.json")
	l, _, err := Acquire(path, "relay run")
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	os.WriteFile(path, []byte("other"), 0o644)
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "other" {
		t.Fatal("another's lock was removed")
	}
}
