package attest

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Signers are the keys that are believed: a file of allowed signers as ssh-keygen(1) and
// git have it.
type Signers []signer

type signer struct {
	names         []string // patterns
	key           ed25519.PublicKey
	namespaces    []string // patterns; nil for all
	after, before time.Time
}

// ParseSigners reads a file of allowed signers. Keys of other kinds and authorities of
// certificates are passed over, since relay signs with neither, and so are lines that can't be
// read, as ssh-keygen does; what is wrong with the first of those is an error where no key is left.
func ParseSigners(text string) (all Signers, err error) {
	for n, row := range slices.Collect(strings.Lines(text)) {
		row = strings.TrimSpace(row)
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		s, ok, bad := parseSigner(row)
		if bad != nil && err == nil {
			err = fmt.Errorf("line %d: %w", n+1, bad)
		}
		if ok {
			all = append(all, s)
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	if err == nil {
		err = errors.New("it has no ed25519 key")
	}
	return nil, err
}

func parseSigner(row string) (s signer, ok bool, err error) {
	fields := quoted(row)
	if len(fields) < 3 {
		return s, false, errors.New("it has no name, kind of key and key")
	}
	s.names = strings.Split(strings.Trim(fields[0], `"`), ",")
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

var option = regexp.MustCompile(`^(?i:(cert-authority)|(namespaces|valid-after|valid-before)="([^"]*)")(?:,|$)`)

func (s *signer) options(text string) (authority bool, err error) {
	seen := map[string]bool{}
	for text != "" {
		o := option.FindStringSubmatch(text)
		if o == nil || text == o[0] && strings.HasSuffix(text, ",") {
			return false, fmt.Errorf("the option %q is not known", text)
		}
		text = text[len(o[0]):]
		name := strings.ToLower(o[1] + o[2])
		if seen[name] && name != "cert-authority" {
			return false, fmt.Errorf("the option %q appears twice", name)
		}
		switch seen[name] = true; name {
		case "cert-authority":
			authority = true
		case "namespaces":
			s.namespaces = strings.Split(o[3], ",")
		case "valid-after":
			s.after, err = moment(o[3])
		case "valid-before":
			s.before, err = moment(o[3])
		}
		if err != nil {
			return false, err
		}
	}
	return authority, nil
}

// asRunes has a rune for each byte, since ssh-keygen compares bytes, which need not be UTF-8.
func asRunes(s string) string {
	var out []rune
	for i := range len(s) {
		out = append(out, rune(s[i]))
	}
	return string(out)
}

// listed reports whether a list of patterns has s: one fits, and none of those with a "!" in
// front. A pattern has * and ?.
func listed(patterns []string, s string) (yes bool) {
	s = asRunes(s)
	for _, p := range patterns {
		p, not := strings.CutPrefix(p, "!")
		glob := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(asRunes(p)))
		if ok, err := regexp.MatchString(`^(?s:`+glob+`)$`, s); err == nil && ok {
			if not {
				return false
			}
			yes = true
		}
	}
	return yes
}

// valid reports whether the key may sign at a time.
func (s *signer) valid(at time.Time) bool {
	return (s.after.IsZero() || !at.Before(s.after)) && (s.before.IsZero() || !at.After(s.before))
}

var momentForm = regexp.MustCompile(`^(\d{4})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?:([01]\d|2[0-3])([0-5]\d)([0-5]\d)?)?$`)

// moment reads a time as ssh-keygen does in UTC: YYYYMMDD, with HHMM or HHMMSS, and perhaps a Z. Without
// that ssh-keygen takes the machine's zone, and a file would say here what it does not say elsewhere. The
// 30th of February is the 2nd of March or the 1st, and what is not after the year 1969 is none.
func moment(s string) (time.Time, error) {
	if m := momentForm.FindStringSubmatch(strings.TrimSuffix(s, "Z")); m != nil {
		var n [7]int
		for i := 1; i < len(m); i++ {
			n[i], _ = strconv.Atoi(m[i]) // two or four digits, or none
		}
		if t := time.Date(n[1], time.Month(n[2]), n[3], n[4], n[5], n[6], 0, time.UTC); t.Unix() > 0 {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time", s)
}

// check gives the name of the signer of a message at a time, and the key's fingerprint.
func (all Signers) check(namespace string, message, sig []byte, at time.Time) (name, print string, err error) {
	key, plain, err := takeApart(namespace, sig)
	if err != nil {
		return "", "", err
	}
	print = fingerprint(key)
	if !ed25519.Verify(key, toSign(namespace, message), plain) {
		return "", print, errors.New("the signature does not fit what is signed")
	}
	err = errors.New("its key " + print + " is none of the signers")
	// As git does: the first line that has the key then names who it is, and any line can say
	// what they may sign.
	for _, s := range all {
		if !key.Equal(s.key) {
			continue
		}
		if !s.valid(at) {
			err = errors.New("the key of " + strings.Join(s.names, ",") + " was not valid then")
			continue
		}
		for _, name := range s.names {
			for _, s := range all {
				if name != "" && key.Equal(s.key) && s.valid(at) && listed(s.names, name) && (s.namespaces == nil || listed(s.namespaces, namespace)) {
					return name, print, nil
				}
			}
		}
		return "", print, errors.New("the signer " + strings.Join(s.names, ",") + " is not allowed to sign for " + namespace)
	}
	return "", print, err
}

// timeOf reads a time of a statement, which has one form, and which ssh-keygen can ask about.
func timeOf(s string) (time.Time, error) {
	at, err := time.Parse(Time, s)
	if err == nil && (at.UTC().Format(Time) != s || at.Unix() <= 0) {
		err = fmt.Errorf("%q is not a time in UTC, to the second", s)
	}
	return at, err
}
