package box_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/paxiom/relay/judge/box"

	"golang.org/x/sys/unix"
)

// What is hidden can't be read by any path: not where it lies, not through a link or a
// file system of the box's own, and neither in a check's box. What is beside it can.
func TestHidden(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		for _, name := range []string{"home/.aws/credentials", "home/.netrc", "home/.config/gh/hosts.yml", "outside/key", "home/.claude/login", "home/.ssh/id"} {
			w.write(name, "CANARY\n")
		}
		w.write("home/.npmrc", "registry=https://r\n_authToken=CANARY\n")
		w.write("home/.config/git/config", "beside\n")
		check(t, os.Symlink(".ssh", w.dir+"/home/link"))
		for _, name := range []string{"home/.aws", "home/.netrc", "home/.config/gh", "outside/key", "home/.claude", "home/link", "home/absent"} {
			w.spec.Hide = append(w.spec.Hide, Hidden{Path: filepath.Join(w.dir, name)})
		}
		w.spec.Hide = append(w.spec.Hide, Hidden{Path: w.dir + "/home/.npmrc", Instead: []byte("registry=https://r\n")})
		w.spec.Binds = []Bind{{Path: w.dir + "/home/.claude", Shown: true}, {Path: w.dir + "/absent", Shown: true}}
		script := `cd ` + w.dir + `; for h in "$HOME" home; do
			grep -rs CANARY "$h" && echo "read in $h"; cat "$h/.npmrc" "$h/.config/git/config" 2>&1; ls "$h/.aws"; cat "$h/.netrc"; done
			cat outside/key; grep -s CANARY /proc/1/root` + w.dir + `/home/.netrc /proc/self/root` + w.dir + `/home/.aws/credentials
			for f in home/.netrc outside/key; do ln $f "$TMPDIR/hard" && cat "$TMPDIR/hard"; done
			mkdir -p "$TMPDIR/low" && unshare -Ur sh -c 'mount --bind home "$TMPDIR/low" && cat "$TMPDIR/low/.netrc"; umount -l home/.netrc && cat home/.netrc; mount -t overlay o -o lowerdir=home "$TMPDIR/low" && cat "$TMPDIR/low/.netrc"; unshare -m umount home/.aws && cat home/.aws/*'
			true`
		b := w.box()
		out, state := start(t, b, Proc{Argv: []string{"sh", "-c", script + " 2>/dev/null"}, Env: testEnv(b)})
		if !state.OK() || !strings.Contains(out, "beside") || !strings.Contains(out, "registry") {
			t.Errorf("%+v\n%s", state, out)
		}
		leaked := strings.ReplaceAll(out, "/.claude/login:CANARY", "")
		if means == Copy { // which hides them in the box's home only
			leaked, _, _ = strings.Cut(leaked, "read in home")
			leaked = leaked[:max(0, strings.LastIndex(leaked, "read in "))]
		}
		if strings.Contains(leaked, "CANARY") || !strings.Contains(out, "/.claude/login:CANARY") {
			t.Errorf("%s", out)
		}
		fresh, err := b.Fresh(w.dir+"/state/layers/fresh", nil)
		check(t, err)
		defer fresh.Discard()
		out, _ = start(t, fresh, Proc{Argv: []string{"sh", "-c", `grep -rs CANARY "$HOME"; cat "$HOME/.config/git/config"`}, Env: testEnv(fresh)})
		if out != "beside\n" {
			t.Errorf("a check reads %q", out)
		}
	})
}

// A repository, and what a box is granted, in a folder that is hidden are there.
func TestHiddenAround(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("home/.pass/repo/x", "work\n")
	w.write("home/.pass/key", "CANARY\n")
	w.write("home/.pass/agent/login", "login\n")
	w.spec.Root, w.spec.Persist = w.dir+"/home/.pass/repo", []string{w.dir + "/home/.pass/agent"}
	w.spec.Hide = []Hidden{{Path: w.dir + "/home/.pass"}, {Path: w.dir + "/home"}, {Path: w.dir}, {Path: w.dir + "/home/.pass/key"}}
	b := w.box()
	out, state := start(t, b, Proc{Argv: []string{"sh", "-c", "cat x ../agent/login; cat ../key; echo new > y; echo z > ../agent/z; ls -A .."}, Env: testEnv(b)})
	if !state.OK() || !strings.HasPrefix(out, "work\nlogin\n") || strings.Contains(out, "CANARY") || w.read("home/.pass/agent/z") != "z\n" {
		t.Errorf("%+v %q", state, out)
	}
}

// A file that is hidden can't be written, and a program that tries hears so.
func TestHiddenIsReadOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("home/.netrc", "x")
	w.spec.Hide = []Hidden{{Path: w.dir + "/home/.netrc"}}
	b := w.box()
	for _, verb := range []string{"write", "chmod"} {
		if got := actor(t, b, verb, w.dir+"/home/.netrc"); got != unix.ErrnoName(unix.EROFS) {
			t.Errorf("%s: %s", verb, got)
		}
	}
	if got := actor(t, b, "unlink", w.dir+"/home/.netrc"); got == "ok" {
		t.Error("it was taken away")
	}
}

// A file of which nothing is shown may lie in a folder that is hidden already: a vendor's
// login, of which a broker takes the place.
func TestHiddenTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("home/.codex/auth.json", "CANARY\n")
	w.write("home/.gemini/.env", "A=b\nKEY=CANARY\n")
	w.spec.Hide = []Hidden{{Path: w.dir + "/home/.codex"}, {Path: w.dir + "/home/.gemini/.env", Instead: []byte("A=b\n")}}
	for _, path := range []string{"/home/.codex/auth.json", "/home/.gemini/.env"} {
		w.spec.Binds = append(w.spec.Binds, Bind{Path: w.dir + path, Hidden: true})
	}
	b := w.box()
	out, state := start(t, b, Proc{Argv: []string{"sh", "-c", `cat "$HOME/.codex/auth.json" "$HOME/.gemini/.env" 2>/dev/null; ls -A "$HOME/.codex"; true`}, Env: testEnv(b)})
	if !state.OK() || out != "" {
		t.Errorf("%+v %q", state, out)
	}
}
