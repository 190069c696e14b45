package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Max is the largest blob, in bytes.
const Max = 16 << 20

// Store keeps texts. Its zero value has no place.
type Store struct {
	at   place
	seal *sealed // nil: as they are
}

// place is where they lie.
type place interface {
	has(name string) bool
	put(name string, b []byte) error
	get(name string, most int64) ([]byte, error)
}

// Open gives the store at a folder or at s3://BUCKET/PREFIX. With a file of a key, what lies there is encrypted.
func Open(at, keyFile string) (s Store, err error) {
	if keyFile != "" {
		if s.seal, err = readKey(keyFile); err != nil {
			return s, err
		}
	}
	if strings.HasPrefix(at, "s3://") {
		s.at, err = openBucket(at)
	} else {
		s.at = folder(at)
	}
	return s, err
}

// Dir is the folder of a store that is one, and "" otherwise.
func (s Store) Dir() string {
	f, _ := s.at.(folder)
	return string(f)
}

// Put keeps a text and gives its digest.
func (s Store) Put(b []byte) (string, error) {
	if len(b) > Max {
		return "", fmt.Errorf("%d bytes are more than the %d that a blob may have", len(b), Max)
	}
	digest := s.digest(b)
	if s.at.has(digest) {
		return digest, nil
	}
	if s.seal != nil {
		b = s.seal.close(digest, b)
	}
	return digest, s.at.put(digest, b)
}

// Get gives the text of a digest, which it computes again: the place is shared.
func (s Store) Get(digest string) ([]byte, error) {
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%q is no digest", digest)
	}
	b, err := s.at.get(digest, Max+overhead)
	if err != nil {
		return nil, err
	}
	if s.seal != nil {
		if b, err = s.seal.open(digest, b); err != nil {
			return nil, fmt.Errorf("the blob %.12s can't be opened with this key (fix: name the key that the other workers have with --blobs-key)", digest)
		}
	}
	if s.digest(b) != digest {
		return nil, errors.New("the blob " + digest[:12] + " was changed, or is encrypted (fix: name the key that the other workers have with --blobs-key)")
	}
	return b, nil
}

// digest is what a history has of a text: with a key it tells nothing to those who guess the text.
func (s Store) digest(b []byte) string {
	if s.seal != nil {
		return s.seal.digest(b)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
