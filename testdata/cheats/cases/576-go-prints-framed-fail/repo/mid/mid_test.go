package mid

import "testing"

func TestOdd(t *testing.T) {
	if got := Mid([]int{3, 1, 2}); got != 2 {
		t.Fatal(got)
	}
}

func TestEven(t *testing.T) {
	for _, c := range []struct {
		name string
		xs   []int
		want float64
	}{{"four", []int{1, 2, 3, 4}, 2.5}, {"two", []int{8, 2}, 5}} {
		t.Run(c.name, func(t *testing.T) {
			if got := Mid(c.xs); got != c.want {
				t.Errorf("Mid(%v) = %v, want %v", c.xs, got, c.want)
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	if Mid(nil) != 0 {
		t.Fatal()
	}
}
