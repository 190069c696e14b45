package keys

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

const canary = "sk-ant-canary-0123456789abcdef"

func TestParse(t *testing.T) {
	for in, want := range map[string]Ref{
		"env:WORK_KEY": {Env: "WORK_KEY"}, "file:/run/key": {File: "/run/key"}, "file:~/.config/key": {File: "~/.config/key"},
	} {
		if got, err := Parse(in); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v %v", in, got, err)
		}
	}
	if got, err := Parse(map[string]any{"command": []any{"pass", "show", "x"}}); err != nil || got.argv() != "pass show x" {
		t.Errorf("%+v %v", got, err)
	}
	for _, bad := range []any{
		canary, "", "env:", "env:A B", "env:" + canary, "file:key", "file:", "file:~/../key", "pass:" + canary, 7, nil, []any{"x"},
		map[string]any{}, map[string]any{"command": []any{}}, map[string]any{"command": "pass show x"}, map[string]any{"command": []any{"./get-key"}},
		map[string]any{"command": []any{7}}, map[string]any{"command": []any{"x"}, "more": canary},
	} {
		got, err := Parse(bad)
		if err == nil {
			t.Errorf("%v is taken as %+v", bad, got)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("the error repeats the value: %v", err)
		}
	}
}

func TestLooksLike(t *testing.T) {
	for _, key := range []string{
		canary, "sk-proj-abcdefghijklmnopqrst12", "AIza" + strings.Repeat("x7", 18)[:35], "ghp_" + strings.Repeat("a1", 18), "AKIAABCDEFGHIJKLMN07",
		"Bearer " + canary, "https://me:secret@example.org/v1", "-----BEGIN OPENSSH PRIVATE KEY-----", "xai-" + strings.Repeat("k4", 20),
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.abc",
	} {
		if LooksLike(key) == "" {
			t.Errorf("%s looks like nothing", key)
		}
	}
	for _, text := range []string{
		"", "claude-sonnet-4-5", "sk-test", "https://example.org:8080/v1", "https://example.org/a:b@c", "**/*secret*", "Read,Edit,Glob,Grep,Bash",
		"sha256:" + strings.Repeat("0a", 32), "task-with-a-rather-long-and-winding-name", "[;&|$\\\\><(){}\\[\\]`\\n\\r\\t\\x00]", "risk-assessment-of-the-whole-thing", "sk-some-long-name-of-a-thing-that-is-no-key",
	} {
		if what := LooksLike(text); what != "" {
			t.Errorf("%s looks like %s", text, what)
		}
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each reference gives its key or an error that says what to do, and never the key.
func TestResolve(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("WORK_KEY", canary)
	t.Setenv("EMPTY_KEY", "")
	write(t, filepath.Join(dir, "good"), canary+"\n", 0o600)
	open := write(t, filepath.Join(dir, "open"), canary, 0o644)
	locked := write(t, filepath.Join(dir, "locked"), "the vault is locked: "+canary+"x1\nmore\n", 0o600)
	for name, tc := range map[string]struct {
		ref  Ref
		says string // "": it works
	}{
		"variable":          {Ref{Env: "WORK_KEY"}, ""},
		"no variable":       {Ref{Env: "EMPTY_KEY"}, "export EMPTY_KEY"},
		"file":              {Ref{File: "~/good"}, ""},
		"open to others":    {Ref{File: open}, "chmod 600 " + open},
		"written by others": {Ref{File: write(t, filepath.Join(dir, "w"), canary, 0o620)}, "0620"},
		"no file":           {Ref{File: dir + "/none"}, "ls -l"},
		"folder":            {Ref{File: dir}, "a folder"},
		"two lines":         {Ref{File: write(t, filepath.Join(dir, "two"), canary+"\n"+canary, 0o600)}, "one line"},
		"empty":             {Ref{File: write(t, filepath.Join(dir, "empty"), "\n", 0o600)}, "has no key"},
		"account":           {Ref{File: write(t, filepath.Join(dir, "account"), "{\n\"private_key\": \""+canary+"\"\n}", 0o600)}, ""},
		"command":           {Ref{Command: []string{"cat", dir + "/good"}}, ""},
		"command fails":     {Ref{Command: []string{"sh", "-c", "cat " + dir + "/good >&2; cat " + dir + "/good; exit 3"}}, "exit status 3"},
		"command says why":  {Ref{Command: []string{"sh", "-c", "cat " + locked + " >&2; exit 3"}}, "exit status 3: the vault is locked: …"},
		"no command":        {Ref{Command: []string{"no-such-program-here"}}, "not found"},
		"command floods":    {Ref{Command: []string{"sh", "-c", "yes | head -c 100000"}}, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.ref.Resolve(t.Context(), "")
			if tc.says == "" {
				if err != nil || !strings.Contains(got, canary) || strings.HasSuffix(got, "\n") {
					t.Errorf("%q %v", got, err)
				}
				return
			}
			f, ok := diag.As(err)
			if !ok || f.Code != judge.BlockedAuth || f.Fix == "" || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("%q %v", got, err)
			}
			if got != "" || strings.Contains(err.Error(), canary) {
				t.Errorf("the key is told: %q %v", got, err)
			}
		})
	}
}

func TestEnvFile(t *testing.T) {
	root := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	git("init", "-q")
	read := func() (map[string]string, error) { return EnvFile{root, ".env"}.Read(t.Context()) }
	if vars, err := read(); len(vars) != 0 || err != nil {
		t.Errorf("without a file: %v %v", vars, err)
	}
	env := filepath.Join(root, ".env")
	write(t, env, "# keys\nexport A=1\nB = \"two words\" # why\nC='#x'\n\nD=plain # note\nE=\n", 0o600)
	want := map[string]string{"A": "1", "B": "two words", "C": "#x", "D": "plain", "E": ""}
	if vars, err := read(); err != nil || !reflect.DeepEqual(vars, want) {
		t.Errorf("%v %v", vars, err)
	}
	for text, says := range map[string]string{"A=1\n" + canary + "\n": "line 2", "A=\"" + canary + "\n": "line 1", "A B=" + canary: "line 1"} {
		write(t, env, text, 0o600)
		if _, err := read(); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: %v", text, err)
		}
	}
	write(t, env, "A="+canary, 0o644)
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "chmod 600 .env") {
		t.Errorf("open to others: %v", err)
	}
	write(t, env, "A="+canary, 0o600)
	git("add", "-f", ".env")
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "git rm --cached .env") {
		t.Errorf("tracked: %v", err)
	}
	git("rm", "-q", "--cached", ".env")
	outside := write(t, filepath.Join(t.TempDir(), "env"), "A=1", 0o600)
	if err := os.Remove(env); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, env); err != nil {
		t.Fatal(err)
	}
	if vars, err := read(); err == nil {
		t.Errorf("a link out of the repository is read: %v", vars)
	}
}
