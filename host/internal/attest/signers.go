package attest

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Signers are the keys that are believed: a file of allowed signers as ssh-keygen(1) and
// git have it.
type Signers []signer

type signer struct {
	name          string
	key           ed25519.PublicKey
	namespaces    []string // globs; nil for all
	after, before time.Time
}

// ParseSigners reads a file of allowed signers. Keys of other kinds and authorities of
// certificates are passed over: relay signs with neither.
func ParseSigners(text string) (Signers, error) {
	var all Signers
	for n, row := range slices.Collect(strings.Lines(text)) {
		row = strings.TrimSpace(row)
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		s, ok, err := parseSigner(row)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		if ok {
			all = append(all, s)
		}
	}
	return all, nil
}

func parseSigner(row string) (s signer, ok bool, err error) {
	fields := quoted(row)
	if len(fields) < 3 {
		return s, false, errors.New("it has no name, kind of key and key")
	}
	s.name = strings.Trim(fields[0], `"`)
	fields = fields[1:]
	if known := fields[0]; !strings.HasPrefix(known, "ssh-") && !strings.HasPrefix(known, "ecdsa-") && !strings.HasPrefix(known, "sk-") {
		if authority, err := s.options(known); err != nil || authority {
			return s, false, err
		}
		fields = fields[1:]
	}
	if len(fields) < 2 {
		return s, false, errors.New("it has no key")
	}
	if fields[0] != keyType {
		return s, false, nil
	}
	b, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil || len(b) != len(blob(make(ed25519.PublicKey, ed25519.PublicKeySize))) {
		return s, false, errors.New("the key can't be read")
	}
	s.key = ed25519.PublicKey(b[len(b)-ed25519.PublicKeySize:])
	if string(blob(s.key)) != string(b) {
		return s, false, errors.New("the key can't be read")
	}
	return s, true, nil
}

// quoted splits at blanks outside of quotes.
func quoted(s string) (fields []string) {
	in := false
	return strings.FieldsFunc(s, func(r rune) bool {
		if r == '"' {
			in = !in
		}
		return !in && (r == ' ' || r == '\t')
	})
}

func (s *signer) options(text string) (authority bool, err error) {
	in := false
	for _, o := range strings.FieldsFunc(text, func(r rune) bool {
		if r == '"' {
			in = !in
		}
		return !in && r == ','
	}) {
		name, value, _ := strings.Cut(o, "=")
		value = strings.Trim(value, `"`)
		switch strings.ToLower(name) {
		case "cert-authority":
			authority = true
		case "namespaces":
			s.namespaces = strings.Split(value, ",")
		case "valid-after":
			s.after, err = moment(value)
		case "valid-before":
			s.before, err = moment(value)
		default:
			err = fmt.Errorf("the option %q is not known", name)
		}
		if err != nil {
			return false, err
		}
	}
	return authority, nil
}

// moment reads a time as ssh-keygen does: YYYYMMDD, with HHMM or HHMMSS, in UTC with a Z.
func moment(s string) (time.Time, error) {
	where := time.Local
	digits, utc := strings.CutSuffix(s, "Z")
	if utc {
		where = time.UTC
	}
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if t, err := time.ParseInLocation(layout, digits, where); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time", s)
}

// check gives the name of the signer of a message at a time, and the key's fingerprint.
func (all Signers) check(message, sig []byte, at time.Time) (name, print string, err error) {
	key, plain, err := takeApart(sig)
	if err != nil {
		return "", "", err
	}
	print = fingerprint(key)
	if !ed25519.Verify(key, toSign(message), plain) {
		return "", print, errors.New("the signature does not fit what is signed")
	}
	err = errors.New("its key " + print + " is none of the signers")
	for _, s := range all {
		switch {
		case !key.Equal(s.key):
		case s.namespaces != nil && !slices.ContainsFunc(s.namespaces, func(glob string) bool { ok, _ := path.Match(glob, namespace); return ok }):
			err = errors.New("the signer " + s.name + " is not allowed to sign for " + namespace)
		case !s.after.IsZero() && at.Before(s.after) || !s.before.IsZero() && at.After(s.before):
			err = errors.New("the key of " + s.name + " was not valid then")
		default:
			return s.name, print, nil
		}
	}
	return "", print, err
}
