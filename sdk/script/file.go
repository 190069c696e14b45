package script

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// MaxBytes is the most that Load reads from all files of a script together.
const MaxBytes = 64 << 20

// Parse reads one script document. Unknown keys, anything after the document and
// a call that breaks a rule are errors that name the place.
func Parse(b []byte) (*Script, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var s Script
	if err := dec.Decode(&s); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after the script's closing brace")
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return &s, nil
}

// Load reads a script file, or every *.json file of a folder in the order of
// their names. A script without calls is an error.
func Load(path string) (*Script, error) {
	files, err := scriptFiles(path)
	if err != nil {
		return nil, err
	}
	all := &Script{Version: Version}
	left := int64(MaxBytes)
	for _, name := range files {
		b, err := readUpTo(name, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(b))
		one, err := Parse(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all.Note = cmp.Or(all.Note, one.Note)
		all.Calls = append(all.Calls, one.Calls...)
	}
	if len(all.Calls) == 0 {
		return nil, fmt.Errorf("%s: the script has no calls", path)
	}
	return all, nil
}

func scriptFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".json") {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, nil
}

func readUpTo(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s: the script is larger than %d MiB", name, MaxBytes>>20)
	}
	return b, nil
}

var (
	recorded  = regexp.MustCompile(`^(\d{6})-.*\.json$`)
	notInName = regexp.MustCompile(`[^a-z0-9]+`)
)

// Append writes the call as the next file of the folder, which it makes when it
// is missing, and returns the file's name. Files are named NNNNNN-ROLE.json, are
// complete when they appear, and are never overwritten.
func Append(dir string, c Call) (string, error) {
	if err := c.validate(); err != nil {
		return "", err
	}
	b, err := json.MarshalIndent(Script{Version: Version, Calls: []Call{c}}, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.CreateTemp(dir, ".call-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(b, '\n'))
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", err
	}
	if err := os.Chmod(tmp.Name(), 0o644); err != nil {
		return "", err
	}
	return publish(tmp.Name(), dir, roleName(c))
}

func roleName(c Call) string {
	role := ""
	if c.Asked != nil {
		role = c.Asked.Role
	}
	role = strings.Trim(notInName.ReplaceAllString(strings.ToLower(role), "-"), "-")
	if role == "" {
		return "call"
	}
	return role
}

// publish links the finished file to the next free number; link fails when the
// name exists, so a recording is never overwritten.
func publish(tmp, dir, role string) (string, error) {
	last, err := lastNumber(dir)
	if err != nil {
		return "", err
	}
	for n := last + 1; ; n++ {
		name := filepath.Join(dir, fmt.Sprintf("%06d-%s.json", n, role))
		err := os.Link(tmp, name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return name, err
	}
}

func lastNumber(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	last := 0
	for _, e := range entries {
		m := recorded.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil {
			last = max(last, n)
		}
	}
	return last, nil
}
