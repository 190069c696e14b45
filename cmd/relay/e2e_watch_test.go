package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// foreignKey is a key in relay's environment that belongs to another plugin.
const foreignKey = "sk-foreign-canary-7a1d"

func newCanary() string { return "sk-canary-" + rand.Text() }

// watcher looks at all processes again and again, for keys where none may be.
type watcher struct {
	mu    sync.Mutex
	argv  map[string]bool // command lines with a canary
	alien map[string]bool // programs that have a key of somebody else
}

func watch(t *testing.T) *watcher {
	w := &watcher{argv: map[string]bool{}, alien: map[string]bool{}}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			w.look()
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { close(done); <-stopped })
	return w
}

// look takes one turn. Relay itself has the environment that it was called with, and its
// tests' git gets it too; whatever else has a foreign key has it from relay.
func (w *watcher) look() {
	for _, p := range processes() {
		if strings.Contains(p.argv, "sk-canary-") || strings.Contains(p.argv, foreignKey) {
			w.note(w.argv, p.argv)
		}
		name := filepath.Base(p.arg0())
		if name == "relay" || name == "git" || name == "" || !strings.Contains(p.environ(), foreignKey) {
			continue
		}
		if now, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid)); err == nil && string(now) == p.argv { // else it became another program in between
			w.note(w.alien, p.argv)
		}
	}
}

func (w *watcher) note(where map[string]bool, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	where[strings.ReplaceAll(what, "\x00", " ")] = true
}

// hold says what was seen so far, and that nothing of the case is running any more.
func (w *watcher) hold(t *testing.T, b *bench) {
	t.Helper()
	end := time.Now().Add(5 * time.Second)
	for left := b.workers(); len(left) > 0; left = b.workers() {
		if time.Now().After(end) {
			t.Errorf("still running: %+v", left)
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for argv := range w.argv {
		t.Errorf("a key was on a command line: %.300s", argv)
	}
	for argv := range w.alien {
		t.Errorf("it had a key of somebody else: %.300s", argv)
	}
}

type process struct {
	pid  int
	argv string // with NUL between and after the arguments
}

func (p process) arg0() string {
	name, _, _ := strings.Cut(p.argv, "\x00")
	return name
}

func (p process) environ() string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid)) // gone: nothing to see
	return string(b)
}

func processes() []process {
	entries, _ := os.ReadDir("/proc")
	var all []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if b, err := os.ReadFile("/proc/" + e.Name() + "/cmdline"); err == nil && len(b) > 0 {
			all = append(all, process{pid, string(b)})
		}
	}
	return all
}

// workers are the processes of this case that are not relay: by the home that they have.
func (b *bench) workers() []process {
	var found []process
	for _, p := range processes() {
		if name := filepath.Base(p.arg0()); name != "relay" && name != "git" && strings.Contains("\x00"+p.environ(), "\x00HOME="+b.home+"\x00") {
			found = append(found, p)
		}
	}
	return found
}

// killWorkers kills the vendor's program, or the plugin where there is none.
func (b *bench) killWorkers(t *testing.T) {
	t.Helper()
	killed := 0
	for _, p := range b.workers() {
		if plugin := strings.HasPrefix(filepath.Base(p.arg0()), "relay-plugin-"); plugin == (b.way.program == nil) {
			if syscall.Kill(p.pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
	}
	if killed == 0 {
		t.Errorf("there was nothing to kill among %+v", b.workers())
	}
}
