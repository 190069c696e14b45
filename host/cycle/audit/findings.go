package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Finding is one thing that auditors raised, in whatever words and iteration.
type Finding struct {
	ID      string   `json:"id"`
	Section Section  `json:"section"` // where it was raised last
	Text    string   `json:"text"`    // as it was raised last
	Raised  []Raised `json:"raised"`  // by iteration
}

// Raised is who raised a finding in one iteration.
type Raised struct {
	Iteration int      `json:"iteration"`
	By        []string `json:"by"`
}

// Status says where a finding stands in an iteration.
type Status string

// The statuses.
const (
	New      Status = "new"      // raised for the first time
	Open     Status = "open"     // raised again, as in the iteration before
	Fixed    Status = "fixed"    // no longer raised
	Returned Status = "returned" // raised again after it was gone
)

// Registry holds the findings of a cycle. Ids are given once and never used again.
type Registry struct {
	Findings []Finding `json:"findings"`
	Last     int       `json:"last"`    // number of the last id given to a finding
	Actions  int       `json:"actions"` // and to an action
}

// Take enters what an auditor raised and gives each item of d its id. An id that an
// item brings along counts when it is one of ours and of the same kind; otherwise
// the words decide.
func (r *Registry) Take(iteration int, by string, d *Document) {
	taken := map[string]bool{} // one audit raises a finding once
	for n := range d.Items {
		i := &d.Items[n]
		f := r.known(i.ID, i.Section)
		if f == nil || taken[f.ID] {
			f = r.similar(*i, taken)
		}
		if f == nil {
			r.Findings = append(r.Findings, Finding{ID: r.newID(i.Section)})
			f = &r.Findings[len(r.Findings)-1]
		}
		taken[f.ID] = true
		i.ID, f.Section, f.Text = f.ID, i.Section, i.Text
		f.raise(iteration, by)
	}
}

// Reserve keeps the ids of a plan from being given again.
func (r *Registry) Reserve(plan *Document) {
	for _, i := range plan.Items {
		n, err := strconv.Atoi(strings.TrimLeft(i.ID, "FA"))
		switch {
		case err != nil:
		case i.ID[0] == 'A':
			r.Actions = max(r.Actions, n)
		default:
			r.Last = max(r.Last, n)
		}
	}
}

func (r *Registry) newID(s Section) string {
	if s == ActionPlan {
		r.Actions++
		return fmt.Sprintf("A%d", r.Actions)
	}
	r.Last++
	return fmt.Sprintf("F%d", r.Last)
}

func (f *Finding) raise(iteration int, by string) {
	for i := range f.Raised {
		if f.Raised[i].Iteration == iteration {
			if !slices.Contains(f.Raised[i].By, by) {
				f.Raised[i].By = append(f.Raised[i].By, by)
			}
			return
		}
	}
	f.Raised = append(f.Raised, Raised{iteration, []string{by}})
}

// By gives who raised the finding in an iteration.
func (f *Finding) By(iteration int) []string {
	for _, r := range f.Raised {
		if r.Iteration == iteration {
			return r.By
		}
	}
	return nil
}

// Status says where the finding stands in an iteration; "" when it was not known then.
func (f *Finding) Status(iteration int) Status {
	first, before := 0, false
	for _, r := range f.Raised {
		if first == 0 || r.Iteration < first {
			first = r.Iteration
		}
		before = before || r.Iteration == iteration-1
	}
	switch now := f.By(iteration) != nil; {
	case first == 0 || first > iteration:
		return ""
	case !now:
		return Fixed
	case first == iteration:
		return New
	case before:
		return Open
	}
	return Returned
}

// known finds a finding by an id, of the kind that the section asks for.
func (r *Registry) known(id string, s Section) *Finding {
	for n := range r.Findings {
		if f := &r.Findings[n]; f.ID == id && (f.Section == ActionPlan) == (s == ActionPlan) {
			return f
		}
	}
	return nil
}

// similar finds the finding that an item says in other words, nil when none is near.
func (r *Registry) similar(i Item, taken map[string]bool) *Finding {
	words, paths := bag(i.Text), Paths(i.Text)
	var best *Finding
	bestScore := 0.0
	for n := range r.Findings {
		f := &r.Findings[n]
		if taken[f.ID] || (f.Section == ActionPlan) != (i.Section == ActionPlan) {
			continue
		}
		score, need := jaccard(words, bag(f.Text)), sameWords
		if overlap(paths, Paths(f.Text)) {
			need = sameWordsAndFile
		}
		if score >= need && score > bestScore {
			best, bestScore = f, score
		}
	}
	return best
}

// How much of two texts' words must be the same for one finding; less is enough when
// both name the same file.
const (
	sameWords        = 0.5
	sameWordsAndFile = 0.3
)

var stop = map[string]bool{"the": true, "and": true, "for": true, "with": true, "that": true, "this": true, "from": true, "are": true, "not": true,
	"but": true, "was": true, "has": true, "have": true, "should": true, "must": true, "line": true, "lines": true, "which": true, "when": true, "into": true}

// bag gives the words of a text that carry meaning: numbers of lines and marks do not.
func bag(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(mark().ReplaceAllString(s, "")), func(r rune) bool { return !unicode.IsLetter(r) && r != '_' }) {
		if len(w) < 3 || stop[w] {
			continue
		}
		out[w] = true
	}
	return out
}

func jaccard(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}

var pathWord = lazy(`[A-Za-z0-9_][A-Za-z0-9_./-]*\.[A-Za-z][A-Za-z0-9]{0,7}\b|[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]*[A-Za-z0-9_]`)

// Paths gives what looks like the path of a file in a text. Whether such a file
// exists is for the caller to see.
func Paths(text string) []string {
	var out []string
	for _, p := range pathWord().FindAllString(text, -1) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// Consolidate makes one plan of several audits without a model: what several raised
// stands once, with who raised it.
func Consolidate(names []string, audits []*Document) *Document {
	out := &Document{}
	for _, s := range Sections() {
		var all []Item
		for n, d := range audits {
			for _, i := range d.In(s) {
				at := slices.IndexFunc(all, func(o Item) bool { return o.ID == i.ID })
				if at < 0 {
					i.By = nil
					all = append(all, i)
					at = len(all) - 1
				}
				if len(audits) > 1 {
					all[at].By = append(all[at].By, names[n])
				}
			}
		}
		for n := range all {
			all[n].Number = n + 1
		}
		out.Items = append(out.Items, all...)
	}
	return out
}

// Refined is what a refinement did to the audits that it was made of.
type Refined struct {
	Added []Item    `json:"added"` // in the plan, and no auditor raised it
	Lost  []Finding `json:"lost"`  // raised by several, or critical, and not in the plan
}

// CheckRefined compares a refined plan with what the auditors raised in an iteration,
// and gives its items their ids.
func (r *Registry) CheckRefined(iteration, auditors int, plan *Document) Refined {
	var out Refined
	there := map[string]bool{}
	for n := range plan.Items {
		i := &plan.Items[n]
		f := r.known(i.ID, i.Section)
		if f == nil {
			f = r.similar(*i, nil)
		}
		if f == nil || f.By(iteration) == nil {
			i.ID = ""
			out.Added = append(out.Added, *i)
			continue
		}
		i.ID = f.ID
		there[f.ID] = true
		for _, other := range mentioned(i.Text) { // merged items name those that they hold
			there[other] = true
		}
	}
	for _, f := range r.Findings {
		by := f.By(iteration)
		if len(by) == 0 || there[f.ID] || f.Section == ActionPlan {
			continue
		}
		if len(by) > 1 || len(by) == auditors || f.Section == Critical {
			out.Lost = append(out.Lost, f)
		}
	}
	slices.SortFunc(out.Lost, func(a, b Finding) int { return cmp.Compare(a.Section, b.Section) })
	return out
}

var inText = lazy(`\b[FA][1-9]\d{0,4}\b`)

// mentioned gives the ids that a text names.
func mentioned(text string) []string { return inText().FindAllString(text, -1) }
