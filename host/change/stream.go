package change

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxOwnCommits is how many commits of a builder are made again.
const maxOwnCommits = 100

const (
	modeLink      = 0o120000
	modeSubmodule = 0o160000
)

// ownCommit is one commit that a builder made, as git fast-export told it.
type ownCommit struct {
	message string
	ops     []fileOp
	tree    string // made by the host; "" until then
}

// fileOp sets or removes one path.
type fileOp struct {
	path string
	mode int64  // as git's; 0 removes
	data []byte // of a submodule the name of its commit
}

// stream reads what git fast-export prints. It was printed inside a box from objects
// that a builder could write: what is not expected is an error.
type stream struct {
	rest  []byte
	ref   string
	tip   string // what the next commit must come from
	blobs map[string][]byte
	out   []ownCommit
}

// parseStream gives the commits of ref on top of base, which must be one line of
// descent.
func parseStream(b []byte, ref, base string) ([]ownCommit, error) {
	s := &stream{rest: b, ref: ref, tip: base, blobs: map[string][]byte{}}
	for {
		line, err := s.line()
		if err != nil {
			return nil, err
		}
		switch line {
		case "", "feature done":
		case "done":
			if len(s.rest) > 0 {
				return nil, errors.New("there is more after the end")
			}
			return s.out, nil
		case "blob":
			err = s.blob()
		case "commit " + ref:
			err = s.commit()
		case "reset " + ref:
			if from, ok := s.next("from "); ok && from != s.tip {
				err = errNotForward
			}
		default:
			err = fmt.Errorf("%q is not expected", clip(oneLine(line), 80))
		}
		if err != nil {
			return nil, err
		}
	}
}

var errNotForward = errors.New("the builder's branch does not go forward from the base in one line, without merges")

// line takes one line, without its end.
func (s *stream) line() (string, error) {
	line, rest, ok := bytes.Cut(s.rest, []byte{'\n'})
	if !ok {
		return "", errors.New("it ends in the middle")
	}
	s.rest = rest
	return string(line), nil
}

// next takes a line if it begins so, and gives what follows.
func (s *stream) next(prefix string) (string, bool) {
	if !bytes.HasPrefix(s.rest, []byte(prefix)) {
		return "", false
	}
	line, err := s.line()
	return strings.TrimPrefix(line, prefix), err == nil
}

// data takes a counted text.
func (s *stream) data() ([]byte, error) {
	count, ok := s.next("data ")
	n, err := strconv.ParseUint(count, 10, 31)
	if !ok || err != nil || int(n) > len(s.rest) {
		return nil, errors.New("a text is missing")
	}
	out := s.rest[:n]
	s.rest = bytes.TrimPrefix(s.rest[n:], []byte{'\n'})
	return out, nil
}

// mark takes the name of a blob or of a commit.
func (s *stream) mark() (string, error) {
	m, ok := s.next("mark :")
	if _, err := strconv.ParseUint(m, 10, 31); !ok || err != nil {
		return "", errors.New("a mark is missing")
	}
	return ":" + m, nil
}

func (s *stream) blob() error {
	mark, err := s.mark()
	if err != nil {
		return err
	}
	if _, twice := s.blobs[mark]; twice {
		return fmt.Errorf("the mark %s appears twice", mark)
	}
	s.blobs[mark], err = s.data()
	return err
}

func (s *stream) commit() error {
	if len(s.out) == maxOwnCommits {
		return fmt.Errorf("the builder made more than %d commits", maxOwnCommits)
	}
	mark, err := s.mark()
	if err != nil {
		return err
	}
	s.next("author ")
	if _, ok := s.next("committer "); !ok {
		return errors.New("a commit without a committer")
	}
	s.next("encoding ")
	text, err := s.data()
	if err != nil {
		return err
	}
	if from, _ := s.next("from "); from != s.tip {
		return errNotForward
	}
	if _, merge := s.next("merge "); merge {
		return errors.New("the builder made a merge, which can't be made again")
	}
	s.tip = mark
	c := ownCommit{message: string(text)}
	seen := map[string]bool{}
	for {
		op, ok, err := s.op()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if seen[op.path] {
			return fmt.Errorf("%q is in one commit twice", op.path)
		}
		seen[op.path] = true
		c.ops = append(c.ops, op)
	}
	s.out = append(s.out, c)
	return nil
}

// op takes a line that sets or removes a path, if there is one.
func (s *stream) op() (op fileOp, ok bool, err error) {
	if name, ok := s.next("D "); ok {
		op.path, err = unquote(name)
		return op, true, err
	}
	line, ok := s.next("M ")
	if !ok {
		return op, false, nil
	}
	f := strings.SplitN(line, " ", 3)
	if len(f) != 3 {
		return op, false, errors.New("a line is cut off")
	}
	switch f[0] {
	case "100644", "100755", "120000", "160000":
		op.mode, _ = strconv.ParseInt(f[0], 8, 32)
	default:
		return op, false, fmt.Errorf("the mode %q is not known", f[0])
	}
	if op.mode == modeSubmodule {
		op.data = []byte(f[1])
	} else if op.data, ok = s.blobs[f[1]]; !ok {
		return op, false, errors.New("a file without content")
	}
	op.path, err = unquote(f[2])
	return op, true, err
}

// unquote gives the bytes of a path as git writes it.
func unquote(s string) (string, error) {
	bad := errors.New("a path can't be read")
	if !strings.HasPrefix(s, `"`) {
		if s == "" {
			return "", bad
		}
		return s, nil
	}
	s = s[1:]
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			if i != len(s)-1 || b.Len() == 0 {
				return "", bad
			}
			return b.String(), nil
		case c != '\\':
			b.WriteByte(c)
		case i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3':
			n, err := strconv.ParseUint(s[i+1:i+4], 8, 8)
			if err != nil {
				return "", bad
			}
			b.WriteByte(byte(n))
			i += 3
		default:
			i++
			if i == len(s) {
				return "", bad
			}
			at := strings.IndexByte(`abfnrtv\"`, s[i])
			if at < 0 {
				return "", bad
			}
			b.WriteByte("\a\b\f\n\r\t\v\\\""[at])
		}
	}
	return "", bad
}
