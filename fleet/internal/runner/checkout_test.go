package runner

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What a worker has of a repository for one branch is not brought over the network again for another one.
func TestSecondBranch(t *testing.T) {
	w, s := newWorker(t, `echo '{"report": {"code": "STOP_SCOPE"}}'; exit 2`)
	home := t.TempDir()
	t.Setenv("HOME", home)
	for file, text := range map[string]string{".gitconfig": "[user]\nname = t\nemail = t@t\n[uploadpack]\npackObjectsHook = " + home + "/hook\n",
		"hook": "#!/bin/sh\n\"$@\" >" + home + "/pack; [ $PWD != " + s.Remote + "/.git ] || wc -c <" + home + "/pack >>" + home + "/sizes; cat " + home + "/pack\n"} {
		if err := os.WriteFile(filepath.Join(home, file), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("sh", "-ec", `cd "$0"; head -c 100000 /dev/urandom >big; git add big; git commit -qm big; git branch b1; git commit -q --allow-empty -m more`, s.Remote).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	for _, ref := range []string{"b1", "main"} {
		s.Ref = ref
		if _, err := w.once(t.Context(), w.step(t, s), false); err != nil {
			t.Fatal(err)
		}
	}
	var first, second int
	sizes, _ := os.ReadFile(filepath.Join(home, "sizes"))
	if n, err := fmt.Sscan(string(sizes), &first, &second); n != 2 || first < 100000 || second > 1000 {
		t.Errorf("%q %v", sizes, err)
	}
}

// A repository that could not be fetched is not one that the worker has.
func TestNothingFetched(t *testing.T) {
	w, s := newWorker(t, "exit 9")
	s.Ref = "none"
	if _, err := w.once(t.Context(), w.step(t, s), false); err == nil || !strings.Contains(err.Error(), "couldn't find remote ref") {
		t.Error(err)
	}
	if w.has(t.Context(), s) || len(w.Remotes(t.Context())) > 0 {
		t.Error("it has it")
	}
}

// A checkout that was cut off while it was made is made again, and a git that was killed in it is in nobody's way.
func TestHalfACheckout(t *testing.T) {
	w, s := newWorker(t, `[ "$1" != recover ] || exit 0; echo '{"report": {"code": "STOP_SCOPE"}}'; exit 2`)
	if err := os.MkdirAll(filepath.Join(w.dir(s), ".git", "objects"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := w.once(t.Context(), w.step(t, s), false); err != nil {
			t.Fatal(err)
		}
	}
	for _, lock := range []string{"index.lock", "HEAD.lock", "refs/remotes/origin/main.lock"} {
		if err := os.WriteFile(filepath.Join(w.dir(s), ".git", lock), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again := &Worker{Relay: w.Relay, Dir: w.Dir, Blobs: w.Blobs, Slots: w.Slots, Here: w.Here, Label: w.Label}
	if _, err := again.once(t.Context(), w.step(t, s), false); err != nil {
		t.Fatal(err)
	}
}
