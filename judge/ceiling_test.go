package judge

import (
	"reflect"
	"slices"
	"testing"
)

// roof is a ceiling below which src and docs may be edited.
func roof(change ...func(*Ceiling)) Ceiling {
	c := Ceiling{
		Allowed:   [][]string{{"src/**", "docs/**", "ci/**"}},
		Forbidden: []string{".git/**", "**/.env*"}, RunnerOwned: []string{".relay", ".relay/**", "prd.json"}, Protected: []string{"ci/**", ".github/**"},
		Programs: []string{"src/check.sh"}, Tests: []string{"**/*_test.go"}, Lockfiles: []string{"go.sum"}, Scratch: []string{},
		NewFiles: true, MaxFiles: 5, MaxLines: 50, BuilderCommits: SquashCommits,
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

// What steers git is relay's own, whatever the task allows and however its name is spelled.
func TestConfigOfGitIsOwned(t *testing.T) {
	touched := Touched{GitConfig: []string{"tools/link"}, Changes: []Change{edited("tools/Link")}}
	law, _ := NewPolicy(roof(), wish(Operator, "**"))
	if v := Judge(touched, law); v.Code != StopRunnerOwned {
		t.Errorf("a change of it is %s", v.Code)
	}
}

func wish(by Asker, globs ...string) Request {
	return Request{By: by, Kind: Execute, Allowed: globs, NewFiles: true, MaxFiles: 5, MaxLines: 50}
}

func TestZeroPolicyAllowsNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []Change{edited("src/a"), added("a"), with("a", func(c *Change) { c.Kind, c.NewMode = Deleted, 0 })} {
		if v := Judge(Touched{Changes: []Change{c}}, Policy{}); v.Code == Success {
			t.Errorf("%s landed", c.Path)
		}
	}
	// A field of the ceiling that was forgotten, whichever it is.
	typ := reflect.TypeFor[Ceiling]()
	for i := range typ.NumField() {
		c := roof(func(c *Ceiling) { reflect.ValueOf(c).Elem().Field(i).SetZero() })
		p, beyond := NewPolicy(c, Request{By: Model, Kind: Execute, Allowed: []string{"src/**"}, NewFiles: true, LockfileChanges: true, MaxFiles: 5, MaxLines: 50})
		touched := Touched{Changes: []Change{added("src/a")}, Git: []Change{with("refs/heads/main", func(c *Change) { c.Size = 41 })}, Branch: "main"}
		open := typ.Field(i).Name == "LockfileChanges" // closed in roof as well
		if v := Judge(touched, p); !open && v.Code == Success {
			t.Errorf("without %s a change lands (%+v)", typ.Field(i).Name, beyond)
		}
	}
}

func TestCeiling(t *testing.T) {
	t.Parallel()
	edit := func(paths ...string) (all []Change) {
		for _, p := range paths {
			all = append(all, edited(p))
		}
		return all
	}
	tests := []struct {
		name    string
		ceiling Ceiling
		request Request
		changes []Change
		want    Code
		beyond  []string
	}{
		{name: "within", request: wish(Model, "src/**"), changes: edit("src/a"), want: Success},
		{name: "new file within", request: wish(Model, "src/**"), changes: []Change{added("src/a")}, want: Success},
		{name: "everything is cut", request: wish(Model, "**"), changes: edit("src/a"), want: Success, beyond: []string{`the path "**"`}},
		{name: "and what lies outside stays outside", request: wish(Model, "**"), changes: edit("lib/a"), want: StopOutsideAllowed, beyond: []string{`the path "**"`}},
		{name: "all lists hold", ceiling: roof(func(c *Ceiling) { c.Allowed = [][]string{{"**"}, {"docs/**"}} }), request: wish(Model, "src/**"), changes: edit("src/a"), want: StopOutsideAllowed, beyond: []string{`the path "src/**"`}},
		{name: "new files closed", ceiling: roof(func(c *Ceiling) { c.NewFiles = false }), request: wish(Model, "src/**"), changes: []Change{added("src/a")}, want: StopNewFile, beyond: []string{"new files"}},
		{name: "lockfiles closed", request: func() Request { r := wish(Model, "src/**"); r.LockfileChanges = true; return r }(), changes: edit("src/go.sum"), want: StopLockfile, beyond: []string{"changes of lockfiles"}},
		{name: "lockfile in another spelling", request: wish(Model, "src/**"), changes: edit("src/GO.SUM"), want: StopLockfile},
		{name: "too many files", request: func() Request { r := wish(Model, "src/**"); r.MaxFiles = 500; return r }(), changes: edit("src/a", "src/b", "src/c", "src/d", "src/e", "src/f"), want: StopDiffTooLarge, beyond: []string{"500 files"}},
		{name: "too many lines", request: func() Request { r := wish(Model, "src/**"); r.MaxLines = 20000; return r }(), changes: []Change{with("src/a", func(c *Change) { c.Lines.Charge = 51 })}, want: StopDiffTooLarge, beyond: []string{"20000 lines"}},
		{name: "less than the ceiling", request: func() Request { r := wish(Model, "src/**"); r.MaxFiles = 1; return r }(), changes: edit("src/a", "src/b"), want: StopDiffTooLarge},
		{name: "a model names a protected glob", request: wish(Model, "ci/**"), changes: edit("ci/run.sh"), want: StopForbidden, beyond: []string{`the path "ci/**"`}},
		{name: "a model names a protected file", request: wish(Model, "src/**", "ci/run.sh"), changes: edit("ci/run.sh"), want: StopForbidden, beyond: []string{`the path "ci/run.sh"`}},
		{name: "in another spelling", ceiling: roof(func(c *Ceiling) { c.Allowed = [][]string{{"**"}} }), request: wish(Model, "src/**", "CI/run.sh"), changes: edit("CI/run.sh"), want: StopForbidden, beyond: []string{`the path "CI/run.sh"`}},
		{name: "the operator names a protected file", request: wish(Operator, "src/**", "ci/run.sh"), changes: edit("ci/run.sh"), want: Success},
		{name: "the operator reaches it by a wider glob", request: wish(Operator, "src/**", "ci/*"), changes: edit("ci/run.sh"), want: StopForbidden},
		{name: "a model leads to the program of a check", request: wish(Model, "src/**"), changes: edit("src/check.sh"), want: StopForbidden},
		{name: "a model names it", request: wish(Model, "src/check.sh"), changes: edit("src/check.sh"), want: StopForbidden, beyond: []string{`the path "src/check.sh"`}},
		{name: "the operator leads to it", request: wish(Operator, "src/**"), changes: edit("src/check.sh"), want: Success},
		{name: "a model names a forbidden path", request: wish(Model, "src/.env"), changes: edit("src/.env"), want: StopForbidden, beyond: []string{`the path "src/.env"`}},
		{name: "the operator does", request: wish(Operator, "src/.env"), changes: edit("src/.env"), want: StopForbidden},
		{name: "a model names relay's own", ceiling: roof(func(c *Ceiling) { c.Allowed = [][]string{{"**"}} }), request: wish(Model, "prd.json"), changes: edit("prd.json"), want: StopRunnerOwned, beyond: []string{`the path "prd.json"`}},
		{name: "an operator's task outside", request: wish(Operator, "lib/**"), changes: edit("lib/a"), want: StopOutsideAllowed, beyond: []string{`the path "lib/**"`}},
		{name: "and with his word", request: func() Request { r := wish(Operator, "lib/**"); r.Beyond, r.MaxFiles = true, 50; return r }(), changes: edit("lib/a"), want: Success},
		{name: "a model can't give it", request: func() Request { r := wish(Model, "lib/**"); r.Beyond = true; return r }(), changes: edit("lib/a"), want: StopOutsideAllowed, beyond: []string{`the path "lib/**"`}},
		{name: "approved", request: wish(Approved, "lib/**", "ci/run.sh"), changes: edit("lib/a", "ci/run.sh"), want: Success},
		{name: "approved opens no program that it does not name", request: wish(Approved, "lib/**", "src/**"), changes: edit("src/check.sh"), want: StopForbidden},
		{name: "nothing to look at", request: Request{Kind: VerifyOnly}, want: Success},
	}
	for _, tt := range tests {
		if tt.ceiling.Allowed == nil {
			tt.ceiling = roof()
		}
		p, beyond := NewPolicy(tt.ceiling, tt.request)
		var got []string
		for _, b := range beyond {
			got = append(got, b.What)
		}
		if !slices.Equal(got, tt.beyond) {
			t.Errorf("%s: beyond %q, want %q", tt.name, got, tt.beyond)
		}
		if v := Judge(Touched{Changes: tt.changes}, p); v.Code != tt.want {
			t.Errorf("%s: %s %+v, want %s", tt.name, v.Code, v.Violations, tt.want)
		}
	}
}

func TestNeeded(t *testing.T) {
	t.Parallel()
	for glob, needed := range map[string]bool{"**": false, "**/*.md": false, "lib/**": true, "lib/*.go": true, "s*/**": false, "README.md": true} {
		_, beyond := NewPolicy(roof(), wish(Model, glob))
		if len(beyond) != 1 || beyond[0].Needed != needed || beyond[0].Glob != glob {
			t.Errorf("%s: %+v", glob, beyond)
		}
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		by, glob string
		want     bool
	}{
		{"**", "a", true}, {"**", "**", true}, {"**", "a/*/b?", true}, {"src/**", "src/a/**", true}, {"src/**", "src", true}, {"src/**", "src/**/*", true}, {"src/**/*", "src/**", false},
		{"**/*", "**", true}, {"src/*", "src/a", true}, {"src/*", "src/a/b", false}, {"src/*", "src/**", false}, {"src/a", "src/*", false}, {"src/a*", "src/ab?", true}, {"src/a?", "src/a*", false},
		{"a?", "a\u00e9", true}, {"*.go", "a*.go", true}, {"*a*b*", "xaxbx", true}, {"*a*b*", "*b*a*b", true}, {"*ab", "*b", false}, {"**/x", "x", true}, {"**/x", "a/**/x", true}, {"**/x", "a/**", false},
		{"**/a/**", "b/a/c", true}, {"a/**/b", "a/b", true}, {"a/**/b", "a/**/c/b", true}, {"a/*/b", "a/**/b", false}, {"A/**", "a/b", false}, {"**/*.md", "docs/**", false}, {"docs/**", "**/*.md", false},
	} {
		if got := Covers([]string{tt.by}, tt.glob); got != tt.want {
			t.Errorf("%q covers %q: %v", tt.by, tt.glob, got)
		}
	}
	if Covers(nil, "a") || !Covers([]string{"x", "a"}, "a") {
		t.Error("lists")
	}
}

// FuzzCovers holds what is said of two globs against the paths that they match.
func FuzzCovers(f *testing.F) {
	f.Add("src/**", "src/*.go", "src/a.go")
	f.Add("**/a*/b?", "a/**/ab/b*", "a/ab/bc")
	f.Add("*\u00e9*", "?\u00e9", "a\u00e9")
	f.Fuzz(func(t *testing.T, by, glob, path string) {
		if ValidGlob(by) != nil || ValidGlob(glob) != nil || HostileName(path) != "" || len(by)+len(glob)+len(path) > 200 {
			return
		}
		inBy, inGlob := Match([]string{by}, path), Match([]string{glob}, path)
		if inGlob && !inBy && Covers([]string{by}, glob) {
			t.Errorf("%q does not cover %q: %q", by, glob, path)
		}
		if inBy && inGlob && !Meets([]string{by}, glob) {
			t.Errorf("%q meets %q in %q", by, glob, path)
		}
		if !Covers([]string{"**"}, glob) || !Meets([]string{"**"}, glob) || !Meets([]string{glob}, glob) {
			t.Errorf("%q", glob)
		}
	})
}

func TestFolding(t *testing.T) {
	t.Parallel()
	owned := []string{"relay.config.json", "prd.json", "relais", "relais/**", "config/services/**"}
	for path, want := range map[string]bool{
		"prd.json": true, "PRD.json": true, "Prd.JSON. .": true, "prd.json::$DATA": true, "prd\u200b.json": false, "relay.con\ufb01g.json": true, "Relais/prompts/x": true, "relai\u017f/x": true,
		"RELAIS": true, "relais./x": true, "con\ufb01g/Services /a.yaml": true, "relaix": false, "src/prd.json": false, "prd.jso": false, "relay.config.json.bak": false, "prd.json.md": false,
	} {
		if _, got := folding(owned).first(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
	// As letters, where they count.
	if Match(owned, "PRD.json") {
		t.Error("an ordinary glob folds")
	}
	if v := Judge(Touched{Changes: []Change{edited("src/A_TEST.go")}}, law()); v.Code != Success {
		t.Errorf("%+v", v)
	}
}
