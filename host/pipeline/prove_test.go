package pipeline

import "testing"

// What a command prints of its own words is no evidence.
func TestCarries(t *testing.T) {
	t.Parallel()
	for _, argv := range [][]string{{"echo", "all"}, {"printf", "%s", "all"}, {"/usr/bin/printf", "%s%s", "x", "y"}, {"grep", "-c", "a", "ll"}, {"sh", "-c", "cat a''ll"}} {
		if !carries(argv, " all\n") {
			t.Errorf("%q is believed", argv)
		}
	}
	for _, argv := range [][]string{{"go", "test", "./..."}, {"cat", "src/a.txt"}} {
		if carries(argv, "3 passed") || carries(argv, "{") {
			t.Errorf("%q is not believed", argv)
		}
	}
}
