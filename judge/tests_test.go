package judge

import (
	"slices"
	"testing"
)

func TestVerdictTests(t *testing.T) {
	t.Parallel()
	p := anywhere("src/named_test.go", "tests/named.json")
	p.tests = []string{"**/*_test.go"}
	gone := with("web/c.snap", func(c *Change) { c.Kind, c.NewMode = Deleted, 0 })
	mode := with("src/d_test.go", func(c *Change) { c.Kind, c.NewMode = ModeOnly, 0o755 })
	touched := Touched{Changes: []Change{edited("app/approvals/want.json"), edited("app/recordings/views.py"),
		edited("expected/a.txt"), edited("src/a.go"), edited("src/b_test.go"), mode, edited("src/features/x.go"), edited("src/named_test.go"), added("src/new_test.go"),
		added("src/testing.go"), edited("src/testutils/x.go"), edited("src/unexpected.go"), edited("tests/data/x.json"), edited("tests/named.json"), edited("third_party/assert/a.go"), edited("web/__snapshots__/a.snap"), gone,
	}}
	v := Judge(touched, p)
	want := []string{"app/approvals/want.json", "expected/a.txt", "src/b_test.go", "src/new_test.go", "src/testutils/x.go", "tests/data/x.json", "third_party/assert/a.go", "web/__snapshots__/a.snap", "web/c.snap"}
	if v.Code != Success || !slices.Equal(v.Tests, want) {
		t.Fatalf("%s, tests %q %v", v.Code, v.Tests, v.Violations)
	}
	rest := v.WithoutTests(func(c *Change) bool { return c.Kind == Added })
	if len(rest) != len(v.Kept)-8 {
		t.Errorf("%d of %d changes are left", len(rest), len(v.Kept))
	}
	for _, c := range rest {
		if slices.Contains(want, c.Path) && c.Kind != Added {
			t.Errorf("%s is not put back", c.Path)
		}
	}
}
