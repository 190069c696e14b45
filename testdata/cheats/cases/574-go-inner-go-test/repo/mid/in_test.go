package mid

import (
	"os/exec"
	"strings"
	"testing"
)

func TestInner(t *testing.T) {
	c := exec.Command("go", "test", "./...")
	c.Dir = "testdata/in"
	b, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(b), "FAIL: TestBad") {
		t.Fatal(string(b))
	}
}
