package inline

import (
	"strings"
	"testing"
)

const rust = `//! Adds.
pub fn add(a: i32, b: i32) -> i32 { a + b } // "

const ODD: &str = r#"}}" #[test] fn x() {"#;
fn life<'a>(c: &'a str) -> char { if c == "{\"" { '{' } else { '\'' } }
/* { /* nested */ { */
mod deep {
    pub fn two() -> i32 { 2 }
    /// Two.
    #[test]
    fn twos() { assert_eq!(two(), 2); }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn adds() { assert_eq!(add(2, 3), 5); }
}
`

func TestPutBack(t *testing.T) {
	t.Parallel()
	weak := func(old ...string) string { return strings.NewReplacer(old...).Replace(rust) }
	tests := rust[strings.Index(rust, "#[cfg(test)]"):]
	for _, tt := range []struct{ name, base, now, want string }{
		{"the code alone", rust, weak("a + b", "a * b"), ""},
		{"a test's value", rust, weak("a + b", "a * b", "3), 5", "3), 6"), weak("a + b", "a * b")},
		{"in a block of the code", rust, weak("two(), 2", "two(), 3", "{ 2 }", "{ 3 }"), weak("{ 2 }", "{ 3 }")},
		{"skipped", rust, weak("    fn adds", "    #[ignore]\n    fn adds"), rust},
		{"a new test beside", rust, weak("    #[test]\n    fn adds", "    #[test]\n    fn more() {}\n    #[test]\n    fn adds"), rust},
		{"all are gone", rust, weak(tests, ""), weak(tests, "") + "\n" + strings.TrimSpace(tests) + "\n"},
		{"the block is gone", rust, weak("mod deep", "mod other"), "?"},
		{"a brace without end", rust, rust + "fn x() {", "?"},
		{"a text without end", rust, rust + `const X: &str = "`, "?"},
		{"no tests before", "fn a() {}\n", "fn a() {}\n" + tests, ""},
		{"another condition", "#[cfg(not(test))]\nfn a() {}\n#[cfg(feature = \"x\")]\nfn b() {}\n", "fn c() {}\n", ""},
		{"a helper", "#[cfg(all(test, unix))]\npub(crate) const fn five() -> [i32; 1] { [5] }\nfn a() {}\n",
			"#[cfg(all(test, unix))]\npub(crate) const fn five() -> [i32; 1] { [6] }\nfn b() {}\n", "#[cfg(all(test, unix))]\npub(crate) const fn five() -> [i32; 1] { [5] }\nfn b() {}\n"},
		{"a runtime's tests", "#[tokio::test(flavor = \"x\")]\nasync fn a() { ok() }\n", "#[tokio::test(flavor = \"x\")]\nasync fn a() {}\n", "#[tokio::test(flavor = \"x\")]\nasync fn a() { ok() }\n"},
	} {
		got, ok := PutBack("src/lib.rs", tt.base, tt.now)
		if !ok {
			got = "?"
		}
		if got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tt.name, got, tt.want)
		}
	}
	for name, base := range map[string]string{
		"a.zig": "fn add(a: i32, test_: i32) i32 { return a + test_; }\nconst s =\n    \\\\ { \"\n;\ntest \"adds\" { try expect(add(2, 3) == 5); }\ntest add { try expect(5 == 5); }\n",
		"a.d":   "int add(int a, int b) { return a + b; } /+ { /+ +/ +/\nunittest { assert(5 == 5); }\nauto s = `{`;\n",
	} {
		now := strings.ReplaceAll(base, "a +", "a *")
		if got, ok := PutBack(name, base, strings.ReplaceAll(now, "== 5", "== 6")); !ok || got != now {
			t.Errorf("%s: %v\n%s", name, ok, got)
		}
	}
	if got, ok := PutBack("a.go", "x", "{"); got != "" || !ok {
		t.Error("a language of which nothing is known")
	}
}
