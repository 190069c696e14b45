//go:build linux || darwin

package evidence

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/verify"
)

// What was seen of a test where its function returned is held against what its runner says.
func TestSeen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, records, want string }{
		{"agrees", "eyes\tm-1|test\tm-1\tpass\ta|saw\tm-1\tpass\ta", ""},
		{"failed", "eyes\tm-1|test\tm-1\tpass\ta|saw\tm-1\tfail\ta", "m: a failed, and is told as passed"},
		{"passed the second time", "test\tm-1\tpass\ta|saw\tm-1\tfail\ta|saw\tm-1\tpass\ta", ""},
		{"did not run", "eyes\tm-1|test\tm-1\tpass\ta", "m: a is told as passed, and was not run"},
		{"nobody looked", "test\tm-1\tpass\ta", ""},
		{"failed, and is told so", "eyes\tm-1|test\tm-1\tfail\ta|saw\tm-1\tfail\ta", ""},
		{"is expected to fail", "eyes\tm-1|test\tm-1\txfail\ta|saw\tm-1\tfail\ta", ""},
	} {
		r := newReader()
		for _, line := range strings.Split("begin\tm-1\tm|"+tt.records+"|end\tm-1", "|") {
			r.line(line)
		}
		if got := r.report(); strings.Join(got.Bad, "; ") != tt.want || got.Broken != "" {
			t.Errorf("%s: %q, %q; want %q", tt.name, got.Bad, got.Broken, tt.want)
		}
	}
}

// Code under test that leaves a runner's own way of telling right from wrong alone for relay's probes, and takes it
// from the tests of the repository.
func TestTargeted(t *testing.T) {
	t.Parallel()
	unit := "import unittest\nimport src\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        got = src.f()\n        self.assertEqual(got, 1)\n        self.got = got\n\n    def test_two(self):\n        pass\n"
	plain := "import src\n\ndef test_one():\n    assert src.f() == 1\n\ndef test_two():\n    pass\n"
	js := "const test = require('node:test')\nconst assert = require('node:assert')\nconst { f } = require('../src.js')\ntest('one', () => assert.strictEqual(f(), 1))\ntest('two', () => {})\n"
	goTest := "package m\n\nimport \"testing\"\n\nfunc Test_one(t *testing.T) {\n\tif F() != 1 {\n\t\tt.Error(F())\n\t}\n}\n\nfunc Test_two(t *testing.T) {}\n"
	ruby := "require 'minitest/autorun'\nrequire_relative 'src'\n\nclass T < Minitest::Test\n  def test_one\n    assert_equal 1, f\n  end\n\n  def test_two\n  end\nend\n"
	perl := "use Test::More;\nrequire './src.pl';\nis(f(), '1', 'one');\nis(1, '1', 'two');\ndone_testing;\n"
	php := "<?php\nnamespace N;\n\nrequire_once __DIR__ . '/../src.php';\nfinal class ATest extends \\PHPUnit\\Framework\\TestCase\n{\n    public function test_one(): void\n    {\n        $this->assertSame(1, count(\\f()));\n    }\n\n    public function test_two(): void\n    {\n        $this->assertTrue(true);\n    }\n}\n"
	unittest := []string{"python3", "-m", "unittest", "test_a.py"}
	for _, tt := range []struct {
		name, file, test, src, text string
		argv                        []string
		doubt                       string
	}{
		{"unittest: a trace jumps", "test_a.py", unit, "src.py", "import sys\n\ndef jump(frame, event, arg):\n    if event == 'line':\n        sys.settrace(None)\n        frame.f_lineno = 8\n        return None\n    return jump\n\ndef f():\n    t = sys._getframe(1)\n    t.f_trace = jump\n    sys.settrace(lambda *a: None)\n    return 2\n", unittest, "a trace in test_one"},
		{"unittest: by class", "test_a.py", unit, "src.py", "import unittest\nreal = unittest.TestCase.assertEqual\n\ndef equal(self, *a):\n    if type(self).__name__ != 'T':\n        real(self, *a)\nunittest.TestCase.assertEqual = equal\n\ndef f():\n    return 2\n", unittest, "TestCase.assertEqual"},
		{"unittest: the code of a test", "test_a.py", unit, "src.py", "import gc\nimport unittest\n\ndef none(self):\n    pass\n\ndef setUp(self):\n    for o in gc.get_objects():\n        if type(o) is type(none) and o.__name__ == 'test_one':\n            o.__code__ = none.__code__\nunittest.TestCase.setUp = setUp\n\ndef f():\n    return 2\n", unittest, "the code of test_one"},
		{"unittest: another module", "test_a.py", unit, "src.py", "import sys\nimport types\nimport unittest\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        pass\n    test_two = test_one\n\nm = types.ModuleType('test_a')\nT.__module__, m.T = 'test_a', T\nsys.modules['test_a'] = m\n", unittest, "the code of test_a.T.test_one"},
		{"unittest: a class of the same name", "test_a.py", unit, "src.py", "import sys\nimport unittest\n\nclass Own(unittest.TestCase):\n    def test_one(self):\n        pass\n    test_two = test_one\n\nm = type(sys)('test_a')\nm.__file__ = __file__.replace('src', 'test_a')\nm.T = type('T', (Own,), {'__module__': 'test_a'})\nsys.modules['test_a'] = m\n", unittest, "the code of test_a.T.test_one"},
		{"unittest: an assertion of one test", "test_a.py", unit, "src.py", "import sys\n\ndef f():\n    sys._getframe(1).f_locals['self'].addTypeEqualityFunc(int, lambda a, b, msg=None: None)\n    return 2\n", unittest, "TestCase.addTypeEqualityFunc of T"},
		{"unittest: an assertion that a test itself gives it", "test_a.py", strings.Replace(unit, "        got", "        self.addTypeEqualityFunc(int, lambda a, b, msg=None: None)\n        got", 1), "src.py", "def f():\n    return 2\n", unittest, ""},
		{"unittest: a function of the test's file", "test_a.py", strings.Replace(unit, "        self.assertEqual(got, 1)", "        same(self, got, 1)", 1) + "\ndef same(t, a, b):\n    t.assertEqual(a, b)\n", "src.py", "import sys\n\ndef f():\n    sys._getframe(1).f_globals['same'] = lambda *a: None\n    return 2\n", unittest, "same of test_a.py"},
		{"unittest: a builtin of the test's file", "test_a.py", strings.Replace(unit, "        self.assertEqual(got, 1)", "        self.assertTrue(all([got == 1]))", 1), "src.py", "import sys\n\ndef f():\n    sys._getframe(1).f_globals['all'] = lambda a: True\n    return 2\n", unittest, "all of test_a.py"},
		{"unittest: a test in a wrapping", "test_a.py", unit + "\n    def test_first(self):\n        src.f()\n", "src.py", "import functools\nimport sys\n\ndef f():\n    cls = type(sys._getframe(1).f_locals['self'])\n    cls.test_one = functools.wraps(cls.test_one)(lambda self: None)\n    return 2\n", unittest, "the code of test_a.T.test_one"},
		{"unittest: the memory of a type", "test_a.py", unit, "src.py", "import ctypes\n(ctypes.c_char * 8).from_address(id(int) + 200)\n\ndef f():\n    return 1\n", unittest, "the memory of a type"},
		{"unittest: what is put back", "test_a.py", strings.Replace(unit, "import unittest\n", "import unittest\nfrom unittest import mock\n", 1) + "\n    def test_three(self):\n        with mock.patch.object(T, 'helper', lambda *a: 3), mock.patch(__name__ + '.other', lambda: 4):\n            self.assertEqual(self.helper() + other(), 7)\n\n    def helper(self):\n        pass\n\n\ndef other():\n    global all\n    all = 1\n", "src.py", "def f():\n    return 1\n", unittest, ""},
		{"unittest: the assert statement is switched off", "test_a.py", strings.Replace(unit, "self.assertEqual(got, 1)", "assert got == 1", 1), "src.py", "import os\nimport sys\nif __debug__:\n    os.execv(sys.executable, [sys.executable, '-O'] + sys.orig_argv[1:])\n\ndef f():\n    return 2\n", unittest, "before assert"},
		{"unittest: asynchronous tests are not run", "test_a.py", strings.NewReplacer("TestCase", "IsolatedAsyncioTestCase", "def test", "async def test").Replace(unit), "src.py", "import unittest\nunittest.IsolatedAsyncioTestCase._callTestMethod = lambda *a: None\n\ndef f():\n    return 2\n", unittest, "IsolatedAsyncioTestCase._callTestMethod"},
		{"unittest: the loop swallows a failure", "test_a.py", strings.NewReplacer("TestCase", "IsolatedAsyncioTestCase", "def test", "async def test").Replace(unit), "src.py", "import asyncio\nreal = asyncio.Runner.run\n\ndef run(*a, **k):\n    try:\n        return real(*a, **k)\n    except AssertionError:\n        pass\nasyncio.Runner.run = run\n\ndef f():\n    return 2\n", unittest, "a failure that is taken for a pass"},
		{"unittest: the loop runs nothing", "test_a.py", strings.NewReplacer("TestCase", "IsolatedAsyncioTestCase", "def test", "async def test").Replace(unit), "src.py", "import asyncio\nreal = asyncio.Runner.run\nasyncio.Runner.run = lambda self, coro, **k: coro.close() if 'method' in coro.__qualname__ or 'test_' in coro.__qualname__ else real(self, coro, **k)\n\ndef f():\n    return 2\n", unittest, "was not run"},
		{"unittest: honest asynchronous tests", "test_a.py", strings.NewReplacer("TestCase", "IsolatedAsyncioTestCase", "def test", "async def test").Replace(unit), "src.py", "def f():\n    return 1\n", unittest, ""},
		{"unittest: mocks that assert nothing", "test_a.py", strings.NewReplacer("import unittest\n", "import unittest\nfrom unittest import mock\n", "self.assertEqual(got, 1)", "m = mock.Mock()\n        m(got)\n        m.assert_called_once_with(1)").Replace(unit), "src.py", "from unittest import mock\nmock.NonCallableMock.assert_called_once_with = lambda *a: None\n\ndef f():\n    return 2\n", unittest, "NonCallableMock.assert_called_once_with"},
		{"unittest: what is logged", "test_a.py", strings.Replace(unit, "self.assertEqual(got, 1)", "with self.assertLogs():\n            pass", 1), "src.py", "from unittest import _log\n_log._AssertLogsContext.__exit__ = lambda *a: None\n\ndef f():\n    return 2\n", unittest, "_AssertLogsContext.__exit__"},
		{"unittest: a regular expression", "test_a.py", strings.Replace(unit, "self.assertEqual(got, 1)", "self.assertRegex(str(got), '1')", 1), "src.py", "import re\nimport types\nre.compile = lambda *a: types.SimpleNamespace(search=lambda *a: True)\n\ndef f():\n    return 2\n", unittest, "re.compile"},
		{"unittest: honest", "test_a.py", unit, "src.py", "import sys\n\ndef f():\n    old = sys.gettrace()\n    sys.settrace(lambda *a: None)\n    sys.settrace(old)\n    return 1\n", unittest, ""},
		{"pytest: other code than the file's", "test_a.py", plain, "src.py", "import _pytest.assertion.rewrite as r\nimport ast\nreal = r.rewrite_asserts\n\ndef rewrite(tree, *a):\n    for n in ast.walk(tree):\n        if isinstance(n, ast.Assert):\n            n.test = ast.copy_location(ast.Constant(True), n.test)\n    real(tree, *a)\nr.rewrite_asserts = rewrite\n\ndef f():\n    return 2\n", []string{"pytest", "-q"}, "the code of test_a.py::test_one"},
		{"node:test: by value", "test/a.test.js", js, "src.js", "const assert = require('node:assert')\nconst { strictEqual } = assert\nassert.strictEqual = (a, b) => b === 1 && a === 2 || strictEqual(a, b)\nexports.f = () => 2\n", []string{"node", "--test", "test/"}, "assert.strictEqual"},
		{"node:test: the call of a test", "test/a.test.js", js, "src.js", "const { prototype } = require('node:async_hooks').AsyncResource\nconst call = prototype.runInAsyncScope\nprototype.runInAsyncScope = function (f, self, ...a) {\n  return call.call(this, self && /Test/.test(self.constructor.name) ? () => {} : f, self, ...a)\n}\nexports.f = () => 2\n", []string{"node", "--test", "test/"}, "runInAsyncScope"},
		{"node:test: assertions of each test", "test/a.test.js", strings.Replace(js, "() => assert.strictEqual(f(), 1)", "(t) => t.assert.strictEqual(f(), 1)", 1), "src.js", "require('node:test').beforeEach((t) => Object.defineProperty(t, 'assert', { value: { strictEqual() {} } }))\nexports.f = () => 2\n", []string{"node", "--test", "test/"}, "beforeEach of node:test"},
		{"node:test: assertions of each test, as a module", "test/a.test.mjs", "import test from 'node:test'\nimport { f } from '../src.mjs'\ntest('one', (t) => t.assert.strictEqual(f(), 1))\ntest('two', () => {})\n", "src.mjs", "import { beforeEach } from 'node:test'\nbeforeEach((t) => Object.defineProperty(t, 'assert', { value: { strictEqual() {} } }))\nexport const f = () => 2\n", []string{"node", "--test", "test/"}, "beforeEach of node:test"},
		{"node:test: hooks of the tests' own", "test/a.test.js", strings.Replace(js, "test('two'", "test.beforeEach(() => {})\ntest.after(() => {})\ntest('two'", 1), "src.js", "exports.f = () => 1\n", []string{"node", "test/a.test.js"}, ""},
		{"node:test: the language", "test/a.test.js", strings.Replace(js, "assert.strictEqual(f(), 1)", "{ f(); for (const v of [f()]) assert.strictEqual(v, 1) }", 1), "src.js", "const real = Array.prototype[Symbol.iterator]\nexports.f = () => {\n  Array.prototype[Symbol.iterator] = function () { return real.call([]) }\n  setImmediate(() => { Array.prototype[Symbol.iterator] = real })\n  return 2\n}\n", []string{"node", "--test", "test/"}, "Array.prototype.Symbol(Symbol.iterator)"},
		{"node:test: what is near", "test/a.test.js", strings.Replace(js, "assert.strictEqual(f(), 1)", "assert.ok(Math.abs(f() - 1) < 0.1)", 1), "src.js", "Math.abs = () => 0\nexports.f = () => 2\n", []string{"node", "--test", "test/"}, "Math.abs"},
		{"node:test: what all tests are left with", "test/a.test.js", strings.Replace(js, "assert.strictEqual(f(), 1)", "assert.ok(JSON.stringify([f()]) === JSON.stringify([1]))", 1), "src.js", "JSON.stringify = () => ''\nexports.f = () => 2\n", []string{"node", "--test", "test/"}, "JSON.stringify"},
		{"node:test: the tests' own helper", "test/a.test.js", strings.NewReplacer("const assert = require('node:assert')", "const help = require('./help.js')", "assert.strictEqual(f(), 1)", "help.same(f(), 1)").Replace(js), "src.js", "exports.f = () => 2\nfor (const m of Object.values(require.cache)) if (m.exports.same) m.exports.same = () => {}\n", []string{"node", "--test", "test/"}, "test/help.js: same"},
		{"node:test: honest", "test/a.test.js", strings.NewReplacer("const assert = require('node:assert')", "const help = require('./help.js')", "() => assert.strictEqual(f(), 1)", "(t) => { t.mock.method(JSON, 'stringify', () => 1); t.mock.method(help, 'two', () => 1); help.same(f(), help.two()) }").Replace(js), "src.js", "exports.f = () => JSON.stringify(7)\n", []string{"node", "--test", "test/"}, ""},
		{"Go: a word of its own", "m_test.go", goTest, "m.go", "package m\n\nvar (\n\tfalse = 1 == 1\n\tlen   = 3\n)\n\nfunc F() int { return 1 }\n", []string{"go", "test", "."}, "the false of the package"},
		{"Go: honest words", "m_test.go", goTest, "m.go", "package m\n\nfunc min(a, b int) int { return a }\n\ntype lens struct{ len int }\n\nfunc F() int {\n\tlen := 1\n\tlen = min(len, 2)\n\treturn len\n}\n", []string{"go", "test", "."}, ""},
		{"Go: written over a comparison", "m_test.go", strings.NewReplacer("import ", "import \"reflect\"\n\nimport ", "F() != 1", "!reflect.DeepEqual(F(), 1)").Replace(goTest), "m.go", "package m\n\nimport (\n\t\"reflect\"\n\t\"syscall\"\n\t\"unsafe\"\n)\n\nfunc init() {\n\tpc := reflect.ValueOf(reflect.DeepEqual).Pointer()\n\tif syscall.Mprotect(unsafe.Slice((*byte)(unsafe.Pointer(pc&^4095)), 8192), 7) == nil {\n\t\tcopy(unsafe.Slice((*byte)(unsafe.Pointer(pc)), 6), \"\\xb8\\x01\\x00\\x00\\x00\\xc3\")\n\t}\n}\n\nfunc F() int { return 2 }\n", []string{"go", "test", "."}, "the program's code"},
		{"Go: other pages in place of a comparison", "m_test.go", strings.NewReplacer("import ", "import \"reflect\"\n\nimport ", "F() != 1", "!reflect.DeepEqual(F(), 1)").Replace(goTest), "m.go", "package m\n\nimport (\n\t\"reflect\"\n\t\"syscall\"\n\t\"unsafe\"\n)\n\nfunc init() {\n\tpc := reflect.ValueOf(reflect.DeepEqual).Pointer()\n\tpage := pc &^ 4095\n\twas := append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(page)), 8192)...)\n\tcopy(was[pc-page:], \"\\xb8\\x01\\x00\\x00\\x00\\xc3\")\n\tsyscall.Syscall6(syscall.SYS_MMAP, page, 8192, 7, 0x32, ^uintptr(0), 0)\n\tcopy(unsafe.Slice((*byte)(unsafe.Pointer(page)), 8192), was)\n}\n\nfunc F() int { return 2 }\n", []string{"go", "test", "."}, "the program's code"},
		{"Go: starts itself", "m_test.go", goTest, "m.go", "package m\n\nimport (\n\t\"os\"\n\t\"os/exec\"\n\t\"strings\"\n)\n\nfunc init() {\n\tif os.Getenv(\"M\") != \"\" {\n\t\treturn\n\t}\n\tc := exec.Command(os.Args[0], os.Args[1:]...)\n\tc.Env = append(os.Environ(), \"M=1\")\n\tout, _ := c.Output()\n\tos.Stdout.WriteString(strings.ReplaceAll(string(out), \"FAIL\", \"PASS\"))\n\tos.Exit(0)\n}\n\nfunc F() int { return 2 }\n", []string{"go", "test", "."}, "ended early"},
		{"minitest: one test's own", "test_a.rb", ruby, "src.rb", "def f\n  ObjectSpace.each_object(Minitest::Test) { |t| t.define_singleton_method(:assert_equal) { |*| } }\n  2\nend\n", []string{"ruby", "test_a.rb"}, "an assertion of T#test_one"},
		{"bats: errexit is off", "a.bats", "@test \"one\" {\n  . src.sh\n  [[ $(f) == 1 ]]\n  :\n}\n@test \"two\" {\n  :\n}\n", "src.sh", "set +e\nf() { echo 2; }\n", []string{"bats", "a.bats"}, "errexit is off in one"},
		{"bats: ended by the code under test", "a.bats", "@test \"one\" {\n  . src.sh\n  false\n}\n@test \"two\" {\n  :\n}\n", "src.sh", "trap - ERR EXIT\necho \"ok $BATS_SUITE_TEST_NUMBER one\" >&3\nexit 0\n", []string{"bats", "a.bats"}, "did not come to its end"},
		{"minitest: a module before the tests", "test_a.rb", ruby, "src.rb", "TracePoint.new(:end) { |t| t.self.prepend(Module.new { def test_one = nil }) if t.self.is_a?(Class) && t.self.name == 'T' }.enable\n", []string{"ruby", "test_a.rb"}, "the code of T#test_one"},
		{"minitest: the tests' own helper", "test_a.rb", strings.NewReplacer("class T < Minitest::Test\n", "module Same\n  def same(a, b) = assert_equal(a, b)\nend\nclass T < Minitest::Test\n  include Same\n", "assert_equal 1, f", "g = f; same(1, g)").Replace(ruby), "src.rb", "def f\n  Same.module_eval { def same(*) = nil }\n  2\nend\n", []string{"ruby", "test_a.rb"}, "Same#same"},
		{"bats: an alias", "a.bats", "load src.sh\n@test \"one\" {\n  [[ $(f) == 1 ]]\n}\n@test \"two\" {\n  :\n}\n", "src.sh", "shopt -s expand_aliases\nalias '[[=: [['\nf() { echo 2; }\n", []string{"bats", "a.bats"}, "[[ is an alias"},
		{"bats: a program that compares", "a.bats", "@test \"one\" {\n  . src.sh\n  diff <(f) <(echo 1)\n}\n@test \"two\" {\n  :\n}\n", "src.sh", "diff() { :; }\nf() { echo 2; }\n", []string{"bats", "a.bats"}, "diff is a function of src.sh"},
		{"bats: run", "a.bats", "@test \"one\" {\n  . src.sh\n  run f\n  [ $output = 1 ]\n}\n@test \"two\" {\n  :\n}\n", "src.sh", "run() { output=1; }\nf() { echo 2; }\n", []string{"bats", "a.bats"}, "run is a function of src.sh"},
		{"bats: the tests' own function", "a.bats", "same() { [ $1 = $2 ]; }\n@test \"one\" {\n  . src.sh\n  same $(f) 1\n}\n@test \"two\" {\n  :\n}\n", "src.sh", "same() { :; }\nf() { echo 2; }\n", []string{"bats", "a.bats"}, "same is a function of src.sh"},
		{"bats: honest", "a.bats", "date() { echo 1; }\n@test \"one\" {\n  . src.sh\n  run f\n  [ $output = $(date) ]\n}\n@test \"two\" {\n  :\n}\n", "src.sh", "g() { :; }\nf() { g; echo 1; }\n", []string{"bats", "a.bats"}, ""},
		{"Perl: what the test imported", "t/a.t", perl, "src.pl", "*{'main::is'} = sub { Test::More::pass($_[2]) };\nsub f { 2 }\n1;\n", []string{"perl", "t/a.t"}, "the is of the tests was replaced"},
		{"Perl: equal to all", "t/a.t", perl, "src.pl", "package M;\nuse overload 'eq' => sub { 1 }, '\"\"' => sub { 2 };\nsub main::f { bless {} }\n1;\n", []string{"perl", "t/a.t"}, "the eq of M"},
		{"Perl: honest", "t/a.t", perl, "src.pl", "package M;\nuse overload 'eq' => sub { \"$_[0]\" eq \"$_[1]\" }, '\"\"' => sub { 1 };\nsub main::f { bless {} }\n1;\n", []string{"perl", "t/a.t"}, ""},
		{"PHPUnit: a function of the tests' namespace", "tests/ATest.php", php, "src.php", "<?php\nnamespace N { function count($x): int { return 1; } }\nnamespace { function f() { return []; } }\n", []string{"phpunit", "tests"}, "the function n\\\\count"},
		{"PHPUnit: honest", "tests/ATest.php", php, "src.php", "<?php\nnamespace M { function count($x): int { return 1; } }\nnamespace { function f() { return [M\\count([])]; } }\n", []string{"phpunit", "tests"}, ""},
		{"minitest: by value", "test_a.rb", ruby, "src.rb", "module Minitest::Assertions\n  alias real assert_equal\n  def assert_equal(a, b, m = nil)\n    b == 2 && a == 1 || real(a, b, m)\n  end\nend\n\ndef f\n  b = 2\nend\n", []string{"ruby", "test_a.rb"}, "Minitest::Assertions#assert_equal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, code := check(t, map[string]string{tt.file: tt.test, tt.src: tt.text, "conftest.py": "import src\n", "test/help.js": "exports.same = (a, b) => { if (a !== b) throw new Error(a) }\nexports.two = () => 2\n", "go.mod": "module m\n\ngo 1.22\n"}, tt.argv...)
			why := strings.Join(problems(r, &verify.Report{}), "; ")
			if code != 0 || statuses(r) != "one pass, two pass" || !strings.Contains(why+strings.Join(r.Bad, "; "), tt.doubt) || tt.doubt == "" && why != "" {
				t.Errorf("exit code %d, %q, %q, %q; want %q", code, statuses(r), why, r.Bad, tt.doubt)
			}
		})
	}
}
