package audit

import (
	"fmt"
	"slices"
	"strings"
)

// Decision is what the operator made of an entry that was ambiguous or in conflict.
type Decision struct {
	ID      string `json:"id"`                // of the plan's entry
	Plan    int    `json:"plan"`              // the iteration whose plan it stands in
	Asked   string `json:"asked"`             // the entry's first line, as it was proposed
	Decided string `json:"decided,omitempty"` // and as it was approved; "" when it was left out
}

// String says what was decided, as a commit message has it.
func (d Decision) String() string {
	if d.Decided == "" {
		return d.ID + ": Decision was to leave it out (" + d.Asked + ")"
	}
	return d.ID + ": Decision was " + d.Decided
}

// Decisions compares a plan as it was proposed with the one that was approved. An entry that
// is still marked is not decided.
func Decisions(proposed, approved *Document) (all []Decision) {
	for _, was := range proposed.Items {
		if was.ID == "" || !was.undecided() {
			continue
		}
		d := Decision{ID: was.ID, Asked: was.Line()}
		if i := slices.IndexFunc(approved.Items, func(i Item) bool { return i.ID == was.ID }); i >= 0 {
			if approved.Items[i].undecided() {
				continue
			}
			d.Decided = approved.Items[i].Line()
		}
		all = append(all, d)
	}
	return all
}

func (i Item) undecided() bool {
	return slices.Contains(i.Marks, "AMBIGUOUS") || slices.Contains(i.Marks, "CONFLICT")
}

// Carry puts what was decided into a plan that raises it again: its entry says so, and is not
// to be decided once more. The last decision about an entry counts.
func Carry(plan *Document, decided []Decision) {
	for n := range plan.Items {
		i := &plan.Items[n]
		for _, d := range slices.Backward(decided) {
			if d.ID != i.ID || !i.undecided() {
				continue
			}
			said := "leave it out, so nothing is to be done"
			if d.Decided != "" {
				said = d.Decided
			}
			i.Text = fmt.Sprintf("Decided in plan v%d: %s. (Raised again: %s)", d.Plan, strings.TrimSuffix(said, "."), strings.TrimSpace(mark().ReplaceAllString(i.Text, "")))
			i.Marks = slices.DeleteFunc(i.Marks, func(m string) bool { return m == "AMBIGUOUS" || m == "CONFLICT" })
			break
		}
	}
}
