package newtests

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/verify"
)

func TestBegins(t *testing.T) {
	for line, want := range map[string]string{
		"func TestA(t *testing.T) {":              "TestA",
		"    async def test_b(self):":             "test_b",
		`  it("adds 1.5 and 2", () => {`:          "adds 1.5 and 2",
		"test.only('of `none`', async () => {":    "of `none`",
		"@test \"prints its help\" {":             "prints its help",
		"    public void addsTwo() {":             "addsTwo",
		"    assert total(1, 1) == 2, \"test x\"": "",
		"test = 1": "",
	} {
		got := ""
		if m := begins.FindStringSubmatch(line); m != nil {
			got = strings.Join(m[1:], "")
		}
		if got != want {
			t.Errorf("%q begins %q, want %q", line, got, want)
		}
	}
}

func TestComparable(t *testing.T) {
	run := func(runners int, tests map[string]verify.Test) *verify.Report {
		return &verify.Report{Runners: map[string]int{"go": runners}, Tests: tests}
	}
	now := run(2, map[string]verify.Test{"a": {Status: verify.Pass}})
	for name, tt := range map[string]struct {
		then *verify.Report
		want bool
	}{
		"fails":               {run(2, map[string]verify.Test{"a": {Status: verify.Fail}}), true},
		"does not compile":    {run(1, map[string]verify.Test{"b": {Status: verify.Pass}}), false},
		"can't be loaded":     {run(2, map[string]verify.Test{"a.py": {Status: verify.Broken}}), false},
		"says nothing at all": {nil, false},
	} {
		if got := comparable(now, tt.then); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
