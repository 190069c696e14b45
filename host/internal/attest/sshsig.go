package attest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// The namespaces keep signatures of relay's apart from those for anything else, and a yes from a word
// about what has landed: the key of a person who approves a change vouches for no commit.
const (
	namespace         = "relay-attestation"
	approvalNamespace = "relay-approval"
)

// namespaceOf is that for payloads of a kind.
func namespaceOf(kind string) string {
	if kind == approvalType {
		return approvalNamespace
	}
	return namespace
}

const (
	magic   = "SSHSIG"
	keyType = "ssh-ed25519"
	hashAlg = "sha512"
)

var errSig = errors.New("the signature is not an SSH signature by an ed25519 key for what relay asks it for")

// str is a string as SSH writes it.
func str[T ~string | ~[]byte](parts ...T) []byte {
	var out []byte
	for _, p := range parts {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(p))), p...)
	}
	return out
}

// blob is a public key as SSH writes it.
func blob(key ed25519.PublicKey) []byte { return append(str(keyType), str(key)...) }

// fingerprint is how SSH names a key.
func fingerprint(key ed25519.PublicKey) string {
	s := sha256.Sum256(blob(key))
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(s[:])
}

// toSign is what a key signs for a message.
func toSign(namespace string, message []byte) []byte {
	h := sha512.Sum512(message)
	return append(append([]byte(magic), str(namespace, "", hashAlg)...), str(h[:])...)
}

// putTogether makes the signature that ssh-keygen would write.
func putTogether(namespace string, key ed25519.PublicKey, sig []byte) []byte {
	out := binary.BigEndian.AppendUint32([]byte(magic), 1)
	out = append(out, str(blob(key))...)
	out = append(out, str(namespace, "", hashAlg)...)
	return append(out, str(append(str(keyType), str(sig)...))...)
}

// takeApart gives the key and the plain signature. There is one spelling of each.
func takeApart(namespace string, b []byte) (key ed25519.PublicKey, sig []byte, err error) {
	if len(b) > 4096 || len(b) < len(magic)+4+4+4+len(keyType)+4+ed25519.PublicKeySize+ed25519.SignatureSize {
		return nil, nil, errSig
	}
	at := len(magic) + 4 + 4 + 4 + len(keyType) + 4
	key = ed25519.PublicKey(b[at : at+ed25519.PublicKeySize])
	sig = b[len(b)-ed25519.SignatureSize:]
	if !bytes.Equal(putTogether(namespace, key, sig), b) {
		return nil, nil, errSig
	}
	return key, sig, nil
}
