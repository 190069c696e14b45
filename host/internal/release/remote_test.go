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
	index, err := ReadIndex(context.Background(), server.URL+"/")
	if err != nil || index.Plugins["foo"].Newest() != "1.10.0" {
		t.Errorf("%+v %v", index, err)
	}
}
