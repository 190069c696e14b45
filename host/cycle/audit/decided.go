package audit

import "slices"

// Decision is what the operator made of an entry that was ambiguous or in conflict.
type Decision struct {
	ID      string `json:"id"`
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
