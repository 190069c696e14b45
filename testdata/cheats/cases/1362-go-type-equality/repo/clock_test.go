package clock

import "testing"

func same(t *testing.T, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("got %v", got)
	}
}

func TestLabel(t *testing.T) {
	same(t, Label(719), "11:59")
}
