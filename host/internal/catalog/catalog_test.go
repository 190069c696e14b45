package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

// house is a relay with plugins beside it, a repository and an install folder.
type house struct {
	t    *testing.T
	dir  string
	pins []Entry
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir()}
	for _, d := range []string{"bin", "libexec/relay", "repo", "data", "cache"} {
		if err := os.MkdirAll(filepath.Join(h.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *house) file(path, content string) string {
	h.t.Helper()
	path = filepath.Join(h.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// plugin puts a plugin beside relay and pins it.
func (h *house) plugin(dir, name string, kinds ...Kind) {
	h.file(dir+"/relay-plugin-"+name, "the program "+name)
	h.pins = append(h.pins, Entry{Name: name, Kinds: kinds, Version: "1.0.0", SHA256: hash("the program " + name), Aliases: []string{name + "-alias"},
		Env: []EnvVar{{Name: "KEY", Secret: true}, {Name: "OTHER"}}, ConfigSchema: json.RawMessage(`{}`)})
}

func (h *house) lock(plugins string) {
	h.file("repo/relay.lock.json", `{"version": 1, "plugins": {`+plugins+`}}`)
}

func (h *house) options() Options {
	text, err := EncodeManifest(h.pins)
	if err != nil {
		h.t.Fatal(err)
	}
	return Options{Root: filepath.Join(h.dir, "repo"), Executable: filepath.Join(h.dir, "bin", "relay"),
		InstallDir: filepath.Join(h.dir, "data"), CacheDir: filepath.Join(h.dir, "cache"), Manifest: text, Agreed: h.agreed}
}

// agreed: the person agreed to the lock file as it is, unless a test says otherwise.
func (h *house) agreed(name string) ([]byte, error) {
	lock, err := ReadLock(filepath.Join(h.dir, "repo"))
	if err != nil {
		return nil, err
	}
	return lock.Plugins[name].Agreement(), nil
}

func (h *house) load() *Catalog {
	h.t.Helper()
	c, err := Load(h.options())
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func pin(name, source, version, content string) string {
	return fmt.Sprintf(`%q: {"source": %q, "version": %q, "protocol": 1, "kinds": ["provider"], "declared": {"env": ["KEY!"]}, "granted": {"env": ["KEY!"]}, "hashes": {%q: "sha256:%s", "plan9_mips": "h9:x"}}`,
		name, source, version, Platform, hash(content))
}

// installed is where a pinned file lies, below the house.
func installed(source, name, version, content string) string {
	return "data/" + source + "/" + name + "/" + version + "/" + Platform + "-" + hash(content)[:12] + "/relay-plugin-" + name
}

func TestFind(t *testing.T) {
	h := newHouse(t)
	h.plugin("bin", "claude", Provider)
	h.plugin("libexec/relay", "external", Builder)
	h.plugin("bin", "claude-code", Builder)
	h.plugin("bin", "both", Provider, Builder)
	h.plugin("bin", "absent", Provider)
	h.plugin("bin", "open", Provider)
	os.Remove(filepath.Join(h.dir, "bin/relay-plugin-absent"))
	os.Chmod(filepath.Join(h.dir, "bin/relay-plugin-open"), 0o777)
	c := h.load()
	for _, tc := range []struct {
		name string
		kind Kind
		want string // the plugin, or a part of the error
	}{
		{"claude", Provider, "claude"},
		{"anthropic", Provider, "claude"},
		{"claude-alias", Provider, "claude"},
		{"cursor", Builder, "external"},
		{"claude_code", Builder, "claude-code"},
		{"both", Provider, "both"},
		{"both", Builder, "both"},
		{"claude", Builder, "plugin claude is not a builder: it is a provider; the builders are both, claude-code, external"},
		{"gemini", Provider, `there is no plugin "gemini": the providers are both, claude`},
		{"google", Provider, `there is no plugin "google": the providers are`},
		{"../bin/claude", Provider, "a plugin's name has lower-case letters"},
		{"Claude", Provider, "a plugin's name has lower-case letters"},
		{"", Provider, "a plugin's name has"},
		{"absent", Provider, "can't be started: missing: there is no file"},
		{"open", Provider, "can't be started: ignored"},
	} {
		e, err := c.Find(tc.name, tc.kind)
		if err == nil {
			if e.Name != tc.want || e.State != OK || e.SHA256 == "" || e.Source != "builtin/"+e.Name {
				t.Errorf("%s: %+v", tc.name, e)
			}
			continue
		}
		f, ok := diag.As(err)
		if !ok || f.Code != judge.BlockedPlugin || !strings.HasPrefix(f.Fix, "`") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	if got := c.Names(Builder); !slices.Equal(got, []string{"both", "claude-code", "external"}) {
		t.Errorf("builders: %v", got)
	}
}

func TestWithoutManifest(t *testing.T) {
	h := newHouse(t)
	o := h.options()
	o.Manifest = ""
	c, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Find("claude", Provider)
	if err == nil || !strings.Contains(err.Error(), "built without its plugins") || !strings.Contains(err.Error(), "`make install`") || !strings.Contains(err.Error(), "`make build`") {
		t.Errorf("%v", err)
	}
	o.Manifest = "!"
	if _, err := Load(o); err == nil {
		t.Error("a broken manifest was taken")
	}
}

func TestLock(t *testing.T) {
	h := newHouse(t)
	h.plugin("bin", "claude", Provider)
	h.plugin("bin", "patch", Builder)
	h.plugin("bin", "replay", Provider)
	h.file(installed("github.com/acme/x", "foo", "1.2.3", "foo"), "foo")
	h.file(installed("github.com/acme/y", "claude", "9.0.0", "other claude"), "other claude")
	h.lock(strings.Join([]string{
		pin("foo", "github.com/acme/x", "1.2.3", "foo"),
		pin("claude", "github.com/acme/y", "9.0.0", "other claude"),
		pin("replay", "builtin/replay", "1.0.0", "another build"),
		pin("patch", "builtin/patch", "1.0.0", "the program patch"),
		pin("gone", "local/gone", "1.0.0", "x"),
		`"bare": {"source": "local/bare", "version": "1", "protocol": 1, "kinds": ["builder"], "declared": {}, "granted": {}, "hashes": {"plan9_mips": "sha256:` + hash("") + `"}}`,
	}, ","))
	got := map[string]State{}
	for _, e := range h.load().List() {
		got[e.Name+" "+e.Source] = e.State
		if e.State != OK && e.Reason == "" {
			t.Errorf("%s: no reason", e.Name)
		}
	}
	for name, want := range map[string]State{
		"foo github.com/acme/x": OK, "claude github.com/acme/y": OK, "claude builtin/claude": Shadowed,
		"replay builtin/replay": HashDiffers, "patch builtin/patch": OK, "gone local/gone": Missing, "bare local/bare": NotLocked,
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	c := h.load()
	if e, err := c.Find("patch", Builder); err != nil || len(e.Env) != 1 || e.Env[0].Name != "KEY" {
		t.Errorf("the lock did not narrow the grants: %+v, %v", e, err)
	}
	if e, err := c.Find("foo", Provider); err != nil || e.Env[0] != (EnvVar{Name: "KEY", Secret: true}) {
		t.Errorf("%+v, %v", e, err)
	}
	// Pinned for this relay, but from another place: not redirected by an alias.
	if e, _ := c.Find("anthropic", Provider); e.Source != "github.com/acme/y" {
		t.Errorf("%+v", e)
	}
}

func TestBadLocks(t *testing.T) {
	good := pin("foo", "local/foo", "1.0.0", "x")
	for name, text := range map[string]string{
		"json":      `{`,
		"duplicate": `{"version": 1, "version": 1, "plugins": {}}`,
		"version":   `{"version": 2, "plugins": {}}`,
		"type":      `{"version": 1, "plugins": []}`,
		"name":      `{"version": 1, "plugins": {` + strings.Replace(good, `"foo"`, `"../foo"`, 1) + `}}`,
		"source":    `{"version": 1, "plugins": {` + strings.Replace(good, `local/foo`, `local/../..`, 1) + `}}`,
		"absolute":  `{"version": 1, "plugins": {` + strings.Replace(good, `local/foo`, `/usr/bin`, 1) + `}}`,
		"number":    `{"version": 1, "plugins": {` + strings.Replace(good, `1.0.0`, `1/../..`, 1) + `}}`,
		"kind":      `{"version": 1, "plugins": {` + strings.Replace(good, `provider`, `oracle`, 1) + `}}`,
		"hash":      `{"version": 1, "plugins": {` + strings.Replace(good, `sha256:`, `sha256:zz`, 1) + `}}`,
		"protocol":  `{"version": 1, "plugins": {` + strings.Replace(good, `"protocol": 1`, `"protocol": 2`, 1) + `}}`,
		"unknown":   `{"version": 1, "plugins": {` + strings.Replace(good, `"protocol"`, `"protocoll"`, 1) + `}}`,
		"grant":     `{"version": 1, "plugins": {` + strings.Replace(good, `"granted": {`, `"granted": {"hosts": ["evil.example"], `, 1) + `}}`,
		"file":      `{"version": 1, "plugins": {` + strings.Replace(good, `"declared": {`, `"declared": {"read": ["~/../x"], `, 1) + `}}`,
		"env":       `{"version": 1, "plugins": {` + strings.Replace(good, `KEY!`, `A=B`, 1) + `}}`,
	} {
		h := newHouse(t)
		h.file("repo/relay.lock.json", text)
		c, err := Load(h.options())
		if slices.Contains([]string{"json", "duplicate", "version", "type"}, name) {
			if f, ok := diag.As(err); !ok || f.Code != judge.BlockedPlugin || f.Why == "" || f.Fix == "" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		// What is wrong with one entry makes that one unusable.
		if err != nil || len(c.entries) != 1 || c.entries[0].State != Unreadable {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, err = c.Find(c.entries[0].Name, Provider)
		if f, ok := diag.As(err); !ok || f.Code != judge.BlockedPlugin || f.Why == "" || !strings.HasPrefix(f.Fix, "`relay plugin remove ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A bad entry keeps its place and its name, through the edits of others, and goes alone.
func TestUnusableEntryStaysAlone(t *testing.T) {
	h := newHouse(t)
	bad := strings.Replace(pin("foo", "local/foo", "1.0.0", "x"), `local/foo`, `local/../..`, 1)
	h.file("repo/relay.lock.json", `{"version": 1, "plugins": {`+bad+`, `+pin("bar", "local/bar", "1.0.0", "x")+`}}`)
	root := h.options().Root
	lock, err := ReadLock(root)
	if err != nil || len(lock.Plugins) != 1 || lock.Unusable["foo"].Err == nil {
		t.Fatal(lock, err)
	}
	long := lock.Plugins["bar"]
	long.Summary = strings.Repeat("s", 30<<20)
	if err := EditLock(root, func(l *Lock) error { l.Plugins["big"] = long; return nil }); err == nil || !strings.Contains(err.Error(), "its summary has 31457280 bytes; the limit is 500") {
		t.Error(err)
	}
	if err := EditLock(root, func(l *Lock) error { delete(l.Plugins, "bar"); return nil }); err != nil {
		t.Fatal(err)
	}
	if lock, err = ReadLock(root); err != nil || len(lock.Plugins) != 0 || lock.Unusable["foo"].Err == nil {
		t.Fatal(lock, err)
	}
	if err := EditLock(root, func(l *Lock) error { delete(l.Unusable, "foo"); return nil }); err != nil {
		t.Fatal(err)
	}
	if lock, err = ReadLock(root); err != nil || len(lock.Unusable) != 0 {
		t.Fatal(lock, err)
	}
}

// A plugin is never taken from PATH, the repository or the current folder.
func TestNowhereElse(t *testing.T) {
	h := newHouse(t)
	for _, d := range []string{"repo", "path", "cwd"} {
		h.file(d+"/relay-plugin-claude", "evil")
	}
	t.Setenv("PATH", filepath.Join(h.dir, "path"))
	t.Chdir(filepath.Join(h.dir, "cwd"))
	if list := h.load().List(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

func TestListShowsEveryFile(t *testing.T) {
	h := newHouse(t)
	h.plugin("bin", "claude", Provider)
	h.plugin("bin", "patch", Builder)
	h.file("bin/relay-plugin-patch", "tampered")
	h.file("bin/relay-plugin-stranger", "x")
	h.file("bin/relay-plugin-Bad_Name", "x")
	h.file("libexec/relay/relay-plugin-claude", "second")
	os.Symlink("/bin/true", filepath.Join(h.dir, "bin/relay-plugin-link"))
	h.file("bin/something", "x")
	var got []string
	for _, e := range h.load().List() {
		got = append(got, e.Name+": "+string(e.State))
	}
	want := []string{"claude: ok", "patch: hash differs", "Bad_Name: ignored", "claude: ignored", "link: ignored", "stranger: not locked"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The cache saves reading, and notices a change that keeps size and time.
func TestListCache(t *testing.T) {
	h := newHouse(t)
	h.plugin("bin", "claude", Provider)
	path := filepath.Join(h.dir, "bin/relay-plugin-claude")
	if s := h.load().List()[0].State; s != OK {
		t.Fatal(s)
	}
	cache := filepath.Join(h.dir, "cache", "hashes.json")
	b, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	// That the cache is used shows when it lies.
	os.WriteFile(cache, []byte(strings.Replace(string(b), hash("the program claude"), strings.Repeat("0", 64), 1)), 0o600)
	if s := h.load().List()[0].State; s != HashDiffers {
		t.Errorf("the cache is not used: %s", s)
	}
	os.WriteFile(cache, b, 0o600)
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // the kernel's clock for files is coarse
	h.file("bin/relay-plugin-claude", "the program CLAUDE")
	os.Chtimes(path, st.ModTime(), st.ModTime())
	if s := h.load().List()[0].State; s != HashDiffers {
		t.Errorf("a changed file passes: %s", s)
	}
}

func TestManifestRoundTrip(t *testing.T) {
	info := []byte(`{"name":"claude","version":"1.2.3","kinds":["KIND_PROVIDER","KIND_FUTURE"],"aliases":["anthropic"],"summary":"s","programs":["claude"],
		"networkHosts":["api.anthropic.com"],"env":[{"name":"KEY","secret":true,"purpose":"p"}],"configSchemaJson":"eyJhIjoxfQ==","later":{"x":1}}`)
	e, err := FromInfo([]byte(strings.Replace(string(info), `,"KIND_FUTURE"`, `,"KIND_BUILDER"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	e.SHA256 = hash("x")
	text, err := EncodeManifest([]Entry{e})
	if err != nil {
		t.Fatal(err)
	}
	back, err := decodeManifest(text)
	if err != nil || len(back) != 1 {
		t.Fatal(back, err)
	}
	if fmt.Sprintf("%+v", back[0]) != fmt.Sprintf("%+v", e) || !e.Is(Provider) || !e.Is(Builder) || string(e.ConfigSchema) != `{"a":1}` {
		t.Errorf("%+v\n%+v", back[0], e)
	}
	if again, _ := EncodeManifest([]Entry{e}); again != text {
		t.Error("two manifests of the same plugins differ")
	}
}

func FuzzFind(f *testing.F) {
	f.Add("claude")
	f.Add("../../etc/passwd")
	f.Fuzz(func(t *testing.T, name string) {
		c := &Catalog{entries: []Entry{{Name: "claude", Kinds: []Kind{Provider}, State: OK}}}
		if e, err := c.Find(name, Provider); (err == nil) != (name == "claude" || name == "anthropic") {
			t.Errorf("%q: %+v, %v", name, e, err)
		}
	})
}

// Nothing but the very pin that a person agreed to is started.
func TestAgreement(t *testing.T) {
	h := newHouse(t)
	h.file(installed("local/foo", "foo", "1.0.0", "foo"), "foo")
	good := pin("foo", "local/foo", "1.0.0", "foo")
	h.lock(good)
	lock, err := ReadLock(filepath.Join(h.dir, "repo"))
	if err != nil {
		t.Fatal(err)
	}
	was := lock.Plugins["foo"]
	load := func(agreed []byte, digests ...string) Entry {
		o := h.options()
		o.Digests, o.Agreed = digests, func(string) ([]byte, error) { return agreed, nil }
		c, err := Load(o)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := c.Entry("foo")
		return e
	}
	if e := load(was.Agreement()); e.State != OK || len(e.Env) != 1 {
		t.Errorf("as agreed: %+v", e)
	}
	if e := load(nil); e.State != NotGranted || !strings.Contains(e.Reinstall(), "--grant env:KEY`") {
		t.Errorf("never agreed: %+v, %s", e.State, e.Reinstall())
	}
	if e := load(nil, "x", was.Digest("foo")); e.State != OK {
		t.Errorf("agreed by its digest: %+v", e)
	}
	if e := load(nil, was.Digest("bar")); e.State != NotGranted {
		t.Errorf("agreed by the digest of another name: %+v", e)
	}
	for change, want := range map[string][2]string{
		"granted: nothing any more": {`"granted": {"env": ["KEY!"]}, `, ""},
		"hash for":                  {hash("foo")[:8], "00000000"},
		"version: 1.0.0 → 1.0.1":    {"1.0.0", "1.0.1"},
		"- granted env:KEY":         {`"granted": {"env": ["KEY!"]}`, `"granted": {}`},
		"+ asks for host:evil":      {`"declared": {`, `"declared": {"hosts": ["evil.example"], `},
	} {
		h.lock(strings.Replace(good, want[0], want[1], 1))
		if e := load(was.Agreement()); e.State != NotGranted || want[1] != "" && !strings.Contains(e.Reason, change) {
			t.Errorf("%s: %s, %s", change, e.State, e.Reason)
		}
	}
}

func TestUnsafeFolders(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"can be written by others": func(dir string) error { return os.Chmod(dir, 0o777) },
		"is a symbolic link": func(dir string) error {
			if err := os.Rename(dir, dir+".real"); err != nil {
				return err
			}
			return os.Symlink(dir+".real", dir)
		},
	} {
		h := newHouse(t)
		path := h.file(installed("local/foo", "foo", "1.0.0", "foo"), "foo")
		h.lock(pin("foo", "local/foo", "1.0.0", "foo"))
		if err := spoil(filepath.Dir(filepath.Dir(path))); err != nil {
			t.Fatal(err)
		}
		_, err := h.load().Find("foo", Provider)
		if f, ok := diag.As(err); !ok || !strings.Contains(f.Why, name) || !strings.HasPrefix(f.Fix, "`") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRights(t *testing.T) {
	all := Rights{Env: []string{"B!", "A", "A"}, Hosts: []string{"x.example"}, Programs: []string{"git"}, Read: []string{"~/.x"}, Write: []string{"."}}.Tidy()
	if got := strings.Join(all.Words(), " "); got != "env:A env:B program:git host:x.example read:~/.x write:." {
		t.Error(got)
	}
	if len(all.Sentences()) != len(all.Words()) {
		t.Error(all.Sentences())
	}
	some, err := all.Choose([]string{"env:B", "host:*"})
	if err != nil || !slices.Equal(some.Env, []string{"B!"}) || !some.Any() {
		t.Error(some, err)
	}
	if none, err := all.Choose([]string{"none"}); err != nil || !none.Empty() {
		t.Error(none, err)
	}
	for _, word := range []string{"env:C", "host:y.example", "env", "x:y", "none,", ""} {
		if _, err := all.Choose([]string{word}); err == nil {
			t.Errorf("%q was granted", word)
		}
	}
	if more := all.Beyond(some); strings.Join(more.Words(), " ") != "env:A program:git host:x.example read:~/.x write:." {
		t.Error(more.Words())
	}
	for _, r := range []Rights{{Read: []string{"/"}}, {Read: []string{"x"}}, {Read: []string{"/a/../b"}}, {Read: []string{"~/../a"}}, {Programs: []string{"./x"}}, {Hosts: []string{"http://x"}}, {Env: []string{"A=B"}}} {
		if r.Check() == nil {
			t.Errorf("%+v passes", r)
		}
	}
}
