package release

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// A mirror behind TLS is taken by the same rules as a folder; nothing leads from it to a
// place where somebody could look in, and what it says of itself is not believed.
func TestHTTPS(t *testing.T) {
	dir, key, _ := mirror(t, "1.2.0", "1.10.0")
	files := http.FileServer(http.Dir(dir))
	plain := httptest.NewServer(files)
	defer plain.Close()
	var asked []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		switch rest, _ := strings.CutPrefix(r.URL.Path, "/"); {
		case strings.HasPrefix(rest, "moved/"):
			http.Redirect(w, r, "/"+strings.TrimPrefix(rest, "moved/"), http.StatusFound)
		case strings.HasPrefix(rest, "down/"):
			http.Redirect(w, r, plain.URL+"/"+strings.TrimPrefix(rest, "down/"), http.StatusFound)
		case strings.HasPrefix(rest, "round/"):
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		case strings.HasPrefix(rest, "sick/"):
			http.Error(w, "no", http.StatusInternalServerError)
		case strings.HasPrefix(rest, "cut/"):
			w.Header().Set("Content-Length", "1000")
			w.Write([]byte("half"))
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	server.Config.ErrorLog = nil
	take := func(source, key string) (string, error) {
		r, err := Remote(context.Background(), server.URL+source, "", t.TempDir(), key)
		if err != nil {
			return "", err
		}
		defer r.Close()
		b, err := os.ReadFile(r.Binary)
		if r.From != server.URL+strings.TrimSuffix(source, "@1.2.0") || !r.Signed || r.New != (key == "") {
			t.Errorf("%s: %+v", source, r)
		}
		return string(b), err
	}
	if _, err := take("/foo", key); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody stands for: %v", err)
	}
	if len(asked) > 0 {
		t.Errorf("it was asked %v all the same", asked)
	}
	was := client.Transport
	client.Transport = server.Client().Transport
	defer func() { client.Transport = was }()
	for _, c := range []struct{ source, body, refused string }{
		{source: "/foo", body: "program 1.10.0"},
		{source: "/foo@1.2.0", body: "program 1.2.0"},
		{source: "/foo_1.2.0.tar.gz", body: "program 1.2.0"},
		{source: "/moved/foo", body: "program 1.10.0"},
		{source: "/nothing/foo", refused: "no index.json"},
		{source: "/down/foo", refused: "it leads on to http://"},
		{source: "/round/foo", refused: "it leads on to https://"},
		{source: "/sick/foo", refused: "500 Internal Server Error"},
		{source: "/cut/foo", refused: "unexpected EOF"},
		{source: "/cut/foo.tar.gz", refused: "unexpected EOF"},
	} {
		for _, k := range []string{key, ""} {
			body, err := take(c.source, k)
			if (err != nil) != (c.refused != "") || body != c.body || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %q %v", c.source, body, err)
			}
		}
	}
	index, err := ReadIndex(context.Background(), server.URL+"/", "")
	if err != nil || index.Plugins["foo"].Newest() != "1.10.0" {
		t.Errorf("%+v %v", index, err)
	}
}

// A repository's release on GitHub is the folder of a release: its assets are the files.
func TestGitHub(t *testing.T) {
	dir, key, _ := mirror(t, "1.2.0", "1.10.0")
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for from, to := range map[string]string{"latest/download/": "1.10.0", "download/v1.10.0/": "1.10.0", "download/v1.2.0/": "1.2.0"} {
			if name, ok := strings.CutPrefix(r.URL.Path, "/some-one/foo/releases/"+from); ok {
				http.ServeFile(w, r, dir+"/foo/"+to+"/"+name)
				return
			}
		}
		if r.URL.Path == "/some-one/foo/releases/latest" {
			http.Redirect(w, r, "/some-one/foo/releases/tag/v1.10.0", http.StatusFound)
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	wasT, wasG := client.Transport, gitHub
	client.Transport, gitHub = server.Client().Transport, server.URL
	defer func() { client.Transport, gitHub = wasT, wasG }()
	for _, c := range []struct{ source, version, body, refused string }{
		{source: "gh:some-one/foo", body: "program 1.10.0"},
		{source: "gh:some-one/foo@v1.2.0", body: "program 1.2.0"},
		{source: "gh:some-one/foo", version: "1.2.0", body: "program 1.2.0"}, // what is pinned is put back
		{source: "gh:some-one/foo@v9.9.9", refused: "no release v9.9.9"},
		{source: "gh:some-one/none", refused: "no release with SHA256SUMS"},
		{source: "gh:some-one", refused: "not gh:OWNER/REPO"},
		{source: "gh:../some-one/foo", refused: "not gh:OWNER/REPO"},
	} {
		r, err := Remote(context.Background(), c.source, c.version, t.TempDir(), key)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v", c.source, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		b, err := os.ReadFile(r.Binary)
		if err != nil || string(b) != c.body || r.From != "gh:some-one/foo" || Source(r.From, "foo") != "github.com/some-one/foo" {
			t.Errorf("%s: %q %v %+v", c.source, b, err, r)
		}
		r.Close()
	}
	if v, err := Known(context.Background(), "gh:some-one/foo", t.TempDir(), ""); err != nil || v.Newest != "1.10.0" {
		t.Errorf("the newest is %+v, %v", v, err)
	}
}
