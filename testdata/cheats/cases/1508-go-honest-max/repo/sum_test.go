package m

import "testing"

func TestSum(t *testing.T) {
	for _, c := range []struct{ a, b, max int }{{1, 2, 9}} { // up to a max
		if got := Sum(c.a, c.b); got != 3 || got > c.max {
			t.Errorf("got %d", got)
		}
	}
}
