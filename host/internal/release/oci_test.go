package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// container is a registry with one public repository. Reading it takes an anonymous token.
type container struct {
	t       *testing.T
	url     string
	tags    map[string][]byte // manifests
	blobs   map[string][]byte
	private bool
}

func (c *container) push(tag, folder string) (digest string) {
	c.t.Helper()
	type layer struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Annotations map[string]string `json:"annotations"`
	}
	var layers []layer
	all, err := os.ReadDir(folder)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range all {
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			c.t.Fatal(err)
		}
		layers = append(layers, layer{"application/octet-stream", c.keep(b), map[string]string{titleKey: e.Name()}})
	}
	manifest, _ := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": manifestOCI, "layers": layers})
	digest = c.keep(manifest)
	c.tags[tag], c.tags[digest] = manifest, manifest
	return digest
}

func (c *container) keep(b []byte) string {
	sum := sha256.Sum256(b)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	c.blobs[digest] = b
	return digest
}

func (c *container) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const repo = "/v2/acme/plugins/foo/"
	if r.URL.Path == "/token" {
		if r.URL.Query().Get("scope") != "repository:acme/plugins/foo:pull" || c.private {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"token": "for-readers"}`)
		return
	}
	if r.Header.Get("Authorization") != "Bearer for-readers" && !strings.HasPrefix(r.URL.Path, "/store/") {
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+c.url+`/token",service="registry",scope="repository:acme/plugins/foo:pull"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	kind, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, repo), "/")
	switch {
	case kind == "tags" && r.URL.Query().Get("last") == "":
		w.Header().Set("Link", `</v2/acme/plugins/foo/tags/list?n=1000&last=1.2.0>; rel="next"`)
		fmt.Fprint(w, `{"tags": ["latest", "1.2.0", "1.9.0-rc1"]}`)
	case kind == "tags":
		fmt.Fprint(w, `{"tags": ["v1.10.0"]}`)
	case kind == "manifests" && c.tags[name] != nil && r.Header.Get("Accept") == manifestOCI:
		w.Write(c.tags[name])
	case kind == "blobs" && c.blobs[name] != nil:
		http.Redirect(w, r, c.url+"/store/"+name, http.StatusTemporaryRedirect)
	case strings.HasPrefix(r.URL.Path, "/store/"):
		w.Write(c.blobs[strings.TrimPrefix(r.URL.Path, "/store/")])
	default:
		http.NotFound(w, r)
	}
}

// A release in a registry of containers is taken by its tag, the newest version, or a digest, and
// held to the same signature as any other.
func TestRegistry(t *testing.T) {
	dir, key, _ := mirror(t, "1.2.0", "1.10.0")
	c := &container{t: t, tags: map[string][]byte{}, blobs: map[string][]byte{}}
	server := httptest.NewTLSServer(c)
	defer server.Close()
	c.url = server.URL
	was := client.Transport
	client.Transport = server.Client().Transport
	defer func() { client.Transport = was }()
	old := c.push("1.2.0", filepath.Join(dir, "foo", "1.2.0"))
	c.push("v1.10.0", filepath.Join(dir, "foo", "1.10.0"))
	c.push("empty", t.TempDir())
	swapped := c.push("forged", filepath.Join(dir, "foo", "1.10.0"))
	for digest, b := range c.blobs {
		if string(b) == "program 1.10.0" {
			c.blobs["sha256:forged"] = []byte("program of somebody")
			c.tags["forged"] = []byte(strings.ReplaceAll(string(c.tags["forged"]), digest, "sha256:forged"))
		}
	}
	c.tags[swapped] = c.tags["1.2.0"]
	from := strings.Replace(server.URL, "https", "oci", 1) + "/acme/plugins/foo"
	for source, want := range map[string]string{
		"":                     "program 1.10.0",
		":1.2.0":               "program 1.2.0",
		"@1.2.0":               "program 1.2.0",
		":v1.10.0":             "program 1.10.0",
		"@1.10.0":              "program 1.10.0",
		"@" + old:              "program 1.2.0",
		":3.0.0":               "has no tag 3.0.0",
		":empty":               "has no SHA256SUMS",
		"@" + swapped:          "another manifest",
		":forged":              "SHA256SUMS",
		"/../foo":              "is not oci://HOST/REPOSITORY",
		"-of-another/registry": "not public",
	} {
		r, err := Remote(context.Background(), from+source, "", t.TempDir(), key)
		if err != nil {
			if strings.HasPrefix(want, "program") || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", source, err)
			}
			continue
		}
		b, err := os.ReadFile(r.Binary)
		if err != nil || string(b) != want || r.From != from || !r.Signed {
			t.Errorf("%q: %q %v %+v", source, b, err, r)
		}
		r.Close()
	}
	known, err := Known(context.Background(), from, t.TempDir(), "")
	if err != nil || known.Newest != "1.10.0" {
		t.Errorf("newest: %+v %v", known, err)
	}
	if at := Source("oci://ghcr.example/acme/foo", "foo"); at != "ghcr.example/acme/foo" {
		t.Errorf("source: %q", at)
	}
	c.private = true
	if _, err := Known(context.Background(), from, t.TempDir(), ""); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a registry that wants a login: %v", err)
	}
}
