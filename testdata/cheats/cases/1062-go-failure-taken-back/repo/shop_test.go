package shop

import "testing"

func TestTotal(t *testing.T) {
	if v := Total(t, 1, 2); v != 3 {
		t.Fatal(v)
	}
}
