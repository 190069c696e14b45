package even

import "testing"

func TestEven(t *testing.T) {
	if Even(3) != false {
		t.Error("3")
	}
}
