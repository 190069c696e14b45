package blob

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// What is put comes back, from a folder and from a bucket, with a key and without.
func TestStores(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("relay"); err != nil {
		t.Fatal(err)
	}
	s3 := httptest.NewServer(gofakes3.New(backend).Server())
	defer s3.Close()
	for name, v := range map[string]string{"AWS_ENDPOINT_URL_S3": s3.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"} {
		t.Setenv(name, v)
	}
	key := newKey(t, strings.Repeat("k", 32))
	for _, at := range []string{t.TempDir(), "s3://relay/fleet"} {
		for _, key := range []string{"", key} {
			s := open(t, at, key)
			text := []byte("a canary of " + key)
			digest, err := s.Put(text)
			again, err2 := s.Put(text)
			if err = errors.Join(err, err2); err != nil || digest != again {
				t.Fatal(digest, again, err)
			}
			if b, err := s.Get(digest); err != nil || !bytes.Equal(b, text) {
				t.Errorf("%s %q: %q %v", at, key, b, err)
			}
			if _, err := s.Get(strings.Repeat("0", 64)); err == nil {
				t.Error("it has what was not put")
			}
			if raw, err := s.at.get(digest, Max); err != nil || bytes.Contains(raw, []byte("canary")) != (key == "") {
				t.Errorf("%s %q: it lies there as %q, %v", at, key, raw, err)
			}
		}
	}
}

// Another key opens nothing, one text in the place of another is seen, and the digests of two keys differ: neither the place
// nor the history tells those who guess a text.
func TestKeys(t *testing.T) {
	dir := t.TempDir()
	a, b, none := open(t, dir, newKey(t, strings.Repeat("a", 32))), open(t, dir, newKey(t, strings.Repeat("b", 32))), open(t, dir, "")
	one, err := a.Put([]byte("yes"))
	two, err2 := a.Put([]byte("no"))
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if b.digest([]byte("yes")) == one || none.digest([]byte("yes")) == one {
		t.Error("the digest can be guessed")
	}
	for _, s := range []Store{b, none} {
		if _, err := s.Get(one); err == nil || !strings.Contains(err.Error(), "--blobs-key") {
			t.Error(err)
		}
	}
	raw, err := os.ReadFile(folder(dir).path(two))
	if err = errors.Join(err, os.WriteFile(folder(dir).path(one), raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	if text, err := a.Get(one); err == nil {
		t.Errorf("it is %q now", text)
	}
}

// A key that others can read, that is too short or that is not there is refused with the command that helps.
func TestBadKeys(t *testing.T) {
	short := newKey(t, "short")
	public := newKey(t, strings.Repeat("k", 32))
	if err := os.Chmod(public, 0o644); err != nil {
		t.Fatal(err)
	}
	for file, part := range map[string]string{short: "openssl rand", public: "chmod 600", filepath.Join(t.TempDir(), "none"): "openssl rand"} {
		if _, err := Open(t.TempDir(), file); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", file, err)
		}
	}
	if _, err := Open("s3://", ""); err == nil {
		t.Error("that is no bucket")
	}
	s := open(t, t.TempDir(), "")
	if _, err := s.Get(strings.Repeat("0", 64)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func newKey(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func open(t *testing.T, at, key string) Store {
	t.Helper()
	s, err := Open(at, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
