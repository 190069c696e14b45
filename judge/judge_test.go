package judge

import (
	"fmt"
	"io/fs"
	"math"
	"reflect"
	"strings"
	"testing"
)

// law is a policy under which an edit of src/a.txt is a success.
func law(change ...func(*Policy)) Policy {
	p := Policy{
		kind:      Execute,
		within:    [][]string{{"**"}},
		opens:     true,
		allowed:   []string{"src/**"},
		forbidden: []string{".git/**", "**/.env*", "**/*secret*"},
		owned:     []string{".relay/**", "relay.config.json"},
		protected: []string{"ci/**", "src/**/*.golden"},
		tests:     []string{"**/*_test.go"},
		lockfiles: []string{"go.sum", "yarn.lock"},
		maxFiles:  3,
		maxLines:  20,
		commits:   StopCommits,
	}
	for _, f := range change {
		f(&p)
	}
	return p
}

func edited(path string) Change {
	return Change{Path: path, Kind: Modified, OldMode: 0o644, NewMode: 0o644, Nlink: 1, Size: 10, Lines: LineCount{Added: 1, Deleted: 1, Charge: 2}}
}

// with gives an edit of path that f altered.
func with(path string, f func(*Change)) Change {
	c := edited(path)
	f(&c)
	return c
}

func added(path string) Change {
	return with(path, func(c *Change) { c.Kind, c.OldMode = Added, 0 })
}

func linked(path, target string) Change {
	return with(path, func(c *Change) { c.NewMode, c.Link = fs.ModeSymlink|0o777, target })
}

func ignored(c Change) Change {
	c.Ignored = true
	return c
}

func TestJudge(t *testing.T) {
	t.Parallel()
	newFiles := func(p *Policy) { p.newFiles = true }
	everything := func(p *Policy) { p.allowed = []string{"**"} }
	caches := func(p *Policy) { p.scratch = []string{"**/__pycache__/**"} }
	tests := []struct {
		name    string
		changes []Change
		policy  Policy
		want    Code
		rule    string // part of the first violation's rule
		kept    int
		scratch int
	}{
		{name: "nothing", policy: law(), want: Success},
		{name: "a tool's cache with a forbidden name", changes: []Change{ignored(added(".mypy_cache/3.12/secrets.meta.json")), ignored(edited("build/secret.class"))}, policy: law(), want: Success, scratch: 2},
		{name: "a forbidden name that git ignores", changes: []Change{ignored(edited("config/secret.key"))}, policy: law(), want: StopForbidden, kept: 1},
		{name: "an installed program", changes: []Change{ignored(edited("node_modules/secret.js"))}, policy: law(), want: StopForbidden, kept: 1},
		{name: "a package that is installed", changes: []Change{ignored(added("node_modules/dep/secret.js"))}, policy: law(), want: Success, scratch: 1},
		{name: "a program among npm's", changes: []Change{ignored(added("node_modules/.bin/secret"))}, policy: law(), want: StopForbidden, kept: 1},
		{name: "a cache that ignores itself", changes: []Change{added(".ruff_cache/.gitignore"), added(".ruff_cache/1/secret")}, policy: law(), want: Success, scratch: 2},
		{name: "a report that ignores itself", changes: []Change{added("htmlcov/.gitignore"), added("htmlcov/token.html")}, policy: law(), want: Success, scratch: 2},
		{name: "a cache that does not", changes: []Change{added(".ruff_cache/1/x")}, policy: law(), want: StopOutsideAllowed, kept: 1},
		{name: "a cache that lands", changes: []Change{added("src/build/secret.class")}, policy: law(newFiles), want: StopForbidden, kept: 1},
		{name: "edit in scope", changes: []Change{edited("src/a.txt")}, policy: law(), want: Success, kept: 1},
		{name: "dot file in scope", changes: []Change{edited("src/.rc")}, policy: law(), want: Success, kept: 1},
		{name: "unicode and spaces", changes: []Change{edited("src/caf\u00e9 -> b.txt")}, policy: law(), want: Success, kept: 1},
		{name: "deletion in scope", changes: []Change{with("src/a.txt", func(c *Change) { c.Kind, c.NewMode = Deleted, 0 })}, policy: law(), want: Success, kept: 1},
		{name: "mode in scope", changes: []Change{with("src/a.txt", func(c *Change) { c.Kind, c.NewMode = ModeOnly, 0o755 })}, policy: law(), want: Success, kept: 1},

		{name: "relay's own", changes: []Change{edited(".relay/STATE.json")}, policy: law(everything), want: StopRunnerOwned, rule: ".relay/**"},
		{name: "relay's own even when ignored", changes: []Change{ignored(added(".relay/x"))}, policy: law(), want: StopRunnerOwned},
		{name: "relay's folder replaced", changes: []Change{added(".relay")}, policy: law(), want: StopRunnerOwned},
		{name: "configuration", changes: []Change{edited("relay.config.json")}, policy: law(everything), want: StopRunnerOwned},
		{name: "relay's folder made read-only", changes: []Change{with(".relay", func(c *Change) { c.Kind, c.NewMode = ModeOnly, fs.ModeDir|0o555 })}, policy: law(), want: StopRunnerOwned},

		{name: "forbidden in scope", changes: []Change{edited("src/.env")}, policy: law(), want: StopForbidden, rule: "**/.env*", kept: 1},
		{name: "forbidden and ignored", changes: []Change{ignored(edited(".env"))}, policy: law(), want: StopForbidden, kept: 1},
		{name: "forbidden deletion", changes: []Change{with(".env", func(c *Change) { c.Kind, c.NewMode = Deleted, 0 })}, policy: law(), want: StopForbidden, kept: 1},
		{name: "hostile name in scope", changes: []Change{added("src/a\n.txt")}, policy: law(newFiles), want: StopForbidden, rule: "control", kept: 1},
		{name: "name that is not UTF-8", changes: []Change{added("src/\xff")}, policy: law(newFiles), want: StopForbidden, rule: "UTF-8", kept: 1},
		{name: "such names of the base", changes: []Change{edited("src/a\n.txt"), edited("src/\xff")}, policy: law(), want: Success, kept: 2},
		{name: "such a name out of the repository", changes: []Change{edited("../\xff")}, policy: law(), want: StopForbidden, rule: "inside the repository", kept: 1},
		{name: "nested .git", changes: []Change{added("src/lib/.git/config")}, policy: law(newFiles), want: StopForbidden, kept: 1},
		{name: "repository among ignored output", changes: []Change{ignored(added("out/lib/.git/HEAD")), ignored(added("out/mod/.git"))}, policy: law(), want: Success, scratch: 2},
		{name: "ignored repository in scope", changes: []Change{ignored(added("src/lib/.git/HEAD"))}, policy: law(newFiles), want: StopForbidden, kept: 1},
		{name: "what looks like one among ignored output", changes: []Change{ignored(added("out/.GIT/HEAD"))}, policy: law(), want: StopForbidden, kept: 1},
		{name: "hostile name in one among ignored output", changes: []Change{ignored(added("out/.git/a\n"))}, policy: law(), want: StopForbidden, kept: 1},
		{name: "status of a repository inside", changes: []Change{edited("src/lib/.git/index"), edited("vendor/lib/.git/index")}, policy: law(), want: Success},
		{name: "new index of a repository inside", changes: []Change{added("src/lib/.git/index")}, policy: law(newFiles), want: StopForbidden, kept: 1},
		{name: "HEAD of a repository inside", changes: []Change{edited("vendor/lib/.git/HEAD")}, policy: law(), want: StopForbidden, kept: 1},
		{name: "path that climbs", changes: []Change{edited("src/../x")}, policy: law(everything), want: StopForbidden, rule: "not a path", kept: 1},

		{name: "FIFO", changes: []Change{{Path: "src/p", Kind: Special, NewMode: fs.ModeNamedPipe, Note: "FIFO"}}, policy: law(newFiles), want: StopForbidden, rule: "FIFO", kept: 1},
		{name: "ignored FIFO", changes: []Change{{Path: "out/p", Kind: Special, NewMode: fs.ModeNamedPipe, Ignored: true}}, policy: law(), want: StopForbidden, kept: 1},
		{name: "device said to be modified", changes: []Change{with("src/a", func(c *Change) { c.NewMode = fs.ModeDevice | 0o644 })}, policy: law(), want: StopForbidden, rule: "special", kept: 1},
		{name: "unknown kind", changes: []Change{with("src/a", func(c *Change) { c.Kind = 0 })}, policy: law(), want: StopForbidden, kept: 1},
		{name: "hard link", changes: []Change{with("src/a", func(c *Change) { c.Nlink = 2 })}, policy: law(), want: StopForbidden, rule: "hard link", kept: 1},
		{name: "hard links in ignored output", changes: []Change{ignored(with("target/a", func(c *Change) { c.Nlink = 2 }))}, policy: law(), want: Success, scratch: 1},
		{name: "hard link, ignored but in scope", changes: []Change{ignored(with("src/a", func(c *Change) { c.Nlink = 2 }))}, policy: law(), want: StopForbidden, kept: 1},
		{name: "setuid", changes: []Change{with("src/a", func(c *Change) { c.NewMode |= fs.ModeSetuid })}, policy: law(), want: StopForbidden, rule: "setuid", kept: 1},
		{name: "setgid folder that already was", changes: []Change{with("src/d", func(c *Change) {
			c.Kind, c.OldMode, c.NewMode, c.Nlink = ModeOnly, fs.ModeDir|fs.ModeSetgid|0o755, fs.ModeDir|fs.ModeSetgid|0o700, 5
		})}, policy: law(), want: Success},
		{name: "folder out of scope gets other permissions", changes: []Change{with("docs", func(c *Change) {
			c.Kind, c.OldMode, c.NewMode = ModeOnly, fs.ModeDir|0o755, fs.ModeDir|0o777
		})}, policy: law(), want: StopOutsideAllowed, kept: 1},
		{name: "unreadable file in scope", changes: []Change{with("src/a", func(c *Change) { c.NewMode = 0o200 })}, policy: law(), want: StopForbidden, rule: "read by its owner", kept: 1},
		{name: "unreadable file out of scope", changes: []Change{with("docs/a", func(c *Change) { c.NewMode = 0 })}, policy: law(), want: StopOutsideAllowed, kept: 1},
		{name: "folder becomes sticky", changes: []Change{with("src/d", func(c *Change) {
			c.Kind, c.OldMode, c.NewMode = ModeOnly, fs.ModeDir|0o755, fs.ModeDir|fs.ModeSticky|0o755
		})}, policy: law(), want: StopForbidden, kept: 1},

		{name: "link in scope", changes: []Change{linked("src/l", "b.txt")}, policy: law(), want: Success, kept: 1},
		{name: "link up and down again", changes: []Change{linked("src/d/l", "../b.txt")}, policy: law(), want: Success, kept: 1},
		{name: "link to the allowed folder", changes: []Change{linked("src/d/l", "..")}, policy: law(), want: Success, kept: 1},
		{name: "absolute link", changes: []Change{linked("src/l", "/etc/passwd")}, policy: law(), want: StopForbidden, rule: "not a relative path", kept: 1},
		{name: "link without a target", changes: []Change{linked("src/l", "")}, policy: law(), want: StopForbidden, kept: 1},
		{name: "link that git does not hold", changes: []Change{linked("src/.gitModules", "a.txt"), linked("src/GITMOD~1", "a.txt")}, policy: law(), want: StopForbidden, rule: ".gitmodules", kept: 2},
		{name: "link to a forbidden file", changes: []Change{linked("src/l", ".env")}, policy: law(), want: StopForbidden, rule: `"**/.env*"`, kept: 1},
		{name: "link out of scope", changes: []Change{linked("src/l", "../docs/x")}, policy: law(), want: StopForbidden, rule: "outside the allowed", kept: 1},
		{name: "link out of the repository", changes: []Change{linked("src/l", "../../x")}, policy: law(everything), want: StopForbidden, kept: 1},
		{name: "link to the root", changes: []Change{linked("l", ".")}, policy: law(everything), want: Success, kept: 1},
		{name: "link to relay's folder", changes: []Change{linked("src/l", "../.relay/STATE.json")}, policy: law(everything), want: StopForbidden, rule: "belongs to relay", kept: 1},
		{name: "link into .git", changes: []Change{linked("src/l", "../.git/config")}, policy: law(everything, func(p *Policy) { p.forbidden = nil }), want: StopForbidden, kept: 1},
		{name: "link through a name and back", changes: []Change{linked("src/l", "ext/../b.txt")}, policy: law(), want: StopForbidden, rule: `".." after a name`, kept: 1},
		{name: "link with a hostile target", changes: []Change{linked("src/l", "b\x1b.txt")}, policy: law(), want: StopForbidden, rule: "target contains", kept: 1},
		{name: "ignored file becomes a link", changes: []Change{ignored(linked("out/x", "/etc"))}, policy: law(), want: StopForbidden, kept: 1},
		{name: "ignored link remade", changes: []Change{ignored(with("out/x", func(c *Change) {
			*c = linked("out/x", "/etc")
			c.OldMode = fs.ModeSymlink | 0o777
		}))}, policy: law(), want: Success, scratch: 1},
		{name: "link in scope remade", changes: []Change{ignored(with("src/x", func(c *Change) {
			*c = linked("src/x", "/etc")
			c.OldMode = fs.ModeSymlink | 0o777
		}))}, policy: law(), want: StopForbidden, kept: 1},
		{name: "ignored links cleared away", changes: []Change{ignored(with("out/x", func(c *Change) {
			c.Kind, c.OldMode, c.NewMode, c.Nlink = Deleted, fs.ModeSymlink|0o777, 0, 0
		}))}, policy: law(), want: Success, scratch: 1},
		{name: "new ignored link", changes: []Change{ignored(with("venv/python", func(c *Change) {
			*c = linked("venv/python", "/usr/bin/python3")
			c.Kind, c.OldMode = Added, 0
		}))}, policy: law(), want: Success, scratch: 1},

		{name: "protected, out of scope", changes: []Change{edited("ci/x.yml")}, policy: law(), want: StopOutsideAllowed, kept: 1},
		{name: "protected", changes: []Change{edited("ci/x.yml")}, policy: law(everything), want: StopForbidden, rule: "verified", kept: 1},
		{name: "protected deletion", changes: []Change{with("src/t/x.golden", func(c *Change) { c.Kind, c.NewMode = Deleted, 0 })}, policy: law(), want: StopForbidden, rule: "verified", kept: 1},
		{name: "protected, named by its path", changes: []Change{edited("ci/x.yml")}, policy: law(func(p *Policy) { p.allowed = append(p.allowed, "ci/x.yml") }), want: Success, kept: 1},
		{name: "protected, named by its glob", changes: []Change{edited("ci/x.yml")}, policy: law(func(p *Policy) { p.allowed = append(p.allowed, "ci/**") }), want: Success, kept: 1},
		{name: "protected, matched by another glob", changes: []Change{edited("ci/x.yml")}, policy: law(func(p *Policy) { p.allowed = append(p.allowed, "ci/*") }), want: StopForbidden, kept: 1},
		{name: "forbidden, named by its path", changes: []Change{edited("src/.env")}, policy: law(func(p *Policy) { p.allowed = append(p.allowed, "src/.env") }), want: StopForbidden, kept: 1},
		{name: "existing test", changes: []Change{edited("src/a_test.go")}, policy: law(), want: Success, kept: 1},
		{name: "existing test removed", changes: []Change{with("src/a_test.go", func(c *Change) { c.Kind, c.NewMode = Deleted, 0 })}, policy: law(), want: StopForbidden, kept: 1},
		{name: "new test", changes: []Change{added("src/a_test.go")}, policy: law(newFiles), want: Success, kept: 1},
		{name: "existing test, named", changes: []Change{edited("src/a_test.go")}, policy: law(func(p *Policy) { p.allowed = append(p.allowed, "src/a_test.go") }), want: Success, kept: 1},
		{name: "operator's edit of the same file", changes: []Change{with("src/a", func(c *Change) { c.Raced = true })}, policy: law(), want: StopHeadMoved, rule: "while the builder ran", kept: 1},
		{name: "operator's edit of scratch", changes: []Change{ignored(with("out/a", func(c *Change) { c.Raced = true }))}, policy: law(), want: Success, scratch: 1},
		{name: "ignored cache beside protected files", changes: []Change{ignored(added("ci/cache/x"))}, policy: law(), want: Success, scratch: 1},

		{name: "ignored scratch", changes: []Change{ignored(added("build/x")), ignored(edited("a.log"))}, policy: law(), want: Success, scratch: 2},
		{name: "ignored deletion", changes: []Change{ignored(with("build/x", func(c *Change) { c.Kind, c.NewMode = Deleted, 0 }))}, policy: law(), want: Success, scratch: 1},
		{name: "ignored in scope", changes: []Change{ignored(added("src/x.log"))}, policy: law(), want: StopNewFile, kept: 1},
		{name: "ignored in scope, new files allowed", changes: []Change{ignored(added("src/x.log"))}, policy: law(newFiles), want: Success, kept: 1},
		{name: "cache in scope", changes: []Change{ignored(added("src/lib/__pycache__/x.pyc")), ignored(edited("src/__pycache__/y.pyc"))}, policy: law(caches), want: Success, scratch: 2},
		{name: "bytecode in scope that git does not ignore", changes: []Change{added("src/__pycache__/x.cpython-311.pyc"), edited("src/__pycache__/y.cpython-311.opt-1.pyc")}, policy: law(caches), want: Success, scratch: 2},
		{name: "cache in scope that git does not ignore", changes: []Change{added("src/__pycache__/x")}, policy: law(caches), want: StopNewFile, kept: 1},
		{name: "bytecode in the place of a module", changes: []Change{added("src/x.pyc")}, policy: law(caches, newFiles), want: StopForbidden, kept: 1},
		{name: "forbidden cache", changes: []Change{ignored(added("src/__pycache__/secret"))}, policy: law(caches), want: StopForbidden, kept: 1},
		{name: "ignored output in a scope of everything", changes: []Change{ignored(added("target/x")), ignored(edited("src/x.log"))}, policy: law(everything), want: Success, scratch: 2},
		{name: "ignored output that the scope leads to", changes: []Change{ignored(added("target/x"))}, policy: law(everything, func(p *Policy) {
			p.allowed = append(p.allowed, "target/**")
		}), want: StopNewFile, kept: 1},
		{name: "empty folders", changes: []Change{
			{Path: "docs/x", Kind: Added, NewMode: fs.ModeDir | 0o755, Nlink: 2},
			{Path: "tmp", Kind: Deleted, OldMode: fs.ModeDir | 0o755},
		}, policy: law(), want: Success},

		{name: "outside", changes: []Change{edited("docs/guide.md")}, policy: law(), want: StopOutsideAllowed, kept: 1},
		{name: "outside, mode only", changes: []Change{with("docs/g", func(c *Change) { c.Kind, c.NewMode = ModeOnly, 0o755 })}, policy: law(), want: StopOutsideAllowed, kept: 1},
		{name: "rename out of scope", changes: []Change{with("docs/g", func(c *Change) { c.Kind, c.NewMode = Deleted, 0 }), added("src/g")}, policy: law(), want: StopOutsideAllowed, kept: 2},
		{name: "new file", changes: []Change{added("src/n")}, policy: law(), want: StopNewFile, kept: 1},
		{name: "new file allowed", changes: []Change{added("src/n")}, policy: law(newFiles), want: Success, kept: 1},
		{name: "lockfile", changes: []Change{edited("src/sub/go.sum")}, policy: law(), want: StopLockfile, kept: 1},
		{name: "lockfile allowed", changes: []Change{edited("src/go.sum")}, policy: law(func(p *Policy) { p.lockfileChanges = true }), want: Success, kept: 1},
		{name: "name that contains a lockfile's", changes: []Change{edited("src/xgo.sum")}, policy: law(), want: Success, kept: 1},
		{name: "too many files", changes: []Change{edited("src/a"), edited("src/b"), edited("src/c"), edited("src/d")}, policy: law(), want: StopDiffTooLarge, rule: "4 files", kept: 4},
		{name: "as many files as allowed", changes: []Change{edited("src/a"), edited("src/b"), edited("src/c")}, policy: law(), want: Success, kept: 3},
		{name: "too many lines", changes: []Change{with("src/a", func(c *Change) { c.Lines.Charge = 21 })}, policy: law(), want: StopDiffTooLarge, rule: "21 lines", kept: 1},
		{name: "as many lines as allowed", changes: []Change{with("src/a", func(c *Change) { c.Lines.Charge = 20 })}, policy: law(), want: Success, kept: 1},
		{name: "lines that wrap", changes: []Change{with("src/a", func(c *Change) { c.Lines.Charge = math.MaxInt32 }), edited("src/b")}, policy: law(), want: StopDiffTooLarge, kept: 2},
		{name: "negative lines", changes: []Change{with("src/a", func(c *Change) { c.Lines.Charge = -5 })}, policy: law(), want: StopDiffTooLarge, kept: 1},
		{name: "a file too large to read", changes: []Change{with("src/a", func(c *Change) { c.Lines, c.Size = LineCount{TooLarge: true}, MaxFileSize+1 })}, policy: law(), want: StopDiffTooLarge, rule: "8 MiB", kept: 1},
		{name: "a small file after too large ones", changes: []Change{with("src/a", func(c *Change) { c.Lines = LineCount{TooLarge: true} })}, policy: law(), want: StopDiffTooLarge, rule: "too large without it", kept: 1},
		{name: "large scratch", changes: []Change{ignored(with("out/a", func(c *Change) { c.Lines = LineCount{TooLarge: true, Charge: 1 << 30} }))}, policy: law(), want: Success, scratch: 1},
		{name: "no limits", changes: []Change{edited("src/a")}, policy: law(func(p *Policy) { p.maxFiles, p.maxLines = 0, 0 }), want: StopDiffTooLarge, kept: 1},

		{name: "question with an edit", changes: []Change{edited("src/a")}, policy: law(func(p *Policy) { p.kind = Question }), want: StopQuestionChanged, kept: 1},
		{name: "question without", changes: []Change{ignored(edited("build/x"))}, policy: law(func(p *Policy) { p.kind = Question }), want: Success, scratch: 1},
		{name: "question with an edit out of scope", changes: []Change{edited("docs/a")}, policy: law(func(p *Policy) { p.kind = Question }), want: StopOutsideAllowed, kept: 1},
		{name: "verify_only with an edit", changes: []Change{edited("src/a")}, policy: law(func(p *Policy) { p.kind = VerifyOnly }), want: StopVerifyOnlyChanged, kept: 1},
		{name: "unknown kind of task", changes: []Change{edited("src/a")}, policy: law(func(p *Policy) { p.kind = "other" }), want: StopVerifyOnlyChanged, kept: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := Judge(Touched{Changes: tt.changes, Branch: "main"}, tt.policy)
			if v.Code != tt.want || len(v.Kept) != tt.kept || v.Scratch != tt.scratch {
				t.Fatalf("code %s, kept %d, scratch %d; want %s, %d, %d\n%+v", v.Code, len(v.Kept), v.Scratch, tt.want, tt.kept, tt.scratch, v.Violations)
			}
			if tt.want == Success {
				if len(v.Violations) > 0 {
					t.Errorf("a success with violations %+v", v.Violations)
				}
				return
			}
			if v.Violations[0].Code != v.Code || !strings.Contains(v.Violations[0].Rule, tt.rule) {
				t.Errorf("first violation %+v, want a rule with %q", v.Violations[0], tt.rule)
			}
		})
	}
}

func TestJudgeRootAndOverflow(t *testing.T) {
	t.Parallel()
	v := Judge(Touched{RootMode: true}, law(func(p *Policy) { p.allowed = []string{"**"} }))
	if v.Code != StopOutsideAllowed || v.Violations[0].Path != "." {
		t.Errorf("root mode: %+v", v)
	}
	v = Judge(Touched{Elsewhere: []string{"changed /main/a"}}, law(func(p *Policy) { p.allowed = []string{"**"} }))
	if v.Code != StopOutsideAllowed || v.Violations[0].Path != "changed /main/a" {
		t.Errorf("the main work tree: %+v", v)
	}
	wide := Change{Path: "src/a", Kind: Modified, OldMode: 0o644, NewMode: 0o644, Lines: LineCount{Binary: true, Charge: 4999}}
	v = Judge(Touched{Changes: []Change{wide}}, law(func(p *Policy) { p.allowed = []string{"**"} }))
	if v.Code != StopDiffTooLarge || !strings.Contains(v.Violations[0].Rule, "changes 4999 lines (4999 of them for binary content") {
		t.Errorf("binary content: %+v", v)
	}
	if v := Judge(Touched{Overflow: true}, law()); v.Code != StopDiffTooLarge {
		t.Errorf("overflow: %+v", v)
	}
}

// The order is that of appendix A4: with everything broken at once the first wins,
// and as the first is mended the next one does.
func TestJudgeOrder(t *testing.T) {
	t.Parallel()
	touched := Touched{
		Branch: "main",
		Git:    []Change{edited("refs/tags/v1")},
		Changes: []Change{
			edited("docs/x"),
			edited("relay.config.json"),
			edited("src/a_secret"),
			edited("src/go.sum"),
			added("src/n"),
		},
	}
	p := law(func(p *Policy) { p.kind, p.maxFiles = Question, 1 })
	steps := []struct {
		want Code
		mend func()
	}{
		{StopRunnerOwned, func() { p.owned = nil }},
		{StopForbidden, func() { p.forbidden = nil }},
		{StopOutsideAllowed, func() { p.allowed = []string{"**"} }},
		{StopNewFile, func() { p.newFiles = true }},
		{StopLockfile, func() { p.lockfileChanges = true }},
		{StopDiffTooLarge, func() { p.maxFiles, p.maxLines = 9, 99 }},
		{StopQuestionChanged, func() { p.kind = VerifyOnly }},
		{StopVerifyOnlyChanged, func() { p.kind = Execute }},
		{StopHeadMoved, func() { touched.Git = nil }},
		{Success, func() {}},
	}
	for _, s := range steps {
		v := Judge(touched, p)
		if v.Code != s.want {
			t.Fatalf("got %s, want %s\n%+v", v.Code, s.want, v.Violations)
		}
		rank := -1
		for _, x := range v.Violations {
			r := ranked(x.Code)
			if r < rank {
				t.Fatalf("violations out of order: %+v", v.Violations)
			}
			rank = r
		}
		s.mend()
	}
}

func ranked(c Code) int {
	for i, x := range order {
		if x == c {
			return i
		}
	}
	return -1
}

func TestJudgeListsAllButBounded(t *testing.T) {
	t.Parallel()
	v := Judge(Touched{Changes: []Change{added("docs/a"), edited("src/.env")}}, law())
	var got []string
	for _, x := range v.Violations {
		got = append(got, fmt.Sprintf("%s %s", x.Code, x.Path))
	}
	want := []string{
		"STOP_SCOPE_VIOLATION_FORBIDDEN src/.env",
		"STOP_SCOPE_VIOLATION_OUTSIDE_ALLOWED docs/a",
		"STOP_SCOPE_VIOLATION_NEW_FILE docs/a",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	var many []Change
	for i := range 1000 {
		many = append(many, added(fmt.Sprintf("docs/%03d", i)))
	}
	v = Judge(Touched{Changes: many}, law())
	if len(v.Violations) != maxViolations || v.Radius.Files != 1000 || len(v.Kept) != law().maxFiles+1 {
		t.Errorf("%d violations, %d files, %d kept", len(v.Violations), v.Radius.Files, len(v.Kept))
	}
}

func TestJudgeRadius(t *testing.T) {
	t.Parallel()
	a, b := added("src/n"), edited("src/a")
	a.Lines = LineCount{Added: 7, Charge: 7}
	v := Judge(Touched{Changes: []Change{a, b, ignored(edited("build/x"))}}, law(func(p *Policy) { p.newFiles = true }))
	if want := (BlastRadius{Files: 2, Added: 8, Deleted: 1, New: 1}); v.Radius != want {
		t.Errorf("got %+v, want %+v", v.Radius, want)
	}
}

func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{12, 500, MaxChanges} {
		p := law()
		for i := range 64 {
			p.allowed = append(p.allowed, fmt.Sprintf("pkg%d/**/*_x.go", i))
			p.forbidden = append(p.forbidden, fmt.Sprintf("**/*secret%d*", i))
		}
		var changes []Change
		for i := range n {
			changes = append(changes, edited(fmt.Sprintf("src/deep/folder%d/of/files/f%d.go", i%100, i)))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Judge(Touched{Changes: changes}, p)
			}
		})
	}
}
