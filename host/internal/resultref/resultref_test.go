package resultref

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

func TestKeys(t *testing.T) {
	for _, ok := range []string{"a", "night-1", "2026.11.20_x", strings.Repeat("k", 100)} {
		if err := ValidKey(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"", ".", "-x", ".x", "a..b", "a.", "a.lock", "A.LOCK", "a/b", "../x", "a b", "a\n", "ü", "a~1", "a^", "a:b", "@{u}", strings.Repeat("k", 101)} {
		if ValidKey(bad) == nil {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}

// machine is one that signs, with the signers that it has.
type machine struct {
	attest.Options
	signers attest.Signers
}

func newMachine(t *testing.T, git *git.Repo) *machine {
	t.Helper()
	return &machine{Options: attest.Options{Git: git, StateDir: t.TempDir(), Home: t.TempDir(), Environ: []string{}, Now: time.Now()}}
}

func (m *machine) write(t *testing.T, s Statement, files map[string][]byte, secrets Secrets) string {
	t.Helper()
	object, err := Write(t.Context(), m.Options, s, files, secrets)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(attest.OwnSigners(m.StateDir))
	if err != nil {
		t.Fatal(err)
	}
	if m.signers, err = attest.ParseSigners(string(b)); err != nil {
		t.Fatal(err)
	}
	return object
}

func repository(t *testing.T) (*git.Repo, string) {
	t.Helper()
	dir := t.TempDir()
	gitIn(t, dir, "init", "-q")
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "base "+dir)
	git, err := git.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return git, gitIn(t, dir, "rev-parse", "HEAD")
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func result(t *testing.T, base string) (Statement, map[string][]byte) {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	rep := &report.Report{SchemaVersion: 1, RunID: history.NewRunID(now), StartedAt: now, EndedAt: now, Code: judge.StopForbidden, BaseCommit: base, Summary: "stopped",
		Scope: report.Scope{OK: true, Violations: []string{}, TouchedPaths: []string{}}, Budgets: report.Budgets{Warnings: []string{}},
		Verification: report.Verification{ExecMode: "argv_no_shell", Runs: []report.VerifyRun{}}}
	raw, err := report.Encode(rep)
	if err != nil {
		t.Fatal(err)
	}
	return Statement{Key: "k", Run: rep.RunID, Request: Request("", nil), Code: rep.Code, EndedAt: now, Base: base},
		map[string][]byte{ReportName: raw, "verify.log": []byte("a log\n")}
}

func TestResultComesBack(t *testing.T) {
	git, base := repository(t)
	m := newMachine(t, git)
	if r, err := Read(t.Context(), git, nil, "k"); r != nil || err != nil {
		t.Fatal("there is a result before there is one", r, err)
	}
	s, files := result(t, base)
	object := m.write(t, s, files, nil)
	r, err := Read(t.Context(), git, m.signers, "k")
	if err != nil {
		t.Fatal(err)
	}
	if r.Run != s.Run || r.Code != judge.StopForbidden || r.Report.Summary != "stopped" || r.By != "relay" || r.Object != object {
		t.Errorf("%+v", r)
	}
	if got := gitIn(t, git.Root, "status", "--porcelain"); got != "" {
		t.Errorf("the work tree has changed: %s", got)
	}
}

func TestWhatDoesNotCount(t *testing.T) {
	git, base := repository(t)
	m, stranger := newMachine(t, git), newMachine(t, git)
	s, files := result(t, base)
	m.write(t, s, files, nil)
	fine := gitIn(t, git.Root, "rev-parse", Ref("k"))
	// tree makes a result with one file of another content.
	tree := func(name, content string) {
		blob := filepath.Join(t.TempDir(), "blob")
		if err := os.WriteFile(blob, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		oid := gitIn(t, git.Root, "hash-object", "-w", blob)
		var rows []string
		for row := range strings.Lines(gitIn(t, git.Root, "ls-tree", fine)) {
			if !strings.HasSuffix(strings.TrimSpace(row), "\t"+name) {
				rows = append(rows, strings.TrimSpace(row))
			}
		}
		rows = append(rows, "100644 blob "+oid+"\t"+name)
		out, err := git.Write(t.Context(), nil, strings.NewReader(strings.Join(rows, "\n")+"\n"), "mktree")
		if err != nil {
			t.Fatal(err)
		}
		gitIn(t, git.Root, "update-ref", Ref("k"), gitIn(t, git.Root, "commit-tree", "-m", "x", strings.TrimSpace(string(out))))
	}
	for name, forge := range map[string]func(){
		"another commit":             func() { gitIn(t, git.Root, "update-ref", Ref("k"), base) },
		"another report":             func() { tree(ReportName, strings.Replace(string(files[ReportName]), "stopped", "landed!", 1)) },
		"a report that is no report": func() { tree(ReportName, "{") },
		"another log":                func() { tree("verify.log", "all passed\n") },
		"a file that was not there":  func() { tree("diff.patch", "x\n") },
		"a very large statement":     func() { tree(statementName, strings.Repeat("x", 1<<20)) },
		"no signature":               func() { tree(statementName, `{"payloadType":"`+kind+`","payload":"e30=","signatures":[]}`) },
		"a stranger's":               func() { stranger.write(t, s, files, nil) },
		"a blocked run's": func() {
			b := s
			b.Code = judge.BlockedLockHeld
			m.write(t, b, files, nil)
		},
		"another run's report": func() {
			b := s
			b.Run = history.NewRunID(time.Now())
			m.write(t, b, files, nil)
		},
		"of another repository": func() {
			b := s
			b.Base = strings.Repeat("a", len(base))
			m.write(t, b, files, nil)
		},
		"an option for a base": func() {
			b := s
			b.Base = "--batch-all-objects"
			m.write(t, b, files, nil)
		},
		"no report": func() { m.write(t, s, map[string][]byte{"verify.log": {}}, nil) },
		"another key's": func() {
			b := s
			b.Key = "other"
			m.write(t, b, files, nil)
			gitIn(t, git.Root, "update-ref", Ref("k"), Ref("other"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			forge()
			r, err := Read(context.Background(), git, m.signers, "k")
			if _, ok := errors.AsType[*Untrusted](err); r != nil || !ok {
				t.Errorf("it counts: %+v, %v", r, err)
			}
			gitIn(t, git.Root, "update-ref", Ref("k"), fine)
			if r, err := Read(context.Background(), git, m.signers, "k"); r == nil || err != nil {
				t.Errorf("the true one does not count: %v", err)
			}
		})
	}
	if r, err := Read(t.Context(), git, nil, "k"); r != nil || err == nil {
		t.Error("it counts for who trusts nobody")
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	git, base := repository(t)
	m := newMachine(t, git)
	s, files := result(t, base)
	files["verify.log"], files["diff.patch"] = []byte("the value hunter22\n"), make([]byte, limits["diff.patch"]+1)
	finder := secretIn("hunter22")
	m.write(t, s, files, finder)
	r, err := Read(t.Context(), git, m.signers, "k")
	if err != nil || strings.Join(r.Left, " ") != "diff.patch verify.log" {
		t.Fatal(err, r)
	}
	if got := gitIn(t, git.Root, "ls-tree", "--name-only", Ref("k")); got != ReportName+"\n"+statementName {
		t.Error(got)
	}
}

func secretIn(value string) Secrets {
	return func(r io.Reader, _ func(string) bool) (string, int, error) {
		b, err := io.ReadAll(r)
		if strings.Contains(string(b), value) {
			return "a place", 1, err
		}
		return "", 0, err
	}
}
