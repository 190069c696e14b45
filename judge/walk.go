package judge

import (
	"bytes"
	"slices"
)

const (
	// maxWalkWork bounds one comparison, in lines looked at plus one for every 64
	// bytes of them.
	maxWalkWork = 20_000_000
	// maxTrace is the largest distance whose way back is kept: 8 MB.
	maxTrace = 1400
)

// walk finds the shortest way to make b of a by deleting and adding lines (Myers'
// greedy algorithm).
//
// Diagonal k is lines taken from a minus lines taken from b. For each distance d it
// keeps the furthest point of the diagonals -d, -d+2, …, d, as byte positions
// instead of line numbers, so that neither text has to be split. A position of
// len+1 is past the end; such a point leads nowhere.
type walk struct {
	a, b  []byte
	limit int  // the largest distance looked for
	keep  bool // remember the points, for edits
	work  int
	trace [][]point
	last  int // index of the diagonal on which the end was reached
}

type point struct{ x, y int32 }

// run gives the distance, or false when it is over limit or takes too much work.
func (w *walk) run() (int, bool) {
	if w.keep {
		w.limit = min(w.limit, maxTrace)
	}
	var prev, at []point
	for d := 0; d <= w.limit; d++ {
		for i := 0; i <= d; i++ {
			p, _ := w.enter(prev, i, d)
			p = w.follow(p)
			if int(p.x) == len(w.a) && int(p.y) == len(w.b) {
				w.last = i
				return d, true
			}
			at = append(at, p)
			if w.work > maxWalkWork {
				return 0, false
			}
		}
		if w.keep {
			w.trace = append(w.trace, slices.Clone(at))
		}
		prev, at = at, prev[:0]
	}
	return 0, false
}

// enter gives the point at which the way enters the i-th diagonal of distance d,
// before it follows equal lines, and the index of the diagonal that it comes from.
func (w *walk) enter(prev []point, i, d int) (p point, from int) {
	if d == 0 {
		return point{}, 0
	}
	down, right := point{-1, -1}, point{-1, -1}
	if i < d { // from diagonal k+1, by adding a line of b
		down = prev[i]
		down.y = w.step(w.b, down.y)
	}
	if i > 0 { // from diagonal k-1, by deleting a line of a
		right = prev[i-1]
		right.x = w.step(w.a, right.x)
	}
	if right.x > down.x {
		return right, i - 1
	}
	return down, i
}

// step skips one line.
func (w *walk) step(text []byte, i int32) int32 {
	if int(i) >= len(text) {
		return int32(len(text)) + 1
	}
	end := lineEnd(text, int(i))
	w.work += 1 + (end-int(i))/64
	return int32(end)
}

// follow skips the lines that are equal.
func (w *walk) follow(p point) point {
	for int(p.x) < len(w.a) && int(p.y) < len(w.b) {
		end := lineEnd(w.a, int(p.x))
		size := end - int(p.x)
		y := int(p.y) + size
		w.work += 1 + size/64
		if y > len(w.b) || !bytes.Equal(w.a[p.x:end], w.b[p.y:y]) {
			break
		}
		if w.a[end-1] != '\n' && y != len(w.b) {
			break // a last line without a newline, and a longer one that begins like it
		}
		p.x, p.y = int32(end), int32(y)
	}
	return p
}

// edit replaces a[a0:a1] by b[b0:b1]; all four are beginnings of lines, or ends.
type edit struct{ a0, a1, b0, b1 int }

// edits gives the way that run found, in order. keep must have been set.
func (w *walk) edits() []edit {
	var es []edit
	i := w.last
	for d := len(w.trace); d > 0; d-- {
		prev := w.trace[d-1]
		q, from := w.enter(prev, i, d)
		s := prev[from]
		e := edit{int(s.x), int(q.x), int(s.y), int(q.y)}
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
