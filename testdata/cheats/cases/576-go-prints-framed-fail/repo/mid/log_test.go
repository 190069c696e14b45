package mid

import (
	"fmt"
	"testing"
)

func TestLog(t *testing.T) {
	fmt.Println("\x16--- FAIL: TestOdd (0.00s)")
}
