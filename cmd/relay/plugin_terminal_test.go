package main

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/paxiom/relay/host"
)

// pluginWorld is a repository, a home, and a mirror behind TLS.
type pluginWorld struct {
	t         *testing.T
	dir, repo string
	env       []string
	url       string
}

func newPluginWorld(t *testing.T) *pluginWorld {
	t.Helper()
	w := &pluginWorld{t: t, dir: t.TempDir()}
	w.repo = filepath.Join(w.dir, "repo")
	mirror := filepath.Join(w.dir, "mirror")
	for _, dir := range []string{w.repo, mirror, filepath.Join(w.dir, "home")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewTLSServer(http.FileServer(http.Dir(mirror)))
	t.Cleanup(server.Close)
	w.url = server.URL
	certificate := filepath.Join(w.dir, "ca.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	w.env = []string{"HOME=" + filepath.Join(w.dir, "home"), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "TERM=dumb", "SSL_CERT_FILE=" + certificate}
	w.run(0, "git", "init", "-q")
	w.run(0, "relay", "plugin", "pack", "--make-key", "../sign.key")
	return w
}

// publish puts a version of the plugin foo into the mirror.
func (w *pluginWorld) publish(identity string) {
	w.t.Helper()
	if err := writeStranger(filepath.Join(w.dir, "built", "relay-plugin-foo"), []byte(identity)); err != nil {
		w.t.Fatal(err)
	}
	w.run(0, "relay", "plugin", "pack", "../built/relay-plugin-foo", "--out", "../mirror", "--sign", "../sign.key")
}

func (w *pluginWorld) command(name string, args ...string) *exec.Cmd {
	if name == "relay" {
		name = filepath.Join(binDir, "relay")
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = w.repo, w.env
	return cmd
}

// run runs a program that ends with a code.
func (w *pluginWorld) run(code int, name string, args ...string) string {
	w.t.Helper()
	cmd := w.command(name, args...)
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		w.t.Fatalf("%s %v ended with %d, not with %d: %v\n%s", name, args, got, code, err, out)
	}
	return string(out)
}

// answer runs relay on a real terminal at which somebody types an answer.
func (w *pluginWorld) answer(code int, answer string, args ...string) string {
	w.t.Helper()
	cmd := w.command("relay", args...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		w.t.Fatal(err)
	}
	defer tty.Close()
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if _, err := io.WriteString(tty, answer); err != nil {
		w.t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := io.Copy(&out, tty); err != nil && !errors.Is(err, syscall.EIO) {
		w.t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != code {
		w.t.Fatalf("relay %v ended with %d, not with %d\n%s", args, got, code, out.String())
	}
	return out.String()
}

func (w *pluginWorld) lock() string {
	b, err := os.ReadFile(filepath.Join(w.repo, "relay.lock.json"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *pluginWorld) shows(out string, want ...string) {
	w.t.Helper()
	for _, text := range want {
		if !strings.Contains(out, text) {
			w.t.Errorf("%q is not shown:\n%s", text, out)
		}
	}
}

// A plugin from a mirror behind TLS is shown to the person at the terminal with its key
// and all that it asks for, and only a yes grants it that.
func TestAgreementOnATerminal(t *testing.T) {
	t.Parallel()
	w := newPluginWorld(t)
	w.publish(`{"name": "foo", "version": "1.0.0", "env": ["FOO_KEY!"], "programs": ["true"], "hosts": ["api.foo.example"]}`)
	const question = "Grant it that in this repository? [y/N]"
	out := w.answer(host.ExitWaiting, "\n", "plugin", "install", w.url+"/foo")
	w.shows(out, "foo 1.0.0", w.url+"/foo", "by a key that came with it and was not known before", "It asks for:", "reads the variable FOO_KEY (a secret)",
		"it says: for a test", "it starts true", "it connects to api.foo.example", question, "pinned:", "relay plugin grant foo")
	if lock := w.lock(); strings.Contains(lock, `"granted"`) || !strings.Contains(lock, `"minisign:`) {
		t.Errorf("nobody granted it anything:\n%s", lock)
	}
	w.shows(w.run(host.ExitDone, "relay", "plugin", "list"), "not granted")

	// No, and silence, grant nothing; a yes grants all of it.
	for _, no := range []string{"n\n", "yess\n", "\x04"} {
		w.shows(w.answer(host.ExitBlocked, no, "plugin", "grant", "foo"), question)
		if strings.Contains(w.lock(), `"granted"`) {
			t.Fatalf("%q was taken for a yes", no)
		}
	}
	w.shows(w.answer(host.ExitDone, "y\n", "plugin", "grant", "foo"), question, "granted:")
	w.shows(w.run(host.ExitDone, "relay", "plugin", "info", "foo"), "env:FOO_KEY", "host:api.foo.example")
	granted := w.lock()
	if !strings.Contains(granted, `"granted"`) {
		t.Fatalf("it was granted nothing:\n%s", granted)
	}

	// An upgrade that asks for more says what is new, and waits for a yes as well.
	w.publish(`{"name": "foo", "version": "1.1.0", "env": ["FOO_KEY!"], "programs": ["true"], "hosts": ["api.foo.example", "more.example"]}`)
	w.shows(w.answer(host.ExitBlocked, "n\n", "plugin", "upgrade", "foo"), "version: 1.0.0 → 1.1.0", "+ asks for host:more.example", question, "the version before stays")
	if w.lock() != granted {
		t.Error("the lock file was changed")
	}
	w.shows(w.answer(host.ExitDone, "yes\n", "plugin", "upgrade", "foo"), "foo 1.1.0")
	if lock := w.lock(); !strings.Contains(lock, "more.example") || !strings.Contains(lock, `"1.1.0"`) {
		t.Errorf("not upgraded:\n%s", lock)
	}

	// Where nobody can be asked, nothing is.
	w.shows(w.run(host.ExitBlocked, "relay", "plugin", "grant", "foo"), "nobody has agreed")
}
