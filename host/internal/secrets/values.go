package secrets

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/paxiom/relay/host/internal/redact"
)

// Bounds of what is read of hidden files, for values that must not land.
const (
	maxFile   = 128 << 10
	maxFiles  = 400
	maxDepth  = 4
	maxValues = 2000
)

const (
	// minLabelled is the shortest value that counts where a name says that it is secret.
	minLabelled = 8
	// minToken is the shortest that counts by its look alone.
	minToken = 20
	// minEntropy is in bits for each character; words of a language have less.
	minEntropy = 3.0
)

var (
	token = regexp.MustCompile(`[A-Za-z0-9+/_=~-]{20,}`)
	uuid  = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	// inNetrc is how a password stands in a file without signs.
	inNetrc = regexp.MustCompile(`(?i)\b(password|passwd)\s+([^\s=:]+)`)
	// tokenFile are the files of an agent that hold its login, and not what was said.
	tokenFile = regexp.MustCompile(`(?i)(credentials|auth|oauth|token|hosts|apps|\.env)[^/]*$`)
	// public are files of keys that may be shown to anybody.
	public = regexp.MustCompile(`(?i)(\.pub|known_hosts[^/]*|authorized_keys[^/]*|/config|\.crt|\.cer|pubring[^/]*|trustdb[^/]*|\.log)$`)
)

// Value is a secret and where it comes from, as a person would say it.
type Value struct{ Text, From string }

// Values are the texts in these places that look like secrets, at most maxValues.
func Values(places []Place) (values []Value) {
	seen, left := map[string]bool{}, maxFiles
	for _, p := range places {
		if p.unread {
			continue
		}
		filepath.WalkDir(p.Path, func(path string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(p.Path, path)
			switch {
			case left <= 0 || len(values) >= maxValues:
				return fs.SkipAll
			case err != nil:
				return nil
			case d.IsDir() && (strings.Count(rel, "/") >= maxDepth || strings.EqualFold(d.Name(), "cache")):
				return fs.SkipDir
			case !d.Type().IsRegular() || public.MatchString(path) || len(p.Agents) > 0 && !tokenFile.MatchString(path):
				return nil
			}
			left--
			for _, v := range valuesIn(path) {
				if !seen[v] && len(values) < maxValues && !bytes.Contains(p.Instead, []byte(v)) {
					seen[v] = true
					values = append(values, Value{v, "a value of " + path})
				}
			}
			return nil
		})
	}
	return values
}

func valuesIn(path string) (values []string) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxFile))
	if bytes.IndexByte(text, 0) >= 0 {
		return nil // a database or a cache; what is in it has no text's form
	}
	for _, m := range append(setting.FindAllSubmatch(text, -1), inNetrc.FindAllSubmatch(text, -1)...) {
		v := m[len(m)-1]
		if plausible(v) && !variable.Match(v) && !bytes.Contains(v, []byte("://")) {
			values = append(values, string(v))
		}
	}
	for _, m := range userinfo.FindAllSubmatch(text, -1) {
		if _, password, ok := strings.Cut(string(m[1]), ":"); ok && plausible([]byte(password)) {
			values = append(values, password)
		} else if !ok {
			values = append(values, string(m[1]))
		}
	}
	for _, v := range token.FindAll(text, -1) {
		if looksSecret(v) {
			values = append(values, string(v))
		}
	}
	return values
}

// looksSecret reports whether a text is one that nobody writes by hand.
func looksSecret(v []byte) bool {
	v = bytes.Trim(v, "/=")
	if len(v) < minToken || uuid.Match(v) || bytes.HasPrefix(v, []byte("LS0tLS1CRUdJTiBDRVJU")) { // a certificate
		return false
	}
	lower, upper, digit := bytes.ContainsAny(v, "abcdefghijklmnopqrstuvwxyz"), bytes.ContainsAny(v, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), bytes.ContainsAny(v, "0123456789")
	if !digit || !lower && !upper {
		return false
	}
	return entropy(v) >= minEntropy && bytes.Count(v, []byte("/")) <= len(v)/20+1
}

// plausible reports whether a text that is called a secret may be looked for in a change:
// "postgres" is many people's password, and a word in many programs.
func plausible(v []byte) bool {
	letters := bytes.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.")
	return len(v) >= minLabelled && distinct(v) >= 5 && (len(letters) > 0 || len(v) >= minToken)
}

func distinct(v []byte) (n int) {
	var seen [256]bool
	for _, c := range v {
		if !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n
}

func entropy(v []byte) (bits float64) {
	var count [256]int
	for _, c := range v {
		count[c]++
	}
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(v))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// handed are the keys that this process gave to plugins.
var handed struct {
	sync.Mutex
	values []Value
}

// HandOut notes a key that a plugin is given under this name.
func HandOut(name, key string) {
	if key = strings.TrimSpace(key); len(key) >= minLabelled && distinct([]byte(key)) >= 5 {
		handed.Lock()
		defer handed.Unlock()
		handed.values = append(handed.values, Value{key, "the key " + name})
	}
}

// Handed are the keys that were handed out so far.
func Handed() []Value {
	handed.Lock()
	defer handed.Unlock()
	return slices.Clone(handed.values)
}

// Finder finds values in any of the forms in which a text may hold them. It is safe for
// concurrent use; the nil Finder finds nothing.
type Finder struct {
	at      map[uint64][]Value // forms by their first bytes
	maybe   []bool             // whether any of them may begin so: a change can be 100 MB
	longest int                // form, in bytes
	space   sync.Pool          // of *[2][]byte: a change can have 50,000 files
}

// slot is the place in maybe of what begins with these bytes.
func slot(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 >> 44 }

const (
	// window is how many bytes a form begins with that are looked up.
	window = 8
	// piece is how much of a text is looked through at a time, in bytes.
	piece = 256 << 10
)

// NewFinder makes one; nil when there is no value to find.
func NewFinder(values []Value) *Finder {
	f := &Finder{at: map[uint64][]Value{}, maybe: make([]bool, 1<<20)}
	for _, v := range values {
		for _, form := range redact.Forms(v.Text) {
			if len(form) < window {
				continue
			}
			key := head(form)
			f.at[key], f.maybe[slot(key)] = append(f.at[key], Value{form, v.From}), true
			f.longest = max(f.longest, len(form))
		}
	}
	if len(f.at) == 0 {
		return nil
	}
	return f
}

func head(form string) (key uint64) {
	for i := range window {
		key = key<<8 | uint64(form[i])
	}
	return key
}

// Find reads a text to its end, or to the first value in it. It gives where that value
// comes from and the line, counted from 1, where its form begins; from is "" for none. known
// says of a form that it may be there.
func (f *Finder) Find(r io.Reader, known func(form string) bool) (from string, line int, err error) {
	if f == nil {
		return "", 0, nil
	}
	line = 1
	over := 3 * f.longest // with line breaks in it
	space, _ := f.space.Get().(*[2][]byte)
	if space == nil {
		space = &[2][]byte{make([]byte, 0, piece+over), make([]byte, 0, piece+over)}
	}
	defer f.space.Put(space)
	buf, joined := space[0], space[1]
	for err == nil {
		var n int
		n, err = io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if at, from := f.in(buf, known); from != "" {
			return from, line + bytes.Count(buf[:at], []byte{'\n'}), nil
		}
		joined = joined[:0] // as programs wrap what they write
		for _, c := range buf {
			if c != '\n' && c != '\r' {
				joined = append(joined, c)
			}
		}
		if at, from := f.in(joined, known); from != "" {
			for _, c := range buf {
				switch {
				case c == '\n':
					line++
				case c == '\r':
				case at == 0:
					return from, line, nil
				default:
					at--
				}
			}
		}
		// A form may continue in the next piece.
		done := max(0, len(buf)-over+1)
		line += bytes.Count(buf[:done], []byte{'\n'})
		buf = buf[:copy(buf, buf[done:])]
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return "", 0, err
}

// in gives where the first form begins in text, and where its value comes from.
func (f *Finder) in(text []byte, known func(form string) bool) (at int, from string) {
	var key uint64
	for i, c := range text {
		key = key<<8 | uint64(c)
		if i < window-1 || !f.maybe[slot(key)] {
			continue
		}
		for _, form := range f.at[key] {
			at := i - window + 1
			if bytes.HasPrefix(text[at:], []byte(form.Text)) && (known == nil || !known(form.Text)) {
				return at, form.From
			}
		}
	}
	return 0, ""
}
