package clock

import "testing"

func TestParts(t *testing.T) {
	if len(Parts(719)) != 2 {
		t.Error("not two parts")
	}
}
