// Package e2e helps tests that drive real coding-agent programs against the
// scripted model server on loopback.
//
// A test gets a program (or is skipped with the reason), a server with its script,
// and an environment in which the program finds nothing of the user's and reaches
// no other host. Callers: tests of plugins, and tests through relay itself.
package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/paxiom/relay/testdata/fakemodel"
)

// Claude is the path of Claude Code, from RELAY_E2E_CLAUDE. Without it the test is
// skipped; CI always sets it.
func Claude(t testing.TB) string {
	t.Helper()
	return program(t, "RELAY_E2E_CLAUDE", "Claude Code")
}

// Codex is the path of Codex, from RELAY_E2E_CODEX. Without it the test is skipped;
// CI always sets it.
func Codex(t testing.TB) string {
	t.Helper()
	return program(t, "RELAY_E2E_CODEX", "Codex")
}

// Gemini is the path of Gemini CLI, from RELAY_E2E_GEMINI. Without it the test is
// skipped; CI always sets it.
func Gemini(t testing.TB) string {
	t.Helper()
	return program(t, "RELAY_E2E_GEMINI", "Gemini CLI")
}

func program(t testing.TB, variable, name string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skipf("%s is not set: this test needs %s; `make test-e2e` installs it and runs this test", variable, name)
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() || !filepath.IsAbs(path) {
		t.Fatalf("%s is %q, which is not the absolute path of a program (%v)", variable, path, err)
	}
	return path
}

// Model serves a script on loopback for the time of the test. Each {{NAME}} in it
// is replaced by its value in vars. At the end the test fails if the program
// wanted to reach any other host.
func Model(t testing.TB, script string, vars map[string]string) *fakemodel.Server {
	t.Helper()
	sc, err := fakemodel.Parse([]byte(script), vars)
	if err != nil {
		t.Fatal(err)
	}
	s := fakemodel.New(sc)
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if hosts := s.Outside(); len(hosts) > 0 {
			t.Errorf("the program wanted to reach other hosts: %q", hosts)
		}
	})
	return s
}

// Requests waits until n requests are over, since a client may have its answer
// before the server has written the request down, and gives all of them.
func Requests(t testing.TB, s *fakemodel.Server, n int) []fakemodel.Request {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		got := s.Requests()
		if len(got) >= n {
			return got
		}
		if time.Now().After(end) {
			t.Fatalf("%d requests are over; %d were to come", len(got), n)
		}
	}
}

// Env is an environment for a program that is to reach s and nothing else: an
// empty HOME, and s as the proxy for every other host.
func Env(t testing.TB, s *fakemodel.Server) map[string]string {
	t.Helper()
	home, tmp := t.TempDir(), t.TempDir()
	return map[string]string{
		"HOME": home, "TMPDIR": tmp, "XDG_CONFIG_HOME": filepath.Join(home, ".config"), "LANG": "C.UTF-8",
		"HTTPS_PROXY": s.URL(), "HTTP_PROXY": s.URL(), "NO_PROXY": "127.0.0.1",
		"https_proxy": s.URL(), "http_proxy": s.URL(), "no_proxy": "127.0.0.1",
		"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "", "CLAUDE_CODE_OAUTH_TOKEN": "", "CLAUDE_CONFIG_DIR": "",
		"ANTHROPIC_BASE_URL": "", "OPENAI_API_KEY": "", "CODEX_API_KEY": "", "OPENAI_BASE_URL": "", "CODEX_HOME": "",
		"GEMINI_API_KEY": "", "GOOGLE_API_KEY": "", "GOOGLE_APPLICATION_CREDENTIALS": "", "GOOGLE_GEMINI_BASE_URL": "", "GEMINI_CLI_HOME": "",
	}
}
