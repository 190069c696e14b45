package blob

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
)

// overhead is what encryption adds to a text: a nonce and a tag.
const overhead = 12 + 16

// sealed encrypts with AES-256-GCM, bound to the name, and names by HMAC-SHA-256.
type sealed struct {
	aead cipher.AEAD
	mac  []byte
}

// readKey makes one of a file with at least 32 bytes that only its owner reads.
func readKey(file string) (*sealed, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("the key of the blobs can't be read: %w (fix: `openssl rand -hex 32 >%s` makes one, which all workers need)", err, file)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others can read the key of the blobs, %s (fix: `chmod 600 %s`)", file, file)
	}
	b, err := os.ReadFile(file)
	if b = bytes.TrimSpace(b); err == nil && len(b) < 32 {
		err = fmt.Errorf("it has %d characters", len(b))
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no key of blobs: %w (fix: `openssl rand -hex 32 >%s` makes one)", file, err, file)
	}
	s := &sealed{}
	key, err := hkdf.Key(sha256.New, b, nil, "relay fleet: texts of blobs", 32)
	if err != nil {
		return nil, err
	}
	if s.mac, err = hkdf.Key(sha256.New, b, nil, "relay fleet: names of blobs", 32); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	s.aead, err = cipher.NewGCMWithRandomNonce(block)
	return s, err
}

func (s *sealed) digest(b []byte) string {
	h := hmac.New(sha256.New, s.mac)
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

func (s *sealed) close(name string, b []byte) []byte { return s.aead.Seal(nil, nil, b, []byte(name)) }

func (s *sealed) open(name string, b []byte) ([]byte, error) {
	return s.aead.Open(nil, nil, b, []byte(name))
}
