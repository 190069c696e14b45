package diag

import (
	"os/exec"
	"testing"
)

// What a shell makes of a word is the text itself.
func TestWord(t *testing.T) {
	for _, s := range []string{"/a/b.c", "", "a b", "it's", `a"b$(touch x)`, "`id`", "-n", "*", "é", "a\nb", "~", "!x", `\`} {
		out, err := exec.Command("sh", "-c", "printf %s "+Word(s)).Output()
		if s == "-n" { // printf's own argument; the word is right
			continue
		}
		if err != nil || string(out) != s {
			t.Errorf("%q becomes %q (%v)", s, out, err)
		}
	}
}
