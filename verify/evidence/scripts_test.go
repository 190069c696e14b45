//go:build linux || darwin

package evidence

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/verify"
)

// What code under test does to PHPUnit and to Perl's tests, and what relay sees of it.
func TestScripts(t *testing.T) {
	t.Parallel()
	php := map[string]string{"tests/ATest.php": "<?php\nrequire_once __DIR__ . '/../src.php';\nfinal class ATest extends PHPUnit\\Framework\\TestCase\n{\n" +
		"    public function test_one(): void\n    {\n        $this->assertSame(1, f());\n    }\n\n    public function test_two(): void\n    {\n        $this->assertSame(2, 2);\n    }\n}\n"}
	perl := map[string]string{"t/a.t": "use Test::More;\nuse lib '.';\nuse Src;\nis(Src::f(), 1, 'one');\nok(1, 'two');\ndone_testing;\n"}
	phpunit, prove := []string{"phpunit", "tests"}, []string{"prove", "t"}
	for _, tt := range []struct {
		name, src string
		argv      []string
		want      string
		code      int
		doubt     string // "" when nothing but the names speaks against it
	}{
		{"honest", "function f() { return 1; }", phpunit, "one pass, two pass", 0, ""},
		{"wrong", "function f() { return 2; }", phpunit, "one fail, two pass", 1, ""},
		{"no assertion is reached", "function f() { PHPUnit\\Framework\\Assert::markTestIncomplete(); }", phpunit, "one skip, two pass", 0, ""},
		{"skip from the source", "function f() { PHPUnit\\Framework\\Assert::markTestSkipped('x'); }", phpunit, "one skip, two pass", 0, ""},
		{"ends within a test", "function f() { exit(0); }", phpunit, "", 0, "ended early"},
		{"ends at its end", "register_shutdown_function(fn () => exit(0)); function f() { return 2; }", phpunit, "one fail, two pass", 0, ""},
		{"has its test expect the failure", "function f() { foreach (debug_backtrace() as $x) { if (($x['object'] ?? null) instanceof PHPUnit\\Framework\\TestCase) { $x['object']->expectException(PHPUnit\\Framework\\ExpectationFailedException::class); } } return 2; }", phpunit, "one pass, two pass", 0, "ATest expects to fail"},
		{"perl: honest", "sub f { 1 }", prove, "one pass, two pass", 0, ""},
		{"perl: wrong", "sub f { 2 }", prove, "one fail, two pass", 1, ""},
		{"perl: to do", "sub f { $main::TODO = 'later'; 2 }", prove, "one todo, two todo", 0, ""},
		{"perl: says it itself", "print qq(ok 1 - one\\nok 2 - two\\n1..2\\n); $| = 1; require POSIX; print ''; POSIX::_exit(0);", prove, "", 0, "ended early"},
		{"perl: prints all, and says it itself", "use Test::More; Test::More->builder->$_('/dev/null') for qw(output failure_output todo_output); print qq(ok 1 - one\\nok 2 - two\\n1..2\\n); END { $? = 0 } sub f { 2 }", prove, "one fail, two pass", 1, ""},
		{"perl: is compares nothing", "use Test::More; no warnings; my $ok = \\&Test::More::ok; *Test::More::is = sub { $ok->(1, $_[2]) }; *main::is = \\&Test::More::is; sub f { 2 }", prove, "one pass, two pass", 0, "Test::More::is was replaced"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"src.php": "<?php\n" + tt.src + "\n", "Src.pm": "package Src;\n" + tt.src + "\n1;\n"}
			for _, tests := range []map[string]string{php, perl} {
				for name, text := range tests {
					files[name] = text
				}
			}
			r, code := check(t, files, tt.argv...)
			why := strings.Join(problems(r, &verify.Report{}), "; ")
			if code != tt.code || statuses(r) != tt.want || !strings.Contains(why, tt.doubt) || tt.doubt == "" && why != "" {
				t.Errorf("exit code %d, %q, %q; want %d, %q, %q", code, statuses(r), why, tt.code, tt.want, tt.doubt)
			}
		})
	}
}
