package notify

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/judge/program"
)

// script writes an executable and gives an environment that finds it.
func script(t *testing.T, name, body string) (dir string, environ []string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, []string{"PATH=" + dir + ":/usr/bin:/bin", "OUT=" + filepath.Join(dir, "out")}
}

func read(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

func TestDesktop(t *testing.T) {
	dir, env := script(t, "notify-send", `for a in "$@"; do printf '[%s]' "$a"; done > "$OUT"`)
	m := Message{Title: "A-202 waits", Text: "<b>plan</b> & \x1b[2J --urgency=critical"}
	if err := Send(t.Context(), config.Notify{Desktop: true}, "", env, m); err != nil {
		t.Fatal(err)
	}
	got := read(t, dir)
	if !strings.HasPrefix(got, "[--app-name=relay][--][A-202 waits][&lt;b&gt;plan") || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
	os.Remove(filepath.Join(dir, "out"))
	if err := Send(t.Context(), config.Notify{}, "", env, m); err != nil || read(t, dir) != "" {
		t.Errorf("off is not off: %v %q", err, read(t, dir))
	}
	if err := Send(t.Context(), config.Notify{Desktop: true}, "", []string{"PATH=/nowhere"}, m); err != nil {
		t.Errorf("a machine without a desktop: %v", err)
	}
}

func TestCommand(t *testing.T) {
	dir, env := script(t, "hook", `cat > "$OUT"; printf '%s' "$1" >> "$OUT"`)
	c := config.Notify{Command: []string{"hook", "an argument; touch x"}}
	if err := Send(t.Context(), c, "", env, Message{Data: map[string]string{"state": "AWAITING_REVIEW"}}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir); got != "{\"state\":\"AWAITING_REVIEW\"}\nan argument; touch x" {
		t.Errorf("%q", got)
	}
	for name, body := range map[string]string{"fails": "exit 3", "absent": ""} {
		_, env := script(t, "hook", body)
		argv := []string{"hook"}
		if name == "absent" {
			argv = []string{"no-such-program"}
		}
		if err := Send(t.Context(), config.Notify{Command: argv}, "", env, Message{}); err == nil || !strings.Contains(err.Error(), "notify.command "+argv[0]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A program that hangs, with a child, is ended.
func TestHanging(t *testing.T) {
	_, env := script(t, "hook", "sleep 60 & sleep 60")
	begin := time.Now()
	hook, err := program.Find("hook", pathOf(env))
	if err != nil {
		t.Fatal(err)
	}
	err = run(context.Background(), 200*time.Millisecond, hook, nil, env, nil)
	if err == nil || time.Since(begin) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}
