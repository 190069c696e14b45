package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The same files make the same archive, wherever they lie, whoever owns them, in whatever
// order they are named.
func TestPack(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	var made []string
	for i, reverse := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), strings.Repeat("deeper/", i))
		members := []member{{"LICENSE", write(t, filepath.Join(dir, "l"), "text"), 0o644}, {"bin/relay", write(t, filepath.Join(dir, "r"), "program"), 0o755}}
		if reverse {
			members[0], members[1] = members[1], members[0]
			if err := os.Chtimes(members[0].path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}
		out := filepath.Join(dir, "files")
		if err := os.Mkdir(out, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := pack(filepath.Join(out, "relay_1_x.tar.gz"), "relay-1", members, at); err != nil {
			t.Fatal(err)
		}
		if err := writeSums(out); err != nil {
			t.Fatal(err)
		}
		made = append(made, out)
	}
	if err := same(made[0], made[1]); err != nil {
		t.Error(err)
	}
	f, err := os.Open(filepath.Join(made[0], "relay_1_x.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %o %d:%d %s %d", h.Name, h.Mode, h.Uid, h.Gid, h.Uname, h.ModTime.Unix()))
	}
	if want := "relay-1/LICENSE 644 0:0  1700000000, relay-1/bin/relay 755 0:0  1700000000"; strings.Join(got, ", ") != want {
		t.Errorf("%q", got)
	}
	to := filepath.Join(t.TempDir(), "dist")
	write(t, filepath.Join(to, "relay_0_x.tar.gz"), "an older one")
	write(t, filepath.Join(to, "notes.txt"), "somebody's")
	if err := take(to, made[0]); err != nil {
		t.Fatal(err)
	}
	if have, err := hashes(to); err != nil || len(have) != 3 || have["notes.txt"] == "" || have["relay_0_x.tar.gz"] != "" {
		t.Errorf("%v, %v", have, err)
	}
	write(t, filepath.Join(made[1], "relay_1_x.tar.gz"), "other bytes")
	write(t, filepath.Join(made[1], "more"), "")
	if err := same(made[0], made[1]); err == nil || !strings.Contains(err.Error(), "more, relay_1_x.tar.gz") {
		t.Errorf("two that differ: %v", err)
	}
}

func TestBill(t *testing.T) {
	sums := write(t, filepath.Join(t.TempDir(), "go.sum"), "example.org/a v1.0.0 h1:aaa\nexample.org/a v1.0.0/go.mod h1:no\nexample.org/new v2.0.0 h1:new\n")
	info := func(deps ...*debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26.1 X:some", Main: debug.Module{Path: "github.com/paxiom/relay", Version: "v1.2.3"}, Deps: deps,
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "c0ffee"}}}
	}
	a := &debug.Module{Path: "example.org/a", Version: "v1.0.0", Sum: "h1:aaa"}
	programs := []program{{name: "relay", hash: strings.Repeat("11", 32), info: info(a)}, {name: "relay-plugin-x", hash: strings.Repeat("22", 32),
		info: info(a, &debug.Module{Path: "example.org/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/new", Version: "v2.0.0"}})}}
	raw, err := bill(programs, "1.2.3", "linux/arm64", time.Unix(0, 0).UTC(), sums)
	if err != nil {
		t.Fatal(err)
	}
	again, err := bill(programs, "1.2.3", "linux/arm64", time.Unix(0, 0).UTC(), sums)
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("it is another one the second time: %v", err)
	}
	if err := conforms(raw); err != nil {
		t.Error(err)
	}
	for was, is := range map[string]string{`"SHA-256"`: `"SHA-257"`, `"MIT"`: `"no such licence"`, "urn:uuid:": "uuid:", `"bomFormat"`: `"bomForm"`, `"application"`: `"programme"`} {
		if bad := bytes.Replace(raw, []byte(was), []byte(is), 1); bytes.Equal(bad, raw) || conforms(bad) == nil {
			t.Errorf("%s in the place of %s is taken for an SBOM", is, was)
		}
	}
	var b bom
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range b.Components {
		got = append(got, c.Ref)
	}
	want := "file:relay file:relay-plugin-x pkg:golang/example.org/a@v1.0.0 pkg:golang/example.org/new@v2.0.0 pkg:golang/stdlib@1.26.1"
	if strings.Join(got, " ") != want || b.Components[2].Properties[0].Value != "h1:aaa" || b.Components[0].Hashes[0].Content != strings.Repeat("11", 32) {
		t.Errorf("%s\n%s", got, raw)
	}
	refs := map[string]bool{b.Metadata.Component.Ref: true}
	for _, c := range b.Components {
		refs[c.Ref] = true
	}
	for _, d := range b.Dependencies {
		for _, ref := range append(d.Uses, d.Ref) {
			if !refs[ref] {
				t.Errorf("%s is in no list", ref)
			}
		}
		if d.Ref == "file:relay" && len(d.Uses) != 2 {
			t.Errorf("relay is made of %v", d.Uses)
		}
	}
	if !strings.HasPrefix(b.Serial, "urn:uuid:") || len(b.Serial) != 45 || b.Metadata.Timestamp != "1970-01-01T00:00:00Z" {
		t.Errorf("%s, %s", b.Serial, b.Metadata.Timestamp)
	}
	programs[0].info = info(&debug.Module{Path: "example.org/unknown", Version: "v1.0.0"})
	if _, err := bill(programs, "1.2.3", "linux/arm64", time.Now(), sums); err == nil {
		t.Error("a module that go.sum does not know was taken")
	}
}

// A release with all platforms has its definitions, each with the hashes of the archives that
// it names; one with some has none.
func TestDefinitions(t *testing.T) {
	r := release{files: t.TempDir()}
	var sums []string
	for platform := range strings.SplitSeq(allPlatforms, ",") {
		if err := r.definitions("1.2.3"); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(r.files, "relay.rb")); err == nil {
			t.Fatal("there is a formula without all archives")
		}
		at := filepath.Join(r.files, "relay_1.2.3_"+strings.ReplaceAll(platform, "/", "_")+".tar.gz")
		if err := os.WriteFile(at, []byte(platform), 0o644); err != nil {
			t.Fatal(err)
		}
		sum, err := hash(at)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sum)
	}
	if err := r.definitions("1.2.3"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"relay.rb": sums, "flake.nix": sums, "Containerfile": {"relay_1.2.3_linux_"}} {
		b, err := os.ReadFile(filepath.Join(r.files, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(b), w) {
				t.Errorf("%s has no %s", name, w)
			}
		}
	}
}
