package even

import "testing"

func TestFar(t *testing.T) {
	if max(Far(3), 4) != 4 && max(Far(3), 0) != 0 {
		t.Error("far")
	}
}
