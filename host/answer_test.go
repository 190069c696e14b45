package host

import "testing"

// What a suggestion has in the place of an answer is none.
func TestChooseRefusesThePlaceholder(t *testing.T) {
	for answer, want := range map[string]string{"…": "", "...": "", " ": "", "2": "right", "round up …": "round up …"} {
		if got, err := choose(answer, []string{"left", "right"}); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v", answer, got, err)
		}
	}
}
