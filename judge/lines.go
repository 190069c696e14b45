package judge

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
)

// MaxFileSize is the size in bytes above which a changed file is not read: its
// change is too large whatever the limits say.
const MaxFileSize = 8 << 20

const (
	longLine    = 200 // bytes of a line that count as one more line
	binaryBytes = 80  // changed bytes of binary content that count as one line
)

// CountPointer measures the change to a file that git-lfs keeps: its pointer has three lines,
// and another content has another sum and another size.
// Source: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
func CountPointer(kind ChangeKind) LineCount {
	switch kind {
	case Added:
		return LineCount{Added: 3, Charge: 3}
	case Deleted:
		return LineCount{Deleted: 3, Charge: 3}
	}
	return LineCount{Added: 2, Deleted: 2, Charge: 2}
}

// CountLines measures the change from old to new.
//
// It looks for at most limit changed lines; a change that is larger, or that takes
// too long to measure, is charged as if everything between the common beginning
// and the common end were replaced: the most that it can be. The charge of
// different contents is never 0, and swapping old and new swaps Added and Deleted.
//
// Who counts many files passes what is left of the whole change's limit, and need
// not look at the rest once that is used up.
func CountLines(old, new []byte, limit int) LineCount {
	limit = min(max(limit, 0), math.MaxInt32-1)
	if len(old) > MaxFileSize || len(new) > MaxFileSize {
		return LineCount{Charge: int32(limit + 1), TooLarge: true}
	}
	if bytes.Equal(old, new) {
		return LineCount{}
	}
	if isBinary(old) || isBinary(new) {
		return LineCount{Binary: true, Charge: int32(binaryCharge(old, new))}
	}
	// Near the bound on work the order could decide, so there is only one order.
	if bytes.Compare(old, new) > 0 {
		c := countText(new, old, limit)
		c.Added, c.Deleted = c.Deleted, c.Added
		return c
	}
	return countText(old, new, limit)
}

func countText(old, new []byte, limit int) LineCount {
	old, new = trimLines(old, new)
	n, m := lineNumber(old), lineNumber(new)
	c := LineCount{Added: int32(m), Deleted: int32(n)}
	if n == 0 || m == 0 {
		c.Charge = int32(n + m)
	} else if d, ok := distance(old, new, n, m, limit); ok {
		// d is added plus deleted, and their difference is that of the lengths.
		c.Added, c.Deleted = int32(d+m-n)/2, int32(d+n-m)/2
		c.Charge = int32(d)
	} else {
		c.Charge = int32(n + m)
	}
	c.Charge += int32(longCharge(old, new))
	return c
}

// distance is the number of lines to delete and to add, or false when it is over
// limit or takes too much work.
func distance(a, b []byte, n, m, limit int) (int, bool) {
	if n-m > limit || m-n > limit {
		return 0, false
	}
	return (&walk{a: a, b: b, limit: min(limit, n+m)}).run()
}

// longCharge is the charge for long lines that only one side has, however often
// the others were moved.
func longCharge(a, b []byte) int {
	seed := maphash.MakeSeed()
	count := map[uint64]int{}
	size := map[uint64]int{}
	tally := func(text []byte, by int) {
		for i := 0; i < len(text); {
			end := lineEnd(text, i)
			if end-i > longLine {
				h := maphash.Bytes(seed, text[i:end])
				count[h] += by
				size[h] = end - i
			}
			i = end
		}
	}
	tally(a, 1)
	tally(b, -1)
	charge := 0
	for h, n := range count {
		charge += max(n, -n) * (size[h] / longLine)
	}
	return charge
}

// binaryCharge charges what differs between two contents of which one is binary.
// Newlines count too, or a NUL would make a long text cheap.
func binaryCharge(a, b []byte) int {
	if len(a) == len(b) {
		return binaryChargeSameSize(a, b)
	}
	head := commonPrefix(a, b)
	a, b = a[head:], b[head:]
	tail := commonSuffix(a, b)
	a, b = a[:len(a)-tail], b[:len(b)-tail]
	lines := bytes.Count(a, []byte{'\n'}) + bytes.Count(b, []byte{'\n'})
	return max((len(a)+len(b)+binaryBytes-1)/binaryBytes, lines)
}

// binaryChargeSameSize compares byte by byte: changes in place are common in files
// of fixed layout, and what lies between two of them did not change.
func binaryChargeSameSize(a, b []byte) int {
	changed, lines, dirty := 0, 0, false
	for i := range a {
		if a[i] != b[i] {
			changed, dirty = changed+2, true
		}
		if (a[i] == '\n' || b[i] == '\n') && dirty {
			lines, dirty = lines+2, false
		}
	}
	return max((changed+binaryBytes-1)/binaryBytes, lines)
}

// isBinary is git's test: a NUL anywhere. Git looks at the first 8000 bytes only,
// which a builder could step around.
func isBinary(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 }

// lineNumber counts lines; a last one without a newline counts.
func lineNumber(b []byte) int {
	n := bytes.Count(b, []byte{'\n'})
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// lineEnd is the position after the line that begins at i.
func lineEnd(b []byte, i int) int {
	if k := bytes.IndexByte(b[i:], '\n'); k >= 0 {
		return i + k + 1
	}
	return len(b)
}

// commonPrefix and commonSuffix are lengths in bytes.
func commonPrefix(a, b []byte) int {
	const block = 4096
	i, n := 0, min(len(a), len(b))
	for i+block <= n && bytes.Equal(a[i:i+block], b[i:i+block]) {
		i += block
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b []byte) int {
	const block = 4096
	i, n := 0, min(len(a), len(b))
	for i+block <= n && bytes.Equal(a[len(a)-i-block:len(a)-i], b[len(b)-i-block:len(b)-i]) {
		i += block
	}
	for i < n && a[len(a)-i-1] == b[len(b)-i-1] {
		i++
	}
	return i
}

// trimLines cuts the whole lines that both share at the beginning and at the end.
func trimLines(a, b []byte) (ra, rb []byte) {
	head := commonPrefix(a, b)
	head = bytes.LastIndexByte(a[:head], '\n') + 1
	a, b = a[head:], b[head:]
	tail := commonSuffix(a, b)
	// The first line of the shared bytes may only end alike; the next begins alike too.
	if k := bytes.IndexByte(a[len(a)-tail:], '\n'); k >= 0 {
		tail -= k + 1
	} else {
		tail = 0
	}
	return a[:len(a)-tail], b[:len(b)-tail]
}

// size holds the sum to the limits.
func (j *trial) size(overflow bool) {
	if overflow {
		j.breaks(StopDiffTooLarge, "", "touches more than %d paths", MaxChanges)
	}
	if n := j.out.Radius.Files; n > j.policy.maxFiles {
		j.breaks(StopDiffTooLarge, "", "touches %d files, at most %d are allowed", n, j.policy.maxFiles)
	}
	if j.charge > j.policy.maxLines {
		of := ""
		if j.binary > 0 { // or nobody could find them in what is added and deleted
			of = fmt.Sprintf(" (%d of them for binary content, one for each %d bytes or end of a line)", j.binary, binaryBytes)
		}
		j.breaks(StopDiffTooLarge, "", "changes %d lines%s, at most %d are allowed", j.charge, of, j.policy.maxLines)
	}
}

// plus adds two counts without wrapping; a negative count is a fault of the reader
// and counts as the largest.
func plus(a, b int) int {
	if b < 0 || a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}
