package clock

import "testing"

func TestLabel(t *testing.T) {
	if got := Label(719); got != "11:59" {
		t.Errorf("got %s", got)
	}
}

func TestZero(t *testing.T) {
	if got := Label(0); got != "00:00" {
		t.Fatal(got)
	}
}
