package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
)

type member struct {
	name, body string
	kind       byte
	link       string
}

func tarball(t *testing.T, members ...member) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, m := range members {
		if m.kind == 0 {
			m.kind = tar.TypeReg
		}
		if err := w.WriteHeader(&tar.Header{Name: m.name, Typeflag: m.kind, Linkname: m.link, Mode: 0o755, Size: int64(len(m.body))}); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(m.body))
	}
	w.Close()
	z.Close()
	return write(t, "x.tar.gz", b.String())
}

func zipball(t *testing.T, members ...member) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name}
		h.SetMode(0o755)
		if m.kind == tar.TypeSymlink {
			h.SetMode(os.ModeSymlink | 0o777)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(m.body + m.link))
	}
	w.Close()
	return write(t, "x.zip", b.String())
}

func write(t *testing.T, name, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func sum(body string) string {
	h := sha256.Sum256([]byte(body))
	return hex.EncodeToString(h[:])
}

const ours = "relay-plugin-foo_" + catalog.Platform

func TestArchives(t *testing.T) {
	good := []member{{name: "top/", kind: tar.TypeDir}, {name: "top/" + ours, body: "one"}, {name: "top/relay-plugin-foo_plan9_mips", body: "two"}, {name: "top/README", body: "x"}}
	sums := func(lines ...string) member {
		return member{name: "SHA256SUMS", body: strings.Join(lines, "\n") + "\n"}
	}
	for _, c := range []struct {
		name    string
		members []member
		want    string // "" is taken
	}{
		{"good", good, ""},
		{"sums", []member{{name: ours, body: "one"}, sums(sum("one")+"  "+ours, sum("x")+" *relay-plugin-foo_plan9_mips")}, ""},
		{"bare name", []member{{name: "relay-plugin-foo", body: "one"}}, ""},
		{"version in the name", []member{{name: "relay-plugin-foo_1.2.0_" + catalog.Platform, body: "one"}}, ""},
		{"escape", append(good[:2:2], member{name: "../../evil", body: "x"}), "leads out"},
		{"absolute", append(good[:2:2], member{name: "/etc/evil", body: "x"}), "leads out"},
		{"backslash", append(good[:2:2], member{name: `..\evil`, body: "x"}), "leads out"},
		{"symbolic link", append(good[:2:2], member{name: "top/l", kind: tar.TypeSymlink, link: "/etc/passwd"}), "link or a device"},
		{"other sum", []member{{name: ours, body: "one"}, sums(sum("two") + "  " + ours)}, "SHA256SUMS says"},
		{"not in the sums", []member{{name: ours, body: "one"}, sums(sum("two") + "  relay-plugin-foo_plan9_mips")}, "is not in SHA256SUMS"},
		{"broken sums", []member{{name: ours, body: "one"}, sums("zz  " + ours)}, "line that is none"},
		{"sum twice", []member{{name: ours, body: "one"}, sums(sum("one")+"  "+ours, sum("two")+"  "+ours)}, "twice"},
		{"path in the sums", []member{{name: ours, body: "one"}, sums(sum("one") + "  ../" + ours)}, "line that is none"},
		{"two plugins", []member{{name: ours, body: "one"}, {name: "relay-plugin-bar_" + catalog.Platform, body: "two"}}, "more than one plugin"},
		{"same file twice", []member{{name: ours, body: "one"}, {name: "top/" + ours, body: "two"}}, "two files"},
		{"another platform", []member{{name: "relay-plugin-foo_plan9_mips", body: "one"}}, "no file for"},
		{"nothing", []member{{name: "README", body: "x"}}, "no file named relay-plugin-NAME"},
		{"listed, not there", []member{sums(sum("one") + "  " + ours)}, "listed and not there"},
	} {
		for kind, path := range map[string]string{"tar": tarball(t, c.members...), "zip": zipball(t, c.members...)} {
			scratch := t.TempDir()
			r, err := Local(path, scratch, "")
			switch {
			case err == nil && c.want == "":
				if b, err := os.ReadFile(r.Binary); err != nil || string(b) != "one" || r.SHA256 != sum("one") || r.Name != "foo" || r.Hashes[catalog.Platform] != "sha256:"+sum("one") {
					t.Errorf("%s, %s: %+v, %v", kind, c.name, r, err)
				}
				r.Close()
			case err == nil:
				t.Errorf("%s, %s: it was taken", kind, c.name)
				r.Close()
			default:
				f, ok := diag.As(err)
				if c.want == "" || !ok || !strings.Contains(f.Why, c.want) || !strings.HasPrefix(f.Fix, "`") {
					t.Errorf("%s, %s: %v", kind, c.name, err)
				}
			}
			if left, _ := os.ReadDir(scratch); len(left) != 0 {
				t.Errorf("%s, %s: left %v", kind, c.name, left)
			}
		}
	}
}

func TestTarLinksAndDevices(t *testing.T) {
	for _, kind := range []byte{tar.TypeLink, tar.TypeChar, tar.TypeFifo} {
		if _, err := Local(tarball(t, member{name: ours, body: "one"}, member{name: "x", kind: kind, link: ours}), t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "link or a device") {
			t.Errorf("%c: %v", kind, err)
		}
	}
}

func TestFolderRefusesLinks(t *testing.T) {
	dir := t.TempDir()
	os.Symlink("/bin/true", filepath.Join(dir, ours))
	if _, err := Local(dir, t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("%v", err)
	}
}

// mirror packs a release and gives the mirror's folder and the key.
func mirror(t *testing.T, versions ...string) (dir, key, secret string) {
	t.Helper()
	dir, secret = t.TempDir(), filepath.Join(t.TempDir(), "sign.key")
	key, err := MakeKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		file := write(t, "relay-plugin-foo", "program "+v)
		p := Parcel{Name: "foo", Version: v, Summary: "foos", Files: map[string]string{catalog.Platform: file, "plan9_mips": file}, SignKey: secret}
		out, err := Pack(dir, p)
		if err != nil || out.Key != key {
			t.Fatal(out, err)
		}
		if _, err := Pack(dir, p); err == nil {
			t.Error("a version was written twice")
		}
	}
	return dir, key, secret
}

func TestMirror(t *testing.T) {
	dir, key, _ := mirror(t, "1.2.0", "1.10.0", "1.9.0")
	_, other, _ := mirror(t)
	base := "file://" + dir
	for _, c := range []struct{ source, key, body, want string }{
		{base + "/foo", "", "program 1.10.0", ""},
		{base + "/foo", key, "program 1.10.0", ""},
		{base + "/foo@1.2.0", key, "program 1.2.0", ""},
		{base + "/foo/1.9.0", key, "program 1.9.0", ""},
		{base + "/foo_1.2.0.tar.gz", key, "program 1.2.0", ""},
		{base + "/foo", other, "", "not a signature"},
		{base + "/foo@../x", key, "", "no index.json"},
		{base + "/foo@3.0.0", key, "", "no version"},
		{base + "/bar", key, "", "no version"},
		{"file:///nowhere/foo", key, "", "no index.json"},
		{"http://127.0.0.1:1/foo", key, "", "only https"},
	} {
		r, err := Remote(context.Background(), c.source, "", t.TempDir(), c.key)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.source, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		if b, _ := os.ReadFile(r.Binary); string(b) != c.body || r.Key != key || !r.Signed || r.New != (c.key == "") || len(r.Hashes) != 2 {
			t.Errorf("%s: %q %+v", c.source, b, r)
		}
		r.Close()
	}
	// What is changed after it was signed is not taken, and neither is what nobody signed.
	sums := filepath.Join(dir, "foo", "1.10.0", "SHA256SUMS")
	b, _ := os.ReadFile(sums)
	os.WriteFile(sums, append(b, '\n'), 0o644)
	if _, err := Remote(context.Background(), base+"/foo", "", t.TempDir(), key); err == nil || !strings.Contains(err.Error(), "not a signature") {
		t.Errorf("changed sums: %v", err)
	}
	os.WriteFile(sums, b, 0o644)
	os.WriteFile(filepath.Join(dir, "foo", "1.10.0", "relay-plugin-foo_1.10.0_"+catalog.Platform), []byte("evil"), 0o755)
	if _, err := Remote(context.Background(), base+"/foo", "", t.TempDir(), key); err == nil || !strings.Contains(err.Error(), "SHA256SUMS says") {
		t.Errorf("changed file: %v", err)
	}
	os.Remove(filepath.Join(dir, "foo", "1.2.0", "SHA256SUMS.minisig"))
	if _, err := Remote(context.Background(), base+"/foo@1.2.0", "", t.TempDir(), key); err == nil || !strings.Contains(err.Error(), "has no SHA256SUMS.minisig") {
		t.Errorf("unsigned: %v", err)
	}
}

func TestEd25519(t *testing.T) {
	public, secret, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key := schemeEd25519 + base64.StdEncoding.EncodeToString(public)
	if got, err := ParseKey(key); err != nil || got != key {
		t.Fatal(got, err)
	}
	sums := sum("one") + "  " + ours + "\n"
	path := tarball(t, member{name: ours, body: "one"}, member{name: sumsFile, body: sums}, member{name: ed25519File, body: base64.StdEncoding.EncodeToString(ed25519.Sign(secret, []byte(sums)))})
	r, err := Remote(context.Background(), "file://"+path, "", t.TempDir(), key)
	if err != nil || !r.Signed || r.Key != key {
		t.Fatal(r, err)
	}
	r.Close()
	if _, err := Remote(context.Background(), "file://"+path, "", t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Errorf("a key that nobody knows: %v", err)
	}
	for _, bad := range []string{"", "ed25519:zz", "RWxx", "minisign:"} {
		if _, err := ParseKey(bad); err == nil {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}

func TestSource(t *testing.T) {
	for from, want := range map[string]string{"https://a.example/x/foo": "a.example/x/foo", "file:///srv/../m/foo": "file/srv/m/foo", "https://a.example:8443/%2e%2e/foo": "a.example_8443/foo", "": "local/foo"} {
		if got := Source(from, "foo"); got != want {
			t.Errorf("%s: %s", from, got)
		}
	}
}
