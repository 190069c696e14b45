package judge

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func numbered(prefix string, n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%s line %d\n", prefix, i)
	}
	return b.Bytes()
}

func TestCountLines(t *testing.T) {
	t.Parallel()
	base := string(numbered("a", 60))
	long := strings.Repeat("x", 1000) + "\n"
	paragraphs := strings.Repeat("p", 700) + "\n" + strings.Repeat("q", 700) + "\n" + strings.Repeat("r", 700) + "\n"
	tests := []struct {
		name     string
		old, new string
		want     LineCount
	}{
		{"same", base, base, LineCount{}},
		{"empty", "", "", LineCount{}},
		{"new", "", "a\nb\n", LineCount{Added: 2, Charge: 2}},
		{"gone", "a\nb", "", LineCount{Deleted: 2, Charge: 2}},
		{"append", base, base + "x\n", LineCount{Added: 1, Charge: 1}},
		{"prepend", base, "x\n" + base, LineCount{Added: 1, Charge: 1}},
		{"one line", base, strings.Replace(base, "a line 30\n", "b\n", 1), LineCount{Added: 1, Deleted: 1, Charge: 2}},
		{"both ends", base, "x\n" + base + "x\n", LineCount{Added: 2, Charge: 2}},
		{"moved block", "1\n2\n3\n4\n5\n6\n", "3\n4\n5\n6\n1\n2\n", LineCount{Added: 2, Deleted: 2, Charge: 4}},
		{"newline at the end", "a", "a\n", LineCount{Added: 1, Deleted: 1, Charge: 2}},
		{"last line begins like the next", "a\nfoo", "a\nfoobar\n", LineCount{Added: 1, Deleted: 1, Charge: 2}},
		{"lines that end alike", "xa\nb\n", "ya\nb\n", LineCount{Added: 1, Deleted: 1, Charge: 2}},
		{"line ends", "a\nb\n", "a\r\nb\r\n", LineCount{Added: 2, Deleted: 2, Charge: 4}},
		{"myers' example", "A\nB\nC\nA\nB\nB\nA\n", "C\nB\nA\nB\nA\nC\n", LineCount{Added: 2, Deleted: 3, Charge: 5}},
		{"long line added", base, base + long, LineCount{Added: 1, Charge: 1 + 5}},
		{"long line changed", long, "y" + long, LineCount{Added: 1, Deleted: 1, Charge: 2 + 10}},
		{"long line unchanged between edits", "x\n" + paragraphs + "x\n", "y\n" + paragraphs + "y\n", LineCount{Added: 2, Deleted: 2, Charge: 4}},
		{"long line doubled", long, long + long, LineCount{Added: 1, Charge: 6}},
		{"binary one byte", "\x00aaaa", "\x00aaab", LineCount{Binary: true, Charge: 1}},
		{"binary in place, far apart", "\x00" + base + "a", "\x01" + base + "b", LineCount{Binary: true, Charge: 2}},
		{"binary grows", "\x00", "\x00" + strings.Repeat("b", 800), LineCount{Binary: true, Charge: 10}},
		{"binary by a NUL that masks lines", base, "\x00" + strings.Repeat("e\n", 5000), LineCount{Binary: true, Charge: 5058}},
		{"binary lines in place", "\x00\n" + strings.Repeat("e\n", 500), "\x00\n" + strings.Repeat("f\n", 500), LineCount{Binary: true, Charge: 1000}},
	}
	for _, tt := range tests {
		got := CountLines([]byte(tt.old), []byte(tt.new), 20_000)
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		back := CountLines([]byte(tt.new), []byte(tt.old), 20_000)
		back.Added, back.Deleted = back.Deleted, back.Added
		if back != got {
			t.Errorf("%s: not symmetric: %+v and %+v", tt.name, got, back)
		}
	}
}

func TestCountLinesOverLimit(t *testing.T) {
	t.Parallel()
	old, new := numbered("a", 100), numbered("b", 100)
	for _, limit := range []int{-1, 0, 1, 50, 199} {
		if c := CountLines(old, new, limit); int(c.Charge) <= limit || c.Charge > 200 {
			t.Errorf("limit %d: %+v", limit, c)
		}
	}
	if c := CountLines(old, new, 200); c != (LineCount{Added: 100, Deleted: 100, Charge: 200}) {
		t.Errorf("at the limit: %+v", c)
	}
	// What lies between two edits is not charged below the limit, and is above it.
	mixed := append(append([]byte("x\ny\nz\n"), old...), "x\ny\nz\n"...)
	edited := append(append([]byte("u\nv\nw\n"), old...), "u\nv\nw\n"...)
	if c := CountLines(mixed, edited, 12); c.Charge != 12 {
		t.Errorf("below: %+v", c)
	}
	if c := CountLines(mixed, edited, 11); c.Charge != 212 {
		t.Errorf("above: %+v", c)
	}
	if c := CountLines(nil, make([]byte, MaxFileSize+1), 10); !c.TooLarge || c.Charge != 11 {
		t.Errorf("too large: %+v", c)
	}
}

// The count is the same as that of the textbook's table.
func TestCountLinesAgainstTable(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	text := func() []byte {
		var b bytes.Buffer
		for range r.IntN(12) {
			b.WriteString([]string{"a", "b", "ab", "", "c"}[r.IntN(5)])
			if r.IntN(9) > 0 {
				b.WriteByte('\n')
			}
		}
		return b.Bytes()
	}
	for range 20_000 {
		a, b := text(), text()
		if got, want := int(CountLines(a, b, 100).Charge), tableDistance(a, b); got != want {
			t.Fatalf("%q %q: %d, want %d", a, b, got, want)
		}
	}
}

func tableDistance(a, b []byte) int {
	x, y := bytes.SplitAfter(a, []byte("\n")), bytes.SplitAfter(b, []byte("\n"))
	if len(x[len(x)-1]) == 0 {
		x = x[:len(x)-1]
	}
	if len(y[len(y)-1]) == 0 {
		y = y[:len(y)-1]
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diag := row[0]
		row[0] = i + 1
		for j := range y {
			up := row[j+1]
			if bytes.Equal(x[i], y[j]) {
				row[j+1] = diag
			} else {
				row[j+1] = 1 + min(up, row[j])
			}
			diag = up
		}
	}
	return row[len(y)]
}

// worstPairs are the contents that cost most to compare.
func worstPairs() map[string][2][]byte {
	const n = MaxFileSize
	r := rand.New(rand.NewPCG(3, 4))
	random := func(alphabet string) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return b
	}
	shifted := bytes.Repeat([]byte("a\n"), n/2)
	return map[string][2][]byte{
		"empty lines":          {bytes.Repeat([]byte("\n"), n), bytes.Repeat([]byte("\n"), n-5)},
		"random short lines":   {random("ab\n"), random("ab\n")},
		"random lines":         {random("abcdefghijklmnop\n"), random("abcdefghijklmnop\n")},
		"equal lines, shifted": {append([]byte("x\n"), shifted[2:]...), append(shifted[:n-2:n-2], "y\n"...)},
		"one line":             {bytes.Repeat([]byte("a"), n), append(bytes.Repeat([]byte("a"), n-1), 'b')},
		"long lines":           {bytes.Repeat(append(bytes.Repeat([]byte("a"), 300), '\n'), n/301), bytes.Repeat(append(bytes.Repeat([]byte("b"), 300), '\n'), n/301)},
		"binary":               {append(random("ab\n")[:n-1], 0), append(random("ba\n")[:n-1], 0)},
	}
}

// The bound is for slow machines under the race detector; the benchmark has the figures.
func TestCountLinesIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("short: compares pairs of 8 MiB")
	}
	t.Parallel()
	for name, p := range worstPairs() {
		begin := time.Now()
		c := CountLines(p[0], p[1], 20_000)
		if d := time.Since(begin); d > 30*time.Second {
			t.Errorf("%s took %v", name, d)
		}
		if c.Charge == 0 {
			t.Errorf("%s: free", name)
		}
	}
}

func BenchmarkCountLines(b *testing.B) {
	for name, p := range worstPairs() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				CountLines(p[0], p[1], 20_000)
			}
		})
	}
}

func FuzzCountLines(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("a\nc"), 5)
	f.Add([]byte(""), []byte("\x00"), 0)
	f.Add([]byte("\r\n\n"), []byte("\n\n\n"), 20_000)
	f.Add(bytes.Repeat([]byte("x"), 500), []byte("x\n"), 3)
	f.Fuzz(func(t *testing.T, old, new []byte, limit int) {
		c := CountLines(old, new, limit)
		if (c == LineCount{}) != bytes.Equal(old, new) {
			t.Fatalf("%q %q: %+v", old, new, c)
		}
		if c.Added < 0 || c.Deleted < 0 || c.Charge < 0 || (c.Charge == 0) != bytes.Equal(old, new) {
			t.Fatalf("%q %q: %+v", old, new, c)
		}
		if !c.Binary && (c.Charge < c.Added+c.Deleted || int(c.Added-c.Deleted) != lineNumber(new)-lineNumber(old)) {
			t.Fatalf("%q %q: %+v", old, new, c)
		}
		back := CountLines(new, old, limit)
		back.Added, back.Deleted = back.Deleted, back.Added
		if back != c {
			t.Fatalf("%q %q: not symmetric: %+v and %+v", old, new, c, back)
		}
	})
}

// A text that is replaced as a whole is within a limit that covers both versions,
// however long comparing them line by line would take.
func TestCountLinesRewritten(t *testing.T) {
	var old, now strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&old, "old %d\n", i)
		fmt.Fprintf(&now, "new %d\n", i)
	}
	if c := CountLines([]byte(old.String()), []byte(now.String()), 20000); c.Charge != 18000 || c.TooLarge {
		t.Errorf("%+v, want a charge of 18000", c)
	}
}
