package workspace

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_ALLOW_PROTOCOL=file")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func repo(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	runGit(t, dir, "init", "-q")
	put(t, dir, "a.txt", "a")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-qm", "a")
	return dir
}

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func wantFault(t *testing.T, err error, code judge.Code, contains ...string) {
	t.Helper()
	f, ok := diag.As(err)
	if !ok {
		t.Fatalf("got %v, want a fault", err)
	}
	if f.Code != code || f.What == "" || f.Why == "" || !strings.Contains(f.Fix, "`") {
		t.Errorf("fault %+v: want code %s, three parts and a command", *f, code)
	}
	for _, c := range contains {
		if !strings.Contains(f.Error(), c) {
			t.Errorf("%q does not say %q", f.Error(), c)
		}
	}
}

func TestFindRoot(t *testing.T) {
	main := repo(t)
	sub := filepath.Join(main, "x", "y")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	runGit(t, main, "worktree", "add", "-q", linked)
	lib := repo(t)
	runGit(t, main, "-c", "protocol.file.allow=always", "submodule", "add", "-q", lib, "lib")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(sub, link); err != nil {
		t.Fatal(err)
	}
	linked, _ = filepath.EvalSymlinks(linked)
	for in, want := range map[string]string{
		main: main, sub: main, link: main, linked: linked, filepath.Join(main, "lib"): filepath.Join(main, "lib"),
	} {
		if got, err := FindRoot(in); err != nil || got != want {
			t.Errorf("FindRoot(%s) = %s, %v; want %s", in, got, err, want)
		}
	}
	_, err := FindRoot(filepath.Join(main, ".git", "refs"))
	wantFault(t, err, judge.BlockedRepository, "cd "+main)
	plain := t.TempDir()
	put(t, plain, ".git", "not a pointer")
	_, err = FindRoot(plain)
	wantFault(t, err, judge.BlockedRepository, "git init")
	_, err = FindRoot(filepath.Join(plain, "absent"))
	wantFault(t, err, judge.BlockedRepository)
}

func TestEnsureKeepsRepositoryClean(t *testing.T) {
	for _, rel := range []string{"", "relais", "tools/relay"} {
		root := repo(t)
		w, err := Open(root, rel)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := errors.Join(w.Ensure(), w.Publish()); err != nil {
				t.Fatal(err)
			}
		}
		put(t, w.Dir(), "STATE.json", "{}")
		put(t, w.Dir(), "history/x/report.json", "{}")
		if err := w.Publish(); err != nil {
			t.Fatal(err)
		}
		if s := runGit(t, root, "status", "--porcelain", "-uall"); s != "" {
			t.Errorf("%q: not clean after Ensure:\n%s", rel, s)
		}
		put(t, w.Shared(), "FACTS.md", "fact")
		put(t, w.Shared(), "prompts/builder.user.txt", "p")
		if s := runGit(t, root, "status", "--porcelain", "-uall"); strings.Count(s, "\n") != 2 {
			t.Errorf("%q: FACTS.md and prompts should be visible to git, got:\n%s", rel, s)
		}
		runGit(t, root, "add", "-A")
		runGit(t, root, "clean", "-fdxq") // as in a clone, nothing is left but what git tracks
		if err := w.Publish(); err != nil {
			t.Fatal(err)
		}
		if s := runGit(t, root, "ls-files", "--others", "--exclude-standard"); s != "" {
			t.Errorf("%q: git would add copies to a clone:\n%s", rel, s)
		}
		put(t, w.Shared(), ".gitignore", "mine\n")
		if err := w.Publish(); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(filepath.Join(w.Shared(), ".gitignore")); string(b) != "mine\n" {
			t.Errorf("%q: the user's .gitignore was overwritten", rel)
		}
	}
}

// Rules of the repository that have git ignore the copies are enough.
func TestOwnersRulesAreEnough(t *testing.T) {
	root := repo(t)
	put(t, root, ".gitignore", "relais/STATE.json\n")
	put(t, root, "relais/FACTS.md", "fact")
	runGit(t, root, "add", "-A")
	w, err := Open(root, "relais")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Ensure(), w.Publish()); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(w.Shared(), ".gitignore")); err == nil {
		t.Errorf("it was given rules of relay's:\n%s", b)
	}
}

func TestEnsureFollowsNoLink(t *testing.T) {
	outside := t.TempDir()
	for name, plant := range map[string]func(root string) error{
		"workspace": func(r string) error { return os.Symlink(outside, filepath.Join(r, ".relay")) },
		"inside":    func(r string) error { return os.Symlink("src", filepath.Join(r, ".relay")) },
		"file":      func(r string) error { return os.WriteFile(filepath.Join(r, ".relay"), nil, 0o644) },
		"dangling":  func(r string) error { return os.Symlink("/nonexistent/x", filepath.Join(r, ".relay")) },
	} {
		root := t.TempDir()
		if err := plant(root); err != nil {
			t.Fatal(err)
		}
		w, _ := Open(root, "")
		if err := w.Ensure(); err != nil {
			t.Errorf("%s: what lies in the workspace is in the state's way: %v", name, err)
		}
		put(t, w.Dir(), "STATE.json", "{}")
		if err := w.Publish(); err == nil {
			t.Errorf("%s: a planted object was used as the workspace", name)
		}
	}
	if e, _ := os.ReadDir(outside); len(e) != 0 {
		t.Error("something was written outside")
	}
	root := t.TempDir()
	w, _ := Open(root, "")
	if err := w.Ensure(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, w.History()); err != nil {
		t.Fatal(err)
	}
	wantFault(t, w.MkdirAll(filepath.Join(w.History(), "run")), judge.BlockedRepository, "symbolic link")
	if err := w.MkdirAll(outside); err == nil {
		t.Error("a folder outside the workspace was made")
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, rel := range []string{"/abs", "..", "a/../b", ".", "a//b", "a/", ".git", "x/.GIT/y", "-x", "a*b", "a b", "a\nb", "é", `a\b`, strings.Repeat("x", 300)} {
		_, err := Open(t.TempDir(), rel)
		if err == nil {
			t.Errorf("%q was accepted", rel)
			continue
		}
		wantFault(t, err, judge.BlockedMissingConfig)
	}
	for _, rel := range []string{"", ".relay", "relais", "tools/relay_1"} {
		if _, err := Open(t.TempDir(), rel); err != nil {
			t.Errorf("%q: %v", rel, err)
		}
	}
}

func TestOwnedGlobs(t *testing.T) {
	w, _ := Open(t.TempDir(), "relais")
	for _, p := range []string{"relais", "relais/STATE.json", "relais/history/a/b", "relay.config.toml", "relais.config.json", "relais.config.yaml", "relay.lock.json", "prd.json", "config/default.yaml", "config/services/a.yaml"} {
		if !judge.Match(w.OwnedGlobs(), p) {
			t.Errorf("%s is not owned", p)
		}
	}
	for _, p := range []string{"src/relais", "src/prd.json", "prd.json.md", "config/app.yaml", "src/config/default.yaml"} {
		if judge.Match(w.OwnedGlobs(), p) {
			t.Errorf("%s is owned", p)
		}
	}
}

func TestCleanTmp(t *testing.T) {
	root := t.TempDir()
	w, _ := Open(root, "")
	if err := w.Ensure(); err != nil {
		t.Fatal(err)
	}
	target := put(t, root, "keep.txt", "k")
	put(t, w.Shared(), "COPY.json.tmp", "x")
	put(t, root, "out.tmp", "o")
	put(t, w.Dir(), "STATE.json.tmp", "x")
	put(t, w.Dir(), ".hidden.abc.tmp", "x")
	put(t, w.Dir(), "STATE.json", "x")
	put(t, w.Dir(), "history/r/deep.tmp", "x")
	if err := os.Symlink(target, filepath.Join(w.Dir(), "link.tmp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(w.Dir(), "dir.tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	n, err := w.CleanTmp(".relay/*.tmp")
	if err != nil || n != 4 {
		t.Errorf("removed %d, %v; want 4", n, err)
	}
	for p, want := range map[string]bool{"keep.txt": true, "out.tmp": true, ".git/relay/STATE.json": true, ".git/relay/history/r/deep.tmp": true,
		".git/relay/dir.tmp": true, ".git/relay/STATE.json.tmp": false, ".git/relay/link.tmp": false, ".relay/COPY.json.tmp": false} {
		if _, err := os.Lstat(filepath.Join(root, p)); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", p, err == nil, want)
		}
	}
	if n, err := w.CleanTmp(".relay/**/*.tmp"); err != nil || n != 1 {
		t.Errorf("deep: removed %d, %v; want 1", n, err)
	}
	for _, g := range []string{"", "../*.tmp", ".relay/../*.tmp", "/tmp/*.tmp", `\\host\share\*.tmp`, "**/*.tmp", "src/*.tmp", ".relay/*", ".relay/*.json", ".relay/{a,b}.tmp", ".relay/x.tmp/"} {
		_, err := w.CleanTmp(g)
		if err == nil {
			t.Errorf("%q was accepted", g)
			continue
		}
		wantFault(t, err, judge.BlockedMissingConfig, "delete_tmp_glob")
	}
}

func TestValidate(t *testing.T) {
	root := t.TempDir()
	w, _ := Open(root, "")
	if err := w.Ensure(); err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil {
		t.Fatalf("an empty workspace: %v", err)
	}
	good := `{"milestone_id":null,"budgets":{"ticks":0,"orchestrator_calls":0,"builder_calls":0,"verify_runs":0},"budget_warning":false,"last_run_id":null,"last_verdict":null}`
	put(t, w.Dir(), "STATE.json", good)
	if err := w.Validate(); err != nil {
		t.Fatalf("seed 002's state: %v", err)
	}
	for name, bad := range map[string]string{
		"empty": "", "truncated": good[:40], "array": "[]", "null": "null", "negative": strings.Replace(good, `"ticks":0`, `"ticks":-900`, 1),
		"wrong type": strings.Replace(good, `"ticks":0`, `"ticks":"0"`, 1), "unknown key": strings.Replace(good, `"ticks"`, `"tocks"`, 1),
		"binary": "\x00\xff\xfe", "two": good + good,
	} {
		put(t, w.Dir(), "STATE.json", bad)
		err := w.Validate()
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		wantFault(t, err, judge.BlockedCrashRecovery, "STATE.json", "relay recover")
	}
	if err := os.Remove(w.State()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", w.State()); err != nil {
		t.Fatal(err)
	}
	wantFault(t, w.Validate(), judge.BlockedCrashRecovery, "not a regular file")
}
