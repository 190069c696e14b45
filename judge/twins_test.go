package judge

import (
	"io/fs"
	"testing"
)

func TestNamesThatDifferByCase(t *testing.T) {
	t.Parallel()
	gone := func(path string) Change {
		return with(path, func(c *Change) { c.Kind, c.NewMode = Deleted, 0 })
	}
	folder := func(path string) Change {
		return with(path, func(c *Change) { c.Kind, c.OldMode, c.NewMode = Added, 0, fs.ModeDir|0o755 })
	}
	for _, tt := range []struct {
		name    string
		changes []Change
		allowed []string
		opens   bool
		want    Code
	}{
		{name: "a file beside another", changes: []Change{added("src/A.TXT")}, want: StopForbidden},
		{name: "in letters of Unicode", changes: []Change{added("src/\u00c9t\u00e9")}, want: StopForbidden},
		{name: "a folder beside another", changes: []Change{folder("SRC"), added("SRC/new.txt")}, want: StopForbidden},
		{name: "two new ones", changes: []Change{added("src/N"), added("src/n")}, want: StopForbidden},
		{name: "a new one in an old folder", changes: []Change{added("src/new.txt")}, want: Success},
		{name: "the same name elsewhere", changes: []Change{folder("lib"), added("lib/A.TXT")}, want: Success},
		{name: "another spelling of the same file", changes: []Change{added("src/A.TXT"), gone("src/a.txt")}, want: Success},
		{name: "what git ignores", changes: []Change{ignored(added("src/A.TXT"))}, want: Success},
		{name: "a new folder only", changes: []Change{folder("SRC")}, want: Success},
		{name: "named by the operator", changes: []Change{added("src/A.TXT")}, allowed: []string{"src/A.TXT"}, opens: true, want: Success},
		{name: "named by a model", changes: []Change{added("src/A.TXT")}, allowed: []string{"src/A.TXT"}, want: StopForbidden},
	} {
		p := law()
		p.newFiles, p.opens, p.allowed = true, tt.opens, append([]string{"**"}, tt.allowed...)
		p.within = [][]string{{"**"}}
		v := Judge(Touched{Changes: tt.changes, Beside: []string{"src", "src/a.txt", "src/\u00e9t\u00c9"}}, p)
		if v.Code != tt.want {
			t.Errorf("%s: %s, %v", tt.name, v.Code, v.Violations)
		}
	}
}
