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
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

const roleEnv = "RELAY_TEST_LOCK_ROLE"

// The test binary plays other processes.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		play(role, os.Args[1])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func play(role, path string) {
	switch role {
	case "hold": // says so, holds until stdin ends, lets go
		l, _, err := Acquire(path, "relay run")
		if err != nil {
			fmt.Println("no")
			return
		}
		fmt.Println("yes")
		bufio.NewReader(os.Stdin).ReadByte()
		if err := l.Release(); err != nil {
			panic(err)
		}
	case "race": // counts how many are inside at once
		for range 40 {
			l, _, err := Acquire(path, "relay run")
			if err != nil {
				if f, ok := diag.As(err); !ok || f.Code != judge.BlockedLockHeld {
					fmt.Println("bad:", err)
				}
				time.Sleep(time.Millisecond)
				continue
			}
			f, err := os.OpenFile(path+".inside", os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				fmt.Println("two inside")
			} else {
				f.Close()
				time.Sleep(500 * time.Microsecond)
				os.Remove(path + ".inside")
				fmt.Println("in")
			}
			if err := l.Release(); err != nil {
				fmt.Println("bad:", err)
			}
		}
	}
}

type child struct {
	*exec.Cmd
	in  interface{ Close() error }
	out *bufio.Reader
}

func start(t *testing.T, role, path string) *child {
	t.Helper()
	c := exec.Command(os.Args[0], path)
	c.Env = append(os.Environ(), roleEnv+"="+role)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return &child{c, in, bufio.NewReader(out)}
}

func (c *child) says(t *testing.T) string {
	t.Helper()
	s, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(s)
}

func wantHeld(t *testing.T, err error, contains ...string) {
	t.Helper()
	f, ok := diag.As(err)
	if !ok || f.Code != judge.BlockedLockHeld || f.Why == "" || !strings.HasPrefix(f.Fix, "`") {
		t.Fatalf("got %#v, want a whole fault with BLOCKED_LOCK_HELD", err)
	}
	for _, c := range contains {
		if !strings.Contains(f.Error(), c) {
			t.Errorf("%q does not say %q", f.Error(), c)
		}
	}
}

func wantState(t *testing.T, path string, want State) {
	t.Helper()
	if got, _, err := Inspect(path); got != want || err != nil {
		t.Errorf("Inspect: %s, %v; want %s", got, err, want)
	}
}

func TestHeldReleasedKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.json")
	wantState(t, path, Free)
	a := start(t, "hold", path)
	if a.says(t) != "yes" {
		t.Fatal("the first did not get it")
	}
	wantState(t, path, Held)
	_, _, err := Acquire(path, "relay run")
	wantHeld(t, err, `"relay run"`, "relay stop")
	if b := start(t, "hold", path); b.says(t) != "no" {
		t.Error("a second process got it too")
	}
	a.in.Close()
	if err := a.Wait(); err != nil {
		t.Fatal(err)
	}
	wantState(t, path, Free)
	if _, err := os.Lstat(path); err == nil {
		t.Error("the file is still there after the release")
	}

	c := start(t, "hold", path)
	if c.says(t) != "yes" {
		t.Fatal("not free after a release")
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	wantState(t, path, Stale)
	l, old, err := Acquire(path, "relay run")
	if err != nil || old == nil || old.PID != c.Process.Pid {
		t.Fatalf("after a kill: %+v, %v", old, err)
	}
	// the same process can't take it twice
	_, _, err = Acquire(path, "relay run")
	wantHeld(t, err)
	if err := l.SetRun("20261120-192359-k3v9m2qa"); err != nil {
		t.Fatal(err)
	}
	if _, i, _ := Inspect(path); i == nil || i.RunID != "20261120-192359-k3v9m2qa" || i.PID != os.Getpid() || i.PIDStart == "" || i.BootID == "" {
		t.Errorf("%+v", i)
	}
	for range 2 {
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	if err := l.SetRun("x"); err == nil {
		t.Error("SetRun after Release")
	}
}

// Many processes that take and let go all the time: never two inside.
func TestExactlyOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.json")
	var wg sync.WaitGroup
	var mu sync.Mutex
	in := 0
	for range 6 {
		c := start(t, "race", path)
		wg.Go(func() {
			for {
				s, err := c.out.ReadString('\n')
				if err != nil {
					return
				}
				mu.Lock()
				if strings.TrimSpace(s) == "in" {
					in++
				} else {
					t.Error(strings.TrimSpace(s))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if in == 0 {
		t.Error("nobody ever got it")
	}
}

// Looking does not keep anybody from taking it.
func TestInspectIsNoHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.json")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if _, _, err := Inspect(path); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for range 30 {
		l, _, err := Acquire(path, "x")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestWhatALockFileCanHold(t *testing.T) {
	me := self("")
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	dead := gone.Process.Pid
	info := func(pid int, start, boot, host string) string {
		b, _ := json.Marshal(Info{pid, start, boot, host, time.Now(), "relay run", ""})
		return string(b)
	}
	const otherBoot = "11111111-2222-3333-4444-555555555555"
	for name, c := range map[string]struct {
		text string
		want State // Stale or Free: taken over; Held and Corrupt: refused
		say  string
	}{
		"empty":                     {"", Free, ""},
		"zeros after a power loss":  {strings.Repeat("\x00", 300), Free, ""},
		"dead":                      {info(dead, "1", me.BootID, me.Host), Stale, ""},
		"number given away":         {info(os.Getpid(), "1", me.BootID, me.Host), Stale, ""},
		"alive without flock":       {info(os.Getpid(), me.PIDStart, me.BootID, me.Host), Held, "lives"},
		"alive, start unknown":      {info(os.Getpid(), "", me.BootID, me.Host), Held, "lives"},
		"alive, another user's":     {info(1, "", me.BootID, me.Host), Held, "lives"},
		"before a restart":          {info(os.Getpid(), me.PIDStart, otherBoot, me.Host), Stale, ""},
		"boot id of another kind":   {info(os.Getpid(), me.PIDStart, "abc", me.Host), Held, "lives"},
		"another container":         {info(os.Getpid(), me.PIDStart, me.BootID, "other"), Stale, ""},
		"renamed and restarted":     {info(dead, "1", otherBoot, "other"), Stale, ""},
		"another machine, no boot":  {info(dead, "1", "", "other"), Held, "another machine"},
		"seed's fields only":        {fmt.Sprintf(`{"pid":%d,"started_at":"2026-01-01T00:00:00Z","boot_id":"x"}`, os.Getpid()), Held, "lives"},
		"more fields":               {fmt.Sprintf(`{"pid":%d,"x":{}}`, dead), Stale, ""},
		"garbage":                   {"garbage", Corrupt, "rm "},
		"truncated":                 {`{"pid":12`, Corrupt, "rm "},
		"list":                      {"[]", Corrupt, "rm "},
		"null":                      {"null", Corrupt, "rm "},
		"no pid":                    {"{}", Corrupt, "pid"},
		"pid as text":               {`{"pid":"12"}`, Corrupt, "rm "},
		"pid negative":              {`{"pid":-1}`, Corrupt, "rm "},
		"pid zero":                  {`{"pid":0}`, Corrupt, "rm "},
		"pid a fraction":            {`{"pid":1.5}`, Corrupt, "rm "},
		"pid too large":             {`{"pid":99999999999999999999}`, Corrupt, "rm "},
		"start as number":           {`{"pid":1,"pid_start":5}`, Corrupt, "rm "},
		"keys twice":                {`{"pid":1,"pid":2}`, Corrupt, "rm "},
		"not UTF-8":                 {"{\"pid\":1,\"host\":\"\xff\"}", Corrupt, "rm "},
		"huge":                      {`{"pid":1,"host":"` + strings.Repeat("x", 70000) + `"}`, Corrupt, "rm "},
		"deep":                      {strings.Repeat("[", 60000), Corrupt, "rm "},
		"hostile text in the owner": {strings.Replace(info(os.Getpid(), me.PIDStart, me.BootID, me.Host), "relay run", `\u001b[2J`, 1), Held, `\x1b`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock.json")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			wantState(t, path, c.want)
			l, _, err := Acquire(path, "relay run")
			if c.want == Held || c.want == Corrupt {
				wantHeld(t, err, c.say)
				if b, _ := os.ReadFile(path); string(b) != c.text {
					t.Error("the file was changed")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantState(t, path, Held)
			if err := l.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Where another machine can have the file open, the kernel's lock says nothing about it.
func TestAnotherMachineOnASharedFileSystem(t *testing.T) {
	i := Info{PID: os.Getpid(), BootID: "11111111-2222-3333-4444-555555555555", Host: "other"}
	if who := i.holds(false); !strings.Contains(who, "another machine") {
		t.Errorf("%q", who)
	}
	if who := i.holds(true); who != "" {
		t.Errorf("on a local file system: %q", who)
	}
}

func TestPlantedObjects(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("v"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, plant := range map[string]func(p string) error{
		"link":     func(p string) error { return os.Symlink(victim, p) },
		"dangling": func(p string) error { return os.Symlink(filepath.Join(dir, "new"), p) },
		"folder":   func(p string) error { return os.Mkdir(p, 0o755) },
		"fifo":     func(p string) error { return unix.Mkfifo(p, 0o644) },
	} {
		p := filepath.Join(dir, name)
		if err := plant(p); err != nil {
			t.Fatal(err)
		}
		_, _, err := Acquire(p, "x")
		wantHeld(t, err)
		wantState(t, p, Corrupt)
	}
	if b, _ := os.ReadFile(victim); string(b) != "v" {
		t.Error("the link's target was written")
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
		t.Error("a dangling link was followed")
	}
	_, _, err := Acquire(filepath.Join(dir, "absent", "lock.json"), "x")
	wantHeld(t, err)
}

// What another process put in the place of our lock file is not ours to remove.
func TestReleaseRemovesOnlyItsOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.json")
	l, _, err := Acquire(path, "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("somebody else's"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "somebody else's" {
		t.Error("another's lock was removed")
	}
}

// The command of a fault, pasted into a shell, does what the error promises.
func TestFixWorks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's a $(folder)")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "lock.json")
	if err := os.WriteFile(path, []byte("[]"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err := Acquire(path, "relay run")
	wantHeld(t, err)
	f, _ := diag.As(err)
	if out, err := exec.Command("sh", "-c", strings.Split(f.Fix, "`")[1]).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", f.Fix, err, out)
	}
	l, _, err := Acquire(path, "relay run")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}
