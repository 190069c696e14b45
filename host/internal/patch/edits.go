package patch

import (
	"bytes"
	"slices"
)

const (
	// maxLines is how many lines of both texts are compared one by one.
	maxLines = 100_000
	// maxTrace is the largest distance whose way back is kept: 8 MB.
	maxTrace = 1400
)

// edit replaces a[a0:a1] by b[b0:b1]; all four are beginnings of lines, or ends.
type edit struct{ a0, a1, b0, b1 int }

// edits gives the edits between two texts: the shortest way where it is found in bounded
// time and memory, else one edit from the first difference to the last.
func edits(a, b []byte) []edit {
	n, head, tail := min(len(a), len(b)), 0, 0
	for head < n && a[head] == b[head] {
		head++
	}
	head = bytes.LastIndexByte(a[:head], '\n') + 1
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	// The first line of what both end with may only end alike; the next begins alike, too.
	tail -= lineEnd(a[len(a)-tail:], 0)
	whole := edit{head, len(a) - tail, head, len(b) - tail}
	la, lb := lines(a[head:whole.a1]), lines(b[head:whole.b1])
	if len(la) == 0 || len(lb) == 0 || len(la)+len(lb) > maxLines {
		return []edit{whole}
	}
	trace, ok := walk(la, lb)
	if !ok {
		return []edit{whole}
	}
	return wayBack(trace, la, lb, whole)
}

// lines splits a text after its newlines; of one that has more than are compared, it gives
// one more than that.
func lines(text []byte) (all [][]byte) {
	for len(text) > 0 && len(all) <= maxLines {
		end := lineEnd(text, 0)
		all, text = append(all, text[:end]), text[end:]
	}
	return all
}

// walk finds the shortest way to make b of a by deleting and adding lines (Myers' greedy
// algorithm). Diagonal k is lines taken from a minus lines taken from b; for each distance
// d, trace has the furthest line of a on the diagonals -d, -d+2, …, d.
func walk(a, b [][]byte) (trace [][]int32, ok bool) {
	for d := 0; d <= maxTrace; d++ {
		at := make([]int32, d+1)
		for i := range at {
			x, _ := enter(trace, i)
			k := 2*i - d
			for x < len(a) && x-k < len(b) && bytes.Equal(a[x], b[x-k]) {
				x++
			}
			at[i] = int32(x)
			if x == len(a) && x-k == len(b) {
				return append(trace, at[:i+1]), true
			}
		}
		trace = append(trace, at)
	}
	return nil, false
}

// enter gives the line of a at which the way enters the i-th diagonal of the next distance,
// and the diagonal that it comes from.
func enter(trace [][]int32, i int) (x, from int) {
	if len(trace) == 0 {
		return 0, 0
	}
	prev := trace[len(trace)-1]
	if i == len(prev) || i > 0 && prev[i-1]+1 > prev[i] {
		return int(prev[i-1]) + 1, i - 1 // a line of a is deleted
	}
	return int(prev[i]), i // a line of b is added
}

// wayBack gives the edits of the way that walk found, in order, within the whole.
func wayBack(trace [][]int32, a, b [][]byte, whole edit) (es []edit) {
	posA, posB := whole.a1, whole.b1
	x, y := len(a), len(b)
	i := len(trace[len(trace)-1]) - 1
	for d := len(trace) - 1; d >= 0; d-- {
		to, from := enter(trace[:d], i)
		for x > to { // equal lines
			x, y = x-1, y-1
			posA, posB = posA-len(a[x]), posB-len(b[y])
		}
		if d == 0 {
			break
		}
		e := edit{posA, posA, posB, posB}
		if from == i {
			y--
			posB -= len(b[y])
		} else {
			x--
			posA -= len(a[x])
		}
		e.a0, e.b0 = posA, posB
		if k := len(es) - 1; k >= 0 && e.a1 == es[k].a0 && e.b1 == es[k].b0 {
			es[k].a0, es[k].b0 = e.a0, e.b0
		} else {
			es = append(es, e)
		}
		i = from
	}
	slices.Reverse(es)
	return es
}

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
