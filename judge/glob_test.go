package judge

import (
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		glob, path string
		want       bool
	}{
		{"src/**", "src/a.txt", true},
		{"src/**", "src/lib/deep/a.txt", true},
		{"src/**", "src", true},
		{"src/**", "srcx/a", false},
		{"src/**", "lib/src/a", false},
		{"**", "a", true},
		{"**", ".git/config", true},
		{"**/a", "a", true},
		{"**/a", "x/y/a", true},
		{"**/a", "x/ya", false},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a/**/b", "a/x/y/bb", false},
		{"a/**/**/b", "a/b", true},
		{"a/**/**", "a", true},
		{"a/**/**", "b", false},
		{"a/*/**", "a", false},
		{"*", "a/b", false},
		{"*", ".hidden", true},
		{"src/*", "src/.env", true},
		{"src/*.go", "src/a.go", true},
		{"src/*.go", "src/x/a.go", false},
		{"src/*.go", "src/.go", true},
		{"**/.env*", "src/.env.local", true},
		{"**/.env*", ".env", true},
		{"**/.env*", "src/x.env", false},
		{"**/*token*", "src/.cache/token.json", true},
		{"**/*token*", "src/tokens/x", false},
		{"**/*token*/**", "src/tokens/x", true},
		{"**/*token*/**", "src/token", true},
		{"**/node_modules/**", "node_modules/.bin/tool", true},
		{"README.md", "readme.md", false},
		{"README.md", "docs/README.md", false},
		{"?.txt", "a.txt", true},
		{"?.txt", "é.txt", true},
		{"?.txt", "世.txt", true},
		{"?.txt", "ab.txt", false},
		{"?.txt", "\xff.txt", true},
		{"??d*", "世dx", false},
		{"*??d*", "世dx", false},
		{"*??d*", "a世dx", true},
		{"?", "/", false},
		{"a?b", "a/b", false},
		{"a*b*c", "aXbXbc", true},
		{"a*b*c", "aXbXbd", false},
		{"café", "cafe\u0301", false}, // bytes: composed and decomposed are different names
		{"a b -> c", "a b -> c", true},
		{"\ufffd.txt", "\xff.txt", false},
		{"\ufffd.txt", "\ufffd.txt", true},
		{"[ab]", "[ab]", true}, // no valid glob, but the name of a program
		{"[ab]", "a", false},
		{"{a,b}/*", "{a,b}/x", true},
		{`a\*`, `a\x`, true},
		{"", "a", false},
		{"**", "", false},
	}
	for _, tt := range tests {
		if got := Match([]string{tt.glob}, tt.path); got != tt.want {
			t.Errorf("Match(%q, %q) = %v", tt.glob, tt.path, got)
		}
	}
	if Match(nil, "a") {
		t.Error("no globs match nothing")
	}
	if g, ok := compile([]string{"x", "a/*", "a/**"}).first("a/b"); !ok || g != "a/*" {
		t.Errorf("first = %q, %v", g, ok)
	}
}

func TestValidGlob(t *testing.T) {
	t.Parallel()
	for _, g := range []string{"a", "src/**", "**", "**/.env*", "a?b/c*", "with space/x", "café/**", "@scope/pkg", "-rf", "a/**/b", "*"} {
		if err := ValidGlob(g); err != nil {
			t.Errorf("%q: %v", g, err)
		}
	}
	for g, why := range map[string]string{
		"":                        "empty",
		"/**":                     `begins with "/"`,
		"~/x":                     `begins with "~"`,
		"!docs/x":                 "'!'",
		"@(src|d)/**":             "'('",
		"[a-z]*/**":               "'['",
		"{a,b":                    "'{'",
		"src/**/*.{ts,tsx}":       `write one pattern for each: "src/**/*.ts", "src/**/*.tsx"`,
		`a\*b`:                    `'\\'`,
		"a//b":                    "empty component",
		"a/":                      "empty component",
		"../x":                    `".."`,
		"./x":                     `"."`,
		"a/***":                   "inside the component",
		"a**":                     "inside the component",
		"a\x00b":                  "control",
		"a\u202eb":                "invisible",
		"a\u200bb":                "invisible",
		"\xff":                    "UTF-8",
		strings.Repeat("a", 1001): "1000 bytes",
	} {
		if err := ValidGlob(g); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("ValidGlob(%.20q) = %v, want ... %s ...", g, err, why)
		}
	}
}

// Patterns made for exponential backtracking cost no more than others. The limit is
// a thousand times what is measured.
func TestMatchNeverBacktracksFar(t *testing.T) {
	t.Parallel()
	globs := []string{
		strings.Repeat("a*", 40) + "b",
		strings.Repeat("**/a*/", 20) + "b",
		strings.Repeat("**/", 60) + "b",
		strings.Repeat("*", 1) + strings.Repeat("?*", 90) + "b",
	}
	begin := time.Now()
	for _, p := range []string{strings.Repeat("a", 250), "x" + strings.Repeat("/aaaa", 190) + "/c", strings.Repeat("a/", 499) + "c"} {
		if g, ok := compile(globs).first(p); ok {
			t.Errorf("%q matches %q", g, p)
		}
	}
	if d := time.Since(begin); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestForbids(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		glob, path string
		want       bool
	}{
		{"src/lib", "src/lib", true},
		{"src/lib", "src/lib/a/b.txt", true},
		{"src/lib", "src/library/b.txt", false},
		{"**/fixtures", "a/fixtures/b.txt", true},
		{"src/*", "src/lib/b.txt", false},
		{"**/*token*", "src/tokenizer/b.txt", false},
		{"**/*token*", "src/my_token.txt", true},
		{"list.json", "src/list.json", false},
	} {
		if got := Forbids([]string{tt.glob}, tt.path); got != tt.want {
			t.Errorf("%q forbids %q: %t", tt.glob, tt.path, got)
		}
		v := Judge(Touched{Changes: []Change{edited(tt.path)}}, law(func(p *Policy) { p.allowed, p.forbidden = []string{"**"}, []string{tt.glob} }))
		if (v.Code == StopForbidden) != tt.want {
			t.Errorf("%q, and %q is judged %s", tt.glob, tt.path, v.Code)
		}
	}
}

func TestHostileName(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"a", "src/❤\ufe0f.md", `src\a.git\x`, "src/a b.txt", ".env", "café.txt", "cafe\u0301.txt", "-rf", ":(exclude)src", ".github/x", ".gitignore",
		"git", "a.git", "x/.gitmodules", "日本/語.txt", "a\u00a0b", strings.Repeat("a", 1000), `q"b\.md`, "...", "1\u20e3", "a~", "notes~1~", "a.b~1", "~1", "longername~1"} {
		if why := HostileName(n); why != "" {
			t.Errorf("%q: %s", n, why)
		}
	}
	for _, n := range []string{"", "a\nb", "a\tb", "\x1b[2J", "a\x7f", "\u0085", "\xff\xfe.md", "a\u202etxt", "a\u200b", "\ufeffa", "a\u2028b",
		".git", ".GIT/config", "src/.git/config", "src/.git ", ".git.", ".git. .", "git~1/x", "GIT~1", ".git::$INDEX_ALLOCATION", ".g\u200cit",
		`src/a\.git\config`, `git~1\x`, "a\u3164", "a\u034fb", "a\U000e0061", "a\U000e0100",
		"d/.git\ufe0f/config", "prd\ufe0f.json", "con\u017f\ufe0eig", "CLAUDE~1/SETTIN~1.JSO", "package.d/PRD~1.JSO", "gi7eba~1",
		"a ", "a /b", strings.Repeat("a", 1001)} {
		if HostileName(n) == "" {
			t.Errorf("%q passes", n)
		}
	}
}
