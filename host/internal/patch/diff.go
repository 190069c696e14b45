package patch

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/paxiom/relay/judge"
)

// contextLines is how many unchanged lines a hunk shows on each side.
const contextLines = 3

// Side is one state of a path in a patch.
type Side struct {
	Mode fs.FileMode // type and permission bits; 0: it is absent
	// Content is that of a file, or the target of a symbolic link.
	Content []byte
	// Unread: the content was too large to be read, and is only marked as differing.
	Unread bool
}

// Unified gives the change of one path. Binary content, and content larger than
// [judge.MaxFileSize], is only marked as differing. Of a change that git can't express
// (permission bits other than x, special files) there is nothing.
func Unified(path string, old, new []byte, oldMode, newMode fs.FileMode) []byte {
	var out bytes.Buffer
	writeDiff(&out, path, Side{Mode: oldMode, Content: old}, Side{Mode: newMode, Content: new})
	return out.Bytes()
}

func writeDiff(w io.Writer, path string, old, new Side) {
	out := bufio.NewWriter(w)
	om, nm := gitMode(old.Mode), gitMode(new.Mode)
	switch {
	case om != "" && nm != "" && (om == gitLink) != (nm == gitLink):
		// A change of type is a deletion and a new file.
		diffFile(out, path, old, Side{}, om, "")
		diffFile(out, path, Side{}, new, "", nm)
	case om != "" || nm != "":
		diffFile(out, path, old, new, om, nm)
	}
	out.Flush()
}

const gitLink = "120000"

// gitMode is how git writes a mode, "" for absent and for what git can't hold.
func gitMode(m fs.FileMode) string {
	switch {
	case m.Type() == fs.ModeSymlink:
		return gitLink
	case !m.IsRegular() || m == 0:
		return ""
	case m&0o100 != 0:
		return "100755"
	default:
		return "100644"
	}
}

func diffFile(out *bufio.Writer, path string, old, new Side, oldMode, newMode string) {
	unread := old.unread() || new.unread()
	same := !unread && bytes.Equal(old.Content, new.Content)
	if same && oldMode == newMode {
		return
	}
	a, b := cQuote("a/"+path), cQuote("b/"+path)
	fmt.Fprintf(out, "diff --git %s %s\n", a, b)
	switch {
	case oldMode == "":
		fmt.Fprintf(out, "new file mode %s\n", newMode)
		a = "/dev/null"
	case newMode == "":
		fmt.Fprintf(out, "deleted file mode %s\n", oldMode)
		b = "/dev/null"
	case oldMode != newMode:
		fmt.Fprintf(out, "old mode %s\nnew mode %s\n", oldMode, newMode)
	}
	switch {
	case same:
	case unread || bytes.IndexByte(old.Content, 0) >= 0 || bytes.IndexByte(new.Content, 0) >= 0:
		fmt.Fprintf(out, "Binary files %s and %s differ\n", a, b)
	default:
		fmt.Fprintf(out, "--- %s\n+++ %s\n", tabbed(a), tabbed(b))
		diffText(out, old.Content, new.Content)
	}
}

func (s Side) unread() bool { return s.Unread || len(s.Content) > judge.MaxFileSize }

// tabbed ends a name with a space in it by a tab, as git does, so that what follows
// can't be taken for a part of it.
func tabbed(name string) string {
	if strings.Contains(name, " ") && name[0] != '"' {
		return name + "\t"
	}
	return name
}

// cQuote quotes a name as git does when it holds a control character, a quote, a
// backslash or a byte that is not ASCII.
func cQuote(name string) string {
	plain := func(c byte) bool { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' }
	var q strings.Builder
	q.WriteByte('"')
	quoted := false
	for i := range len(name) {
		c := name[i]
		if plain(c) {
			q.WriteByte(c)
			continue
		}
		quoted = true
		if k := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); k >= 0 {
			q.WriteByte('\\')
			q.WriteByte(`abtnvfr"\`[k])
		} else {
			fmt.Fprintf(&q, "\\%03o", c)
		}
	}
	if !quoted {
		return name
	}
	return q.String() + `"`
}

// diffText writes the hunks of two texts that differ.
func diffText(out *bufio.Writer, a, b []byte) {
	h := hunks{out: out, a: a, b: b}
	es := edits(a, b)
	for len(es) > 0 {
		n := 1
		for n < len(es) && bytes.Count(a[es[n-1].a1:es[n].a0], []byte{'\n'}) <= 2*contextLines {
			n++
		}
		h.write(es[:n])
		es = es[n:]
	}
}

// hunks writes hunks in order and keeps count of the lines.
type hunks struct {
	out          *bufio.Writer
	a, b         []byte
	posA, posB   int // bytes whose lines are counted
	lineA, lineB int // lines before them
}

func (h *hunks) write(es []edit) {
	first, last := es[0], es[len(es)-1]
	start := back(h.a, first.a0, contextLines)
	end := last.a1
	for range contextLines {
		end = lineEnd(h.a, end)
	}
	startB, endB := first.b0-(first.a0-start), last.b1+(end-last.a1)
	h.lineA += bytes.Count(h.a[h.posA:start], []byte{'\n'})
	h.lineB += bytes.Count(h.b[h.posB:startB], []byte{'\n'})
	h.posA, h.posB = start, startB
	fmt.Fprintf(h.out, "@@ -%s +%s @@\n", extent(h.lineA, lineNumber(h.a[start:end])), extent(h.lineB, lineNumber(h.b[startB:endB])))
	at := start
	for _, e := range es {
		h.lines(' ', h.a[at:e.a0])
		h.lines('-', h.a[e.a0:e.a1])
		h.lines('+', h.b[e.b0:e.b1])
		at = e.a1
	}
	h.lines(' ', h.a[at:end])
}

// back gives the beginning of the n-th line before the line that begins at i.
func back(text []byte, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		i = bytes.LastIndexByte(text[:i-1], '\n') + 1
	}
	return i
}

// extent is a hunk's place: the first line, 1-based, or the one before an empty place.
func extent(before, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", before)
	}
	return fmt.Sprintf("%d,%d", before+1, n)
}

func (h *hunks) lines(mark byte, text []byte) {
	for i := 0; i < len(text); {
		end := lineEnd(text, i)
		h.out.WriteByte(mark)
		h.out.Write(text[i:end])
		i = end
	}
	if n := len(text); n > 0 && text[n-1] != '\n' {
		h.out.WriteString("\n\\ No newline at end of file\n")
	}
}
