package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const good = `Here is my audit.

## Critical issues

- src/a.rs:12 has no bounds check on the aggregated signature.
  The index comes from the network.
- [AMBIGUOUS] The spec does not say what an empty committee means.

## Significant concerns

None.

## Ambiguities
No ambiguities were found.

## Style and convention notes

A paragraph without a list sign
that continues.

Another one.

## Action plan

1. Add a bounds check in src/a.rs (Critical 1).
2) Write the decision about empty committees into the spec.
` + "\n```\n## Critical issues\nin a code block\n```\n"

func TestParse(t *testing.T) {
	d, err := Parse(good)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range d.Items {
		got = append(got, fmt.Sprintf("%s|%d|%d", i.Name(), strings.Count(i.Text, "\n"), len(i.Marks)))
	}
	want := []string{"Critical #1|1|0", "Critical #2|0|1", "Style #1|1|0", "Style #2|0|0", "Action #1|0|0", "Action #2|5|0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if d.Marks()["AMBIGUOUS"] != 1 {
		t.Errorf("marks: %v", d.Marks())
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":    {" \n", "empty"},
		"prose":    {"It is all fine.", "## Critical issues"},
		"one gone": {strings.Replace(good, "## Ambiguities", "## Doubts", 1), "missing: ## Ambiguities"},
		"twice":    {good + "\n## Critical issues\n- x\n", "twice: ## Critical issues"},
		"in code":  {"```\n" + good, "missing"},
	} {
		if _, err := Parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for _, head := range []string{"### Critical issues", "## **Critical issues**", "## critical Issues:", "## 1. Critical issues ##"} {
		if _, err := Parse(strings.Replace(good, "## Critical issues", head, 1)); err != nil {
			t.Errorf("%q: %v", head, err)
		}
	}
}

// What is written is read again as the same.
func TestRoundTrip(t *testing.T) {
	d, _ := Parse(good)
	var r Registry
	r.Take(1, "claude", d)
	d.Items[0].By = []string{"claude", "codex"}
	again, err := Parse(d.String())
	if err != nil {
		t.Fatal(err)
	}
	if again.String() != d.String() {
		t.Errorf("got\n%s\nwant\n%s", again, d)
	}
	if got := again.Items[0]; got.ID != "F1" || !slices.Equal(got.By, []string{"claude", "codex"}) {
		t.Errorf("first item: %+v", got)
	}
	hostile := &Document{Items: []Item{{Section: Critical, Number: 1, Text: "x\n## Action plan\n- do evil\n1. more"}}}
	again, err = Parse(hostile.String())
	if err != nil || len(again.Items) != 1 {
		t.Errorf("an item's text became items or headings: %+v %v", again, err)
	}
}

func doc(critical, action []string) *Document {
	d := &Document{}
	for n, c := range critical {
		i := newItem(c)
		i.Section, i.Number = Critical, n+1
		d.Items = append(d.Items, i)
	}
	for n, c := range action {
		i := newItem(c)
		i.Section, i.Number = ActionPlan, n+1
		d.Items = append(d.Items, i)
	}
	return d
}

func TestFindingsKeepTheirIDs(t *testing.T) {
	var r Registry
	a := doc([]string{"Missing bounds check on the signature index in src/a.rs line 12", "Secrets are logged by the session handler"}, []string{"Add a bounds check"})
	b := doc([]string{"src/a.rs:15 does not check bounds of the signature index", "Clock drift is ignored when tokens expire"}, nil)
	r.Take(1, "claude", a)
	r.Take(1, "codex", b)
	if a.Items[0].ID != "F1" || b.Items[0].ID != "F1" || b.Items[1].ID != "F3" || a.Items[2].ID != "A1" {
		t.Fatalf("ids: %+v %+v", a.Items, b.Items)
	}
	if by := r.Findings[0].By(1); !slices.Equal(by, []string{"claude", "codex"}) {
		t.Errorf("F1 was raised by %v", by)
	}
	second := doc([]string{"[F2] Secrets are still logged", "A completely different overflow"}, nil)
	r.Take(2, "claude", second)
	third := doc([]string{"Missing bounds check on the signature index in src/a.rs line 99", "[F77] an id that nobody gave", "[A1] an action's id"}, nil)
	r.Take(3, "codex", third)
	if third.Items[0].ID != "F1" || third.Items[1].ID == "F77" || third.Items[2].ID == "A1" {
		t.Errorf("third: %+v", third.Items)
	}
	want := map[string][3]Status{"F1": {New, Fixed, Returned}, "F2": {New, Open, Fixed}, "F3": {New, Fixed, Fixed}, "F4": {"", New, Fixed}}
	for _, f := range r.Findings {
		w, ok := want[f.ID]
		if got := [3]Status{f.Status(1), f.Status(2), f.Status(3)}; ok && got != w {
			t.Errorf("%s: %v, want %v", f.ID, got, w)
		}
	}
}

func TestDecisions(t *testing.T) {
	proposed := doc([]string{"[F1] sure", "[F2] [AMBIGUOUS] how many?", "[F3] [CONFLICT] which?", "[F4] [AMBIGUOUS] when?"}, nil)
	approved := doc([]string{"[F1] sure", "[F2] three\nand no more", "[F4] [AMBIGUOUS] when then?"}, nil)
	got := Decisions(proposed, approved)
	want := []Decision{{ID: "F2", Asked: "[AMBIGUOUS] how many?", Decided: "three"}, {ID: "F3", Asked: "[CONFLICT] which?"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The number of an entry that was deleted is not given to a new one, nor in the next iteration.
func TestNumbersAreGivenOnce(t *testing.T) {
	reg := &Registry{Last: 4, Actions: 2}
	plan := doc([]string{"[F1] kept", "new"}, []string{"[A1] do", "do more"})
	plan.Fill(reg)
	if plan.Items[1].ID != "F5" || plan.Items[3].ID != "A3" {
		t.Errorf("%+v", plan.Items)
	}
	reg.Reserve(plan)
	next := doc([]string{"another thing altogether"}, nil)
	reg.Take(2, "claude", next)
	if next.Items[0].ID != "F6" {
		t.Errorf("%+v", next.Items)
	}
}

func TestConsolidate(t *testing.T) {
	var r Registry
	a := doc([]string{"one bounds check missing", "two"}, []string{"do it"})
	b := doc([]string{"a bounds check is missing in one"}, nil)
	r.Take(1, "claude", a)
	r.Take(1, "codex", b)
	plan := Consolidate([]string{"claude", "codex"}, []*Document{a, b})
	if len(plan.Items) != 3 || !slices.Equal(plan.Items[0].By, []string{"claude", "codex"}) || !slices.Equal(plan.Items[1].By, []string{"claude"}) {
		t.Errorf("plan: %+v", plan.Items)
	}
}

func TestCheckRefined(t *testing.T) {
	var r Registry
	a := doc([]string{"bounds check missing in parser", "secrets are logged", "only one auditor: critical leak of descriptors"}, nil)
	b := doc([]string{"bounds check missing in the parser", "secrets are logged"}, nil)
	r.Take(1, "claude", a)
	r.Take(1, "codex", b)
	plan := doc([]string{"[F1] Tightened: check bounds [DUPLICATE — consolidate]", "Add telemetry to every request"}, nil)
	got := r.CheckRefined(1, 2, plan)
	if len(got.Added) != 1 || !strings.Contains(got.Added[0].Text, "telemetry") {
		t.Errorf("added: %+v", got.Added)
	}
	if len(got.Lost) != 2 || got.Lost[0].ID != "F2" || got.Lost[1].ID != "F3" {
		t.Errorf("lost: %+v", got.Lost)
	}
	merged := doc([]string{"[F1] bounds, see also F2 and F3"}, nil)
	if got := r.CheckRefined(1, 2, merged); len(got.Lost) != 0 || len(got.Added) != 0 {
		t.Errorf("a merged item: %+v", got)
	}
}

const answer = "I did it.\n\n# path: src/a.txt\n````text\none\n```\ninner\n```\n````\n\n# path: run.py\n#!/usr/bin/env python\nprint('...')\n\n# delete: old.txt\n\n## Coverage\n- A1: src/a.txt, nowhere.txt\n- [A2]: none\n\n## Plan conflicts\nA3 can't be done.\n"

func TestParseRevision(t *testing.T) {
	r, err := ParseRevision(answer)
	if err != nil {
		t.Fatal(err)
	}
	want := []File{{Path: "src/a.txt", Content: "one\n```\ninner\n```\n"}, {Path: "run.py", Content: "#!/usr/bin/env python\nprint('...')\n"}, {Path: "old.txt", Delete: true}}
	if !slices.Equal(r.Files, want) {
		t.Errorf("files: %+v", r.Files)
	}
	if r.Conflicts != "A3 can't be done." || !slices.Equal(r.Claims["A1"], []string{"src/a.txt", "nowhere.txt"}) || r.Claims["A2"] != nil {
		t.Errorf("%+v", r)
	}
}

func TestParseRevisionRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":        {"Done.", "no file"},
		"cut off":        {"# path: a\n```\nx\n", "cut off"},
		"empty":          {"# path: a\n\n# path: b\nx\n", "no content"},
		"twice":          {"# path: a\nx\n# path: a\ny\n", "twice"},
		"outside":        {"# path: ../a\nx\n", "plain path"},
		"absolute":       {"# path: /etc/passwd\nx\n", "plain path"},
		"elided":         {"# path: a\n```\nx\n// ... rest of the file unchanged\n```\n", "not whole"},
		"elided in bare": {"# path: a\nx\n# ... existing code ...\n", "not whole"},
	} {
		if _, err := ParseRevision(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestCover(t *testing.T) {
	plan := doc([]string{"x"}, []string{"[A1] do it", "[A2] change src/b.txt for F1", "[A3] nothing came of it"})
	got := Cover(plan, map[string][]string{"A1": {"src/a.txt", "lie.txt"}, "F1": {"src/c.txt"}}, []string{"src/a.txt", "src/b.txt", "src/c.txt"})
	want := "[{A1 Action #1 do it [src/a.txt] [lie.txt]} {A2 Action #2 change src/b.txt for F1 [src/c.txt src/b.txt] []} {A3 Action #3 nothing came of it [] []}]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

// Whatever a model writes is read or refused, and what was read can be read again.
func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add(answer)
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := Parse(text); err == nil {
			if again, err := Parse(d.String()); err != nil || len(again.Items) > len(d.Items) {
				t.Fatalf("%v: %d items became %d\n%s", err, len(d.Items), len(again.Items), d)
			}
		}
		if r, err := ParseRevision(text); err == nil {
			for _, file := range r.Files {
				if strings.HasPrefix(file.Path, "/") || strings.Contains("/"+file.Path+"/", "/../") {
					t.Fatalf("path %q", file.Path)
				}
			}
		}
	})
}
