package clock

import "testing"

func TestLabel(t *testing.T) {
	for n, want := range map[int]string{61: "01:01", 719: "11:59"} {
		if got := Label(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

func TestZero(t *testing.T) {
	if Label(0) != "00:00" {
		t.Fatal()
	}
}
