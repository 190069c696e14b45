package attest

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/schemas"
)

var update = flag.Bool("update", false, "write the corpus anew")

var t0 = time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)

// landedRepo is a repository in which two commits landed on a base.
func landedRepo(t *testing.T, format string) (*git.Repo, Facts) {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q", "--object-format="+format, "-b", "main")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		run("add", "-A")
	}
	write("a.txt", "one\n")
	run("commit", "-qm", "base")
	base := run("rev-parse", "HEAD")
	write("ü \"x\"\n.txt", "two\n")
	run("commit", "-qm", "first\n\nRelay-Run: run-1")
	write("a.txt", "two\n")
	run("commit", "-qm", "second\n\nRelay-Run: run-1")
	git, err := git.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	cost := 0.25
	return git, Facts{Workflow: "task", Run: "run-1", TaskID: "T-1", Task: []byte(`{"intent":"SECRET-INTENT"}`), Base: base, Commit: run("rev-parse", "HEAD"),
		Ceiling: &judge.Ceiling{MaxFiles: 3}, Request: &judge.Request{By: judge.Operator, Allowed: []string{"**"}}, Code: judge.Success,
		Verification: report.Verification{Runs: []report.VerifyRun{{TemplateID: "test", Cmd: "make", Args: []string{"SECRET-ARG"}, Tests: &report.TestFacts{Passed: 2, Missing: []string{"SECRET-TEST"}}}}},
		Hidden:       []string{"ranges"}, Plugins: []Plugin{{Role: "builder", Name: "claude-code", Model: "m\x1b[31m", Calls: 2, CostUSD: &cost}},
		Approvals: []Approval{{Kind: "plan", At: t0.Format(Time)}}}
}

func options(t *testing.T, git *git.Repo) Options {
	return Options{Git: git, StateDir: t.TempDir(), Sign: "relay", Version: "0.9", Now: t0}
}

func answers(t *testing.T, git *git.Repo, signers string) []Found {
	t.Helper()
	text, err := os.ReadFile(signers)
	if err != nil {
		t.Fatal(err)
	}
	all, err := ParseSigners(string(text))
	if err != nil {
		t.Fatal(err)
	}
	commits, err := Commits(context.Background(), git, "HEAD~2..HEAD")
	if err != nil {
		t.Fatal(err)
	}
	found, err := (&Verifier{Git: git, Signers: all}).Verify(context.Background(), commits)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAttachAndVerify(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		git, facts := landedRepo(t, format)
		o := options(t, git)
		if problem := Attach(context.Background(), o, facts); problem != "" {
			t.Fatal(problem)
		}
		found := answers(t, git, OwnSigners(o.StateDir))
		for _, f := range found {
			if f.Status != Verified || f.By != "relay" || f.Run != "run-1" {
				t.Errorf("%s: %+v", format, f)
			}
			// Checks ran on the last commit alone.
			if with := fmt.Sprintf("landed with %.12s, on which the checks ran: ", facts.Commit); strings.HasPrefix(f.Evidence, with) == (f.Commit == facts.Commit) {
				t.Errorf("%s: %+v", format, f)
			}
		}
		if err := schemas.Validate("attestation", found[0].Payload); err != nil {
			t.Error(err)
		}
		for _, secret := range []string{"SECRET", "\x1b"} {
			if bytes.Contains(found[0].Payload, []byte(secret)) || strings.Contains(found[0].Note, secret) {
				t.Errorf("%q is told", secret)
			}
		}
		for name, mode := range map[string]os.FileMode{"key": 0o600, "signers": 0o644} {
			if fi, err := os.Stat(filepath.Join(Dir(o.StateDir), name)); err != nil || fi.Mode().Perm()&^mode != 0 {
				t.Errorf("%s: %v %v", name, fi, err)
			}
		}
	}
}

// ssh-keygen finds the signer and believes the signature.
func TestKeygenAgrees(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("no ssh-keygen")
	}
	git, facts := landedRepo(t, "sha1")
	o := options(t, git)
	if problem := Attach(context.Background(), o, facts); problem != "" {
		t.Fatal(problem)
	}
	n, err := parse(answers(t, git, OwnSigners(o.StateDir))[0].Note)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sig")
	if err := os.WriteFile(file, armor(n.sig), 0o600); err != nil {
		t.Fatal(err)
	}
	for message, want := range map[string]bool{string(pae(payloadType, n.payload)): true, string(pae(payloadType, n.payload)) + " ": false} {
		cmd := exec.Command(keygen, "-Y", "verify", "-f", OwnSigners(o.StateDir), "-I", "relay", "-n", namespace, "-s", file)
		cmd.Stdin = strings.NewReader(message)
		if out, err := cmd.CombinedOutput(); (err == nil) != want {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// armor is a signature as ssh-keygen reads it.
func armor(sig []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "SSH SIGNATURE", Bytes: sig})
}

func TestSigners(t *testing.T) {
	key := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJBJ8CSJgWLVeijLhxIc6aNcUbHu7N6IGXYPwGOKVRyA"
	for text, want := range map[string]string{
		"a@example.org " + key + " comment":                             "1",
		"# nobody\n\n\ta " + key:                                        "1",
		`"a b" namespaces="git,relay-*",valid-after="20260101Z" ` + key: "1",
		"a cert-authority " + key:                                       "no ed25519 key",
		"a ssh-rsa AAAA":                                                "no ed25519 key",
		"a\nb " + key:                                                   "1",
		"a namespaces=relay " + key:                                     "not known",
		`a namespaces="a",namespaces="b" ` + key:                        "appears twice",
		"a":                                                             "no name",
		"a ssh-ed25519":                                                 "no name",
		"a ssh-ed25519 AAAA":                                            "can't be read",
		`a valid-before="soon" ` + key:                                  "not a time",
		`a valid-before="20270101000000.5Z" ` + key:                     "not a time",
		"a forever " + key:                                              "not known",
		"a " + strings.Replace(key, "AAAAC3NzaC1lZDI1NTE5", "AAAAC3NzaC1lZDI1NTE4", 1): "can't be read",
	} {
		all, err := ParseSigners(text)
		if n := string(rune('0' + len(all))); err == nil && n != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d, %v, want %s", text, len(all), err, want)
		}
	}
}

// Relays of several people, who share no lock, lose none of each other's notes.
func TestNotesAtOnce(t *testing.T) {
	git, facts := landedRepo(t, "sha1")
	var done sync.WaitGroup
	commits := make([]string, 8)
	for i := range commits {
		out, err := git.Write(t.Context(), []string{"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a"}, strings.NewReader(strconv.Itoa(i)), "commit-tree", "-p", facts.Base, facts.Commit+"^{tree}")
		if err != nil {
			t.Fatal(err)
		}
		f, o := facts, options(t, git)
		f.Commit, f.Approvals = strings.TrimSpace(string(out)), nil
		commits[i] = f.Commit
		done.Go(func() {
			if problem := Attach(t.Context(), o, f); problem != "" {
				t.Error(problem)
			}
		})
	}
	done.Wait()
	for _, c := range commits {
		if !Covered(t.Context(), git, c) {
			t.Errorf("the note of %s is gone", c)
		}
	}
}

// A key that can't sign leaves an attestation that says so, and no commit is lost.
func TestUnsigned(t *testing.T) {
	git, facts := landedRepo(t, "sha1")
	o := options(t, git)
	if problem := Attach(context.Background(), o, facts); problem != "" {
		t.Fatal(problem)
	}
	o.Sign = BySSH
	if problem := Attach(context.Background(), o, facts); !strings.Contains(problem, "not signed") {
		t.Error(problem)
	}
	for _, f := range answers(t, git, OwnSigners(o.StateDir)) {
		if f.Status != Nothing || f.Why != "the attestation is not signed" || f.By != "" {
			t.Errorf("%+v", f)
		}
		if note, err := git.Run(t.Context(), nil, "notes", "--ref="+Ref, "show", f.Commit); err != nil || !bytes.Contains(note, []byte("\nnot signed, ")) || bytes.Contains(note, []byte("check it")) {
			t.Errorf("the note does not say so: %s %v", note, err)
		}
	}
	o.Sign, facts.Base = "relay", facts.Commit
	if problem := Attach(context.Background(), o, facts); !strings.Contains(problem, "no attestation") {
		t.Error(problem)
	}
}

// git log indents notes by four columns of 80. The signed line is what it is.
func TestNotesAreNarrow(t *testing.T) {
	git, facts := landedRepo(t, "sha1")
	facts.Plugins = []Plugin{{Role: "builder", Name: strings.Repeat("n", 150), Model: "ü" + strings.Repeat(" m", 90)}}
	o := options(t, git)
	if problem := Attach(context.Background(), o, facts); problem != "" {
		t.Fatal(problem)
	}
	out, err := git.Run(context.Background(), nil, "log", "-1", "--show-notes=relay")
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(out)) {
		if n := len([]rune(strings.TrimSuffix(l, "\n"))); n > 80 && !strings.HasPrefix(l, `    {"payloadType"`) || strings.TrimSpace(l) != "" && strings.HasSuffix(l, " \n") {
			t.Errorf("%d columns: %q", n, l)
		}
	}
	for _, f := range answers(t, git, OwnSigners(o.StateDir)) {
		if f.Status != Verified {
			t.Errorf("%+v", f)
		}
	}
}

func TestUnknownIsSaid(t *testing.T) {
	c := Change{Plugins: []Plugin{{Name: "x", Role: "plan", Calls: 1}, {Name: "x", Role: "review", Calls: 1}}, Approvals: []Approval{{Kind: "plan"}}}
	c.unknown()
	text, _ := json.Marshal(c.Unknown)
	for _, want := range []string{"the model of x", "calls of x cost", "nothing pins it", "who approved the plan", "ceiling"} {
		if strings.Count(string(text), want) != 1 {
			t.Errorf("%q is not once in %s", want, text)
		}
	}
}
