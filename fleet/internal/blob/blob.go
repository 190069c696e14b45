package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Max is the largest blob, in bytes.
const Max = 16 << 20

// Store is a folder of blobs.
type Store struct{ Dir string }

// Put keeps a text and gives its digest.
func (s Store) Put(b []byte) (string, error) {
	if len(b) > Max {
		return "", fmt.Errorf("%d bytes are more than the %d that a blob may have", len(b), Max)
	}
	sum := sha256.Sum256(b)
	digest := hex.EncodeToString(sum[:])
	path := s.path(digest)
	if _, err := os.Lstat(path); err == nil {
		return digest, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	return digest, os.Rename(f.Name(), path)
}

// Get gives the text of a digest, which it computes again: the folder is shared.
func (s Store) Get(digest string) ([]byte, error) {
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%q is no digest", digest)
	}
	f, err := os.Open(s.path(digest))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, Max+1))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("the blob %.12s was changed", digest)
	}
	return b, nil
}

func (s Store) path(digest string) string { return filepath.Join(s.Dir, digest[:2], digest) }
