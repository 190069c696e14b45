package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// in gives what was found below a folder, by its path in it.
func in(t *testing.T, dir string, w Where) map[string]Place {
	t.Helper()
	found := map[string]Place{}
	for _, p := range Find(w) {
		if rel, ok := strings.CutPrefix(p.Path, dir+"/"); ok {
			found[rel] = p
		}
	}
	return found
}

func env(kv map[string]string) func(string) string {
	return func(name string) string { return kv[name] }
}

// A line of the table has a path that is one, a reason, and an option that exists.
func TestTable(t *testing.T) {
	if len(rules) < 300 {
		t.Fatalf("%d lines", len(rules))
	}
	seen := map[string]bool{}
	for _, r := range rules {
		if r.why == "" || !strings.HasPrefix(r.path, "~/") && !strings.HasPrefix(r.path, "$") && !filepath.IsAbs(r.path) || seen[r.path] {
			t.Errorf("%+v", r)
		}
		if _, err := filepath.Match(r.path, ""); err != nil || r.system != "" && r.system != "linux" && r.system != "darwin" {
			t.Errorf("%+v", r)
		}
		seen[r.path] = true
	}
}

// Every line without a variable is found when something lies there.
func TestEveryPlace(t *testing.T) {
	for _, r := range rules {
		below, ok := strings.CutPrefix(r.path, "~/")
		if !ok || r.system == "darwin" {
			continue
		}
		home := t.TempDir()
		name := strings.NewReplacer("*", "x", "?", "x").Replace(below)
		write(t, filepath.Join(home, name), "password = canary-0123456789\n")
		if _, ok := in(t, home, Where{Home: home, Getenv: env(nil)})[name]; !ok {
			t.Errorf("%s is not found at %s", r.path, name)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	home := b.TempDir()
	for b.Loop() {
		Find(Where{Home: home, Getenv: env(nil)})
	}
}

func TestFind(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := dir + "/home"
	write(t, home+"/.gitconfig", "[user]\n\tname = A B\n\temail = a@b.example\n")
	write(t, home+"/.npmrc", "registry=https://r.example\n//r.example/:_authToken=${NPM_TOKEN}\n")
	write(t, home+"/.config/pip/pip.conf", "[global]\nindex-url = https://u:hunter2hunter2@r.example/simple\n")
	write(t, home+"/.config/git/config", "[user]\n\tname = A B\n[http \"https://x\"]\n\textraheader = AUTHORIZATION: basic eHg6eXk=\n")
	write(t, home+"/.m2/settings.xml", "<settings><server><password>hunter2</password></server></settings>")
	write(t, home+"/.terraformrc", "credentials \"x\" { token = \"abc\" }\nplugin_cache_dir = \"y\"\n")
	write(t, dir+"/elsewhere/credentials", "x")
	write(t, dir+"/kube/one", "x")
	write(t, dir+"/kube/two", "x")
	write(t, dir+"/xdg/gh/hosts.yml", "x")
	write(t, dir+"/mine/key", "x")
	write(t, dir+"/linked/id", "x")
	write(t, home+"/.claude/login", "x")
	write(t, home+"/.azure/token", "x")
	os.MkdirAll(home+"/.ssh", 0o700)
	for link, target := range map[string]string{home + "/.aws": dir + "/elsewhere", home + "/.ssh/id": dir + "/linked/id"} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	found := in(t, dir, Where{Home: home, Hide: []string{dir + "/mine/*"}, Show: []string{"~/.azure"}, Keys: []string{dir + "/kube/none"},
		Getenv: env(map[string]string{"KUBECONFIG": dir + "/kube/one:" + dir + "/kube/two", "XDG_CONFIG_HOME": dir + "/xdg", "DOCKER_CONFIG": "relative"})})
	for _, want := range []string{"elsewhere", "home/.config/pip/pip.conf", "home/.config/git/config", "home/.m2/settings.xml", "home/.terraformrc", "kube/one", "kube/two",
		"xdg/gh", "mine/key", "linked/id", "home/.ssh", "home/.claude"} {
		if _, ok := found[want]; !ok {
			t.Errorf("%s is not hidden", want)
		}
		delete(found, want)
	}
	for name := range found {
		t.Errorf("%s is hidden", name)
	}
	for name, want := range map[string]string{
		"/.config/pip/pip.conf": "[global]\nindex-url = https://r.example/simple\n",
		"/.config/git/config":   "[user]\n\tname = A B\n[http \"https://x\"]\n",
		"/.m2/settings.xml":     "",
		"/.terraformrc":         "plugin_cache_dir = \"y\"\n",
	} {
		if got, _ := stripped(home+name, false); string(got) != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What a shell's file exports is not shown, and the shell can read what is left.
func TestShellFiles(t *testing.T) {
	home := t.TempDir()
	write(t, home+"/.bashrc", "PS1='\\$ '\nexport OPENAI_API_KEY=\"sk-proj-0123456789abcdef\"\nif true; then\n  export GITHUB_PAT=x1y2z3w4v5u6\nfi\nkey_token=$(pass x)\nexport EDITOR=vi JDK=/opt/jdk-17.0.2+8/bin-x64-a1b2c3\n")
	write(t, home+"/.config/fish/config.fish", "set -gx MISTRAL_API_KEY abcdef0123456789\nset -gx fish_key_bindings vi\nset -gx EDITOR vi\n")
	write(t, home+"/.zshrc", "autoload -U compinit\nexport LLM_KEY=$OPENAI_API_KEY\nbindkey -v\n")
	found := in(t, home, Where{Home: home, Getenv: env(nil)})
	for name, want := range map[string]string{
		".bashrc":                  "PS1='\\$ '\n:\nif true; then\n:\nfi\nkey_token=$(pass x)\nexport EDITOR=vi JDK=/opt/jdk-17.0.2+8/bin-x64-a1b2c3\n",
		".config/fish/config.fish": ":\nset -gx fish_key_bindings vi\nset -gx EDITOR vi\n",
	} {
		if got := string(found[name].Instead); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, ok := found[".zshrc"]; ok {
		t.Error("a file without a secret is hidden")
	}
	values := fmt.Sprint(Values(Find(Where{Home: home, Getenv: env(nil)})))
	if !strings.Contains(values, "sk-proj-0123456789abcdef") || !strings.Contains(values, "x1y2z3w4v5u6") || strings.Contains(values, "jdk-17") {
		t.Error(values)
	}
}

func TestValues(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/.aws/credentials", "[default]\naws_access_key_id = AKIAQQQQWWWWEEEE1234\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzz\nregion = eu-central-1\n")
	write(t, dir+"/.netrc", "machine x login me password s3cr3t-of-netrc\n")
	write(t, dir+"/.bash_history", "curl -H 'token: Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA'\n")
	write(t, dir+"/.ssh/known_hosts", "x ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ7dWq3Q0123456789abcdefg\n")
	write(t, dir+"/.config/gcloud/c.json", `{"client_id":"764086051850-6qr4p6gpi6hn506pt8ejuq83di341hur.apps.googleusercontent.com.example","token_uri":"https://oauth2.googleapis.com/token","refresh_token":"1//0gAbCdEfGhIjKlMnOp"}`)
	values := fmt.Sprint(Values(Find(Where{Home: dir, Getenv: env(nil)})))
	for _, want := range []string{"wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzz", "s3cr3t-of-netrc", "1//0gAbCdEfGhIjKlMnOp", "AKIAQQQQWWWWEEEE1234"} {
		if !strings.Contains(values, want) {
			t.Errorf("%s is not found", want)
		}
	}
	for _, not := range []string{"Zm9vYmFyYmF6", "AAAAC3Nza", "oauth2.googleapis.com", "eu-central-1"} {
		if strings.Contains(values, not) {
			t.Errorf("%s counts as a secret", not)
		}
	}
}

func TestFinder(t *testing.T) {
	secret := `p"4/ss+word-Xyz1`
	f := NewFinder([]Value{{secret, "a key"}, {"short", "nothing"}})
	found := func(f *Finder, text string, known func(string) bool) (string, int) {
		from, line, err := f.Find(iotest.HalfReader(strings.NewReader(text)), known)
		if err != nil {
			t.Fatal(err)
		}
		return from, line
	}
	for i := range 3 {
		text := strings.Repeat("a", i) + secret + "tail"
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			if from, _ := found(f, encoding.EncodeToString([]byte(text)), nil); from != "a key" {
				t.Errorf("base64 at %d is not found", i)
			}
		}
	}
	for _, text := range []string{secret, `{"x":"p\"4/ss+word-Xyz1"}`, "?q=p%224%2Fss%2Bword-Xyz1", hex.EncodeToString([]byte("a" + secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))} {
		if from, line := found(f, "before\n "+text+" after", nil); from != "a key" || line != 2 {
			t.Errorf("%q: %q in line %d", text, from, line)
		}
	}
	var escaped strings.Builder
	for i := range len(secret) {
		fmt.Fprintf(&escaped, "%%%02X", secret[i])
	}
	wrapped := func(text string) (lines string) { // as xxd -p and base64 do
		for len(text) > 7 {
			lines, text = lines+text[:7]+"\r\n", text[7:]
		}
		return lines + text
	}
	for _, text := range []string{escaped.String(), wrapped(hex.EncodeToString([]byte(secret))), wrapped(base64.StdEncoding.EncodeToString([]byte("ab" + secret))), wrapped(escaped.String()), wrapped(secret)} {
		for _, before := range []int{1, piece - 30, piece - 5} {
			if from, line := found(f, strings.Repeat("-", before)+"\n"+text+"\nafter", nil); from != "a key" || line != 2 {
				t.Errorf("%q after %d: %q in line %d", text, before, from, line)
			}
		}
	}
	for _, before := range []int{piece - 20, piece - 10, piece, piece + 100, 3*piece - 8} {
		if from, line := found(f, strings.Repeat("\n", before)+secret, nil); from == "" || line != before+1 {
			t.Errorf("after %d lines: %q in line %d", before, from, line)
		}
	}
	if from, _ := found(f, "short p\"4/ss+word", nil); from != "" {
		t.Errorf("%q", from)
	}
	if from, _ := found(NewFinder([]Value{{"short", "x"}}), "short", nil); from != "" {
		t.Error("found what is too short to be looked for")
	}
	if from, _ := found(f, secret, func(form string) bool { return form == secret }); from != "" {
		t.Error("found what may be there")
	}
}

func TestPlausible(t *testing.T) {
	for text, want := range map[string]bool{"postgres": false, "changeme": false, "hunter22": true, "aaaa1111": false, "correct-horse-battery-staple": true, "short1": false} {
		if plausible([]byte(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
