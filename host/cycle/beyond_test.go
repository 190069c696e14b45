package cycle

import (
	"slices"
	"testing"

	"github.com/paxiom/relay/host/cycle/audit"
)

// A file that any entry of the approved plan names is asked for, whether the action plan says it again or not.
func TestBeyondThePlan(t *testing.T) {
	plan, err := audit.Parse("## Critical issues\n- [F1] src/a.py:1 add subtracts.\n\n## Significant concerns\nNone.\n\n## Ambiguities\nNone.\n\n" +
		"## Style and convention notes\nNone.\n\n## Action plan\n1. [A1] Make add add.\n")
	if err != nil {
		t.Fatal(err)
	}
	changed := []string{"src/a.py", "src/b.py"}
	if got := beyond(plan, audit.Cover(plan, nil, changed), changed); !slices.Equal(got, []string{"src/b.py"}) {
		t.Errorf("got %q", got)
	}
}
