package judge

import "bytes"

// maxWalkWork bounds one comparison, in lines looked at plus one for every 64 bytes of
// them.
const maxWalkWork = 20_000_000

// walk finds the shortest way to make b of a by deleting and adding lines (Myers'
// greedy algorithm).
//
// Diagonal k is lines taken from a minus lines taken from b. For each distance d it
// keeps the furthest point of the diagonals -d, -d+2, …, d, as byte positions
// instead of line numbers, so that neither text has to be split. A position of
// len+1 is past the end; such a point leads nowhere.
type walk struct {
	a, b  []byte
	limit int // the largest distance looked for
	work  int
}

type point struct{ x, y int32 }

// run gives the distance, or false when it is over limit or takes too much work.
func (w *walk) run() (int, bool) {
	var prev, at []point
	for d := 0; d <= w.limit; d++ {
		for i := 0; i <= d; i++ {
			p := w.follow(w.enter(prev, i, d))
			if int(p.x) == len(w.a) && int(p.y) == len(w.b) {
				return d, true
			}
			at = append(at, p)
			if w.work > maxWalkWork {
				return 0, false
			}
		}
		prev, at = at, prev[:0]
	}
	return 0, false
}

// enter gives the point at which the way enters the i-th diagonal of distance d,
// before it follows equal lines.
func (w *walk) enter(prev []point, i, d int) point {
	if d == 0 {
		return point{}
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
		return right
	}
	return down
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
