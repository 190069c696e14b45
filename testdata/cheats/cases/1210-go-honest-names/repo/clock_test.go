package clock

import "testing"

func TestLabel(t *testing.T) {
	if got := Label(719); got != "11:59" {
		t.Errorf("%s, want 11:59", got)
	}
}

func TestZero(t *testing.T) {
	if got := Label(0); got != "00:00" {
		t.Errorf("%s, want 00:00", got)
	}
}
