package modproxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/sumdb/note"
	modzip "golang.org/x/mod/zip"
)

// Proxy serves modules and the database.
type Proxy struct {
	// URL is for GOPROXY, Verifier for GOSUMDB.
	URL, Verifier string

	server *httptest.Server
	mu     sync.Mutex
	files  map[string][]byte // by the path of the request
	sums   map[string]string // "path@version" → its lines of a go.sum
	cache  http.Handler      // of what was not published here
}

const database = "sum.example.org"

// Start begins to serve; nothing is published yet.
func Start() (*Proxy, error) {
	signer, verifier, err := note.GenerateKey(nil, database)
	if err != nil {
		return nil, err
	}
	p := &Proxy{Verifier: verifier, files: map[string][]byte{}, sums: map[string]string{}, cache: http.NotFoundHandler()}
	mux := http.NewServeMux()
	mux.HandleFunc("/sumdb/"+database+"/supported", func(http.ResponseWriter, *http.Request) {})
	mux.Handle("/sumdb/"+database+"/", http.StripPrefix("/sumdb/"+database, sumdb.NewServer(sumdb.NewTestServer(signer, p.vouch))))
	mux.HandleFunc("/", p.serve)
	p.server = httptest.NewServer(mux)
	p.URL = p.server.URL
	return p, nil
}

// Close ends it.
func (p *Proxy) Close() { p.server.Close() }

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	b, ok := p.files[r.URL.Path]
	cache := p.cache
	p.mu.Unlock()
	if !ok {
		cache.ServeHTTP(w, r)
		return
	}
	w.Write(b)
}

// vouch is what the database says of a version.
func (p *Proxy) vouch(path, version string) ([]byte, error) {
	if lines := p.Sums(path, version); lines != "" {
		return []byte(lines), nil
	}
	return nil, fs.ErrNotExist
}

// Sums are the lines of a go.sum that the database has for a version, "" for none.
func (p *Proxy) Sums(path, version string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sums[path+"@"+version]
}

// Forget takes a version out of the database. The proxy continues to serve it.
func (p *Proxy) Forget(path, version string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sums, path+"@"+version)
}

// Lend serves whatever is not published from the module cache of this machine, as long as
// the go.sum vouches for it.
func (p *Proxy) Lend(modcache, gosum string) error {
	text, err := os.ReadFile(gosum)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache = http.FileServer(http.Dir(filepath.Join(modcache, "cache", "download")))
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 3 {
			p.sums[words[0]+"@"+strings.TrimSuffix(words[1], "/go.mod")] += line
		}
	}
	return nil
}

// Publish puts a module with these files into the proxy, and into the database unless that
// has the version: what is published twice is tampered with. Without a go.mod among the
// files it gets one.
func (p *Proxy) Publish(path, version string, files map[string][]byte) error {
	if files["go.mod"] == nil {
		files["go.mod"] = []byte("module " + path + "\n\ngo 1.21\n")
	}
	dir, err := os.MkdirTemp("", "modproxy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tree := filepath.Join(dir, "tree")
	for name, text := range files {
		at := filepath.Join(tree, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, text, 0o644)); err != nil {
			return err
		}
	}
	var zipped bytes.Buffer
	if err := modzip.CreateFromDir(&zipped, module.Version{Path: path, Version: version}, tree); err != nil {
		return err
	}
	lines, err := sumsOf(path, version, files["go.mod"], zipped.Bytes(), filepath.Join(dir, "module.zip"))
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := "/" + path + "/@v/" + version
	p.files[at+".zip"], p.files[at+".mod"] = zipped.Bytes(), files["go.mod"]
	p.files[at+".info"] = fmt.Appendf(nil, `{"Version":%q,"Time":"2026-01-02T03:04:05Z"}`, version)
	p.files["/"+path+"/@latest"] = p.files[at+".info"]
	p.files["/"+path+"/@v/list"] = append(p.files["/"+path+"/@v/list"], version+"\n"...)
	if p.sums[path+"@"+version] == "" {
		p.sums[path+"@"+version] = lines
	}
	return nil
}

// sumsOf makes the lines of a go.sum. The zip is written to a file, since only files are
// hashed.
func sumsOf(path, version string, gomod, zipped []byte, file string) (string, error) {
	if err := os.WriteFile(file, zipped, 0o644); err != nil {
		return "", err
	}
	whole, err := dirhash.HashZip(file, dirhash.Hash1)
	if err != nil {
		return "", err
	}
	two := sha256.Sum256(fmt.Appendf(nil, "%x  go.mod\n", sha256.Sum256(gomod)))
	return fmt.Sprintf("%s %s %s\n%s %s/go.mod h1:%s\n", path, version, whole, path, version, base64.StdEncoding.EncodeToString(two[:])), nil
}
