package release

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"aead.dev/minisign"

	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/judge"
)

// The schemes of publishers' keys, as the lock file writes them in front.
const (
	schemeMinisign = "minisign:"
	schemeEd25519  = "ed25519:"
)

// ParseKey reads a publisher's public key as a person gives it: with its scheme, as
// minisign prints it, or as a file with it. The result is as the lock file has it.
func ParseKey(text string) (string, error) {
	text = strings.TrimSpace(text)
	if who, ok := strings.CutPrefix(text, schemeSigstore); ok {
		return parseIdentity(who)
	}
	if b, err := beneath.ReadPlain(text, maxText); err == nil {
		text = strings.TrimSpace(string(b))
	}
	if raw, ok := strings.CutPrefix(text, schemeEd25519); ok {
		if _, err := rawKey(raw); err != nil {
			return "", err
		}
		return schemeEd25519 + raw, nil
	}
	var key minisign.PublicKey
	if err := key.UnmarshalText([]byte(strings.TrimPrefix(text, schemeMinisign))); err != nil {
		return "", fmt.Errorf("%.80q is not a public key: it must be one of minisign (RW…), ed25519:BASE64 or sigstore:ISSUER#IDENTITY", text)
	}
	return schemeMinisign + key.String(), nil
}

func rawKey(text string) (ed25519.PublicKey, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != ed25519.PublicKeySize {
		return nil, errors.New("an ed25519 key is 32 bytes in base64")
	}
	return b, nil
}

// checkSignature holds SHA256SUMS to the signature beside it. key is the publisher's; when
// it is not known yet, it is the one that came along, and New says so. A release without
// a signature passes only while no key is known.
func (r *Release) checkSignature(key string) error {
	sums, err := judge.ReadFile(filepath.Join(r.dir, sumsFile), maxText)
	if err != nil {
		return err
	}
	if key == "" {
		own, err := judge.ReadFile(filepath.Join(r.dir, keyFile), maxText)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // callers that need one look at Signed
		} else if err != nil {
			return err
		}
		if key, err = ParseKey(string(own)); err != nil {
			return bad(keyFile + ": " + err.Error())
		}
		r.New = true
	}
	file := minisigFile
	switch {
	case strings.HasPrefix(key, schemeEd25519):
		file = ed25519File
	case strings.HasPrefix(key, schemeSigstore):
		file = bundleFile
	}
	signature, err := judge.ReadFile(filepath.Join(r.dir, file), maxText)
	if errors.Is(err, fs.ErrNotExist) {
		return bad(fmt.Sprintf("it has no %s, and its publisher's key is %s", file, key))
	} else if err != nil {
		return err
	}
	if file == bundleFile {
		if err := checkBundle(key, filepath.Join(r.dir, sumsFile), filepath.Join(r.dir, bundleFile)); err != nil {
			return err
		}
	} else if !verify(key, sums, signature) {
		return bad(fmt.Sprintf("%s is not a signature of %s by the key %s", file, sumsFile, key))
	}
	r.Key, r.Signed = key, true
	return nil
}

func verify(key string, message, signature []byte) bool {
	if raw, ok := strings.CutPrefix(key, schemeEd25519); ok {
		pub, err := rawKey(raw)
		if b, bad := base64.StdEncoding.DecodeString(strings.TrimSpace(string(signature))); bad == nil {
			signature = b
		}
		return err == nil && len(signature) == ed25519.SignatureSize && ed25519.Verify(pub, message, signature)
	}
	var pub minisign.PublicKey
	return pub.UnmarshalText([]byte(strings.TrimPrefix(key, schemeMinisign))) == nil && minisign.Verify(pub, message, signature)
}
