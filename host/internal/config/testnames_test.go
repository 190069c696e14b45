package config

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/judge"
)

func TestDefaultTests(t *testing.T) {
	t.Parallel()
	for name := range strings.FieldsSeq(`
		src/calc_test.js src/calc-test.mjs src/test-calc.cjs src/test.js src/test.ts src/calc_test.mts src/calc-test.cts calcSpec.js src/calc_spec.ts a.test.tsx
		app/tests.py app/test_calc.py app/calc_test.py test1.py t/calc.t t/lib/Help.pm xt/pod.t lib/deep/a.t app/calc_spec.rb test_calc.rb src/CalcTest.php
		a/CalcTest.java a/CalcTests.java a/TestCalc.java a/CalcIT.java a/CalcTest.kt a/CalcSpec.kt a/CalcSpec.scala a/CalcSuite.scala A/CalcTests.cs
		Sources/CalcTests.swift Tests/Calc/Helper.swift calc_test.exs lib/calc_test.dart a/calc_spec.lua src/CalcSpec.hs tests/testthat/a.R test/runtests.jl
		src/test_calc.c src/calc_test.cc src/CalcTest.cpp calc_test.zig src/calc_SUITE.erl src/calc_tests.erl src/calc_test.clj a/calc.bats calc_spec.sh
		a.robot features/a.feature src/tests.rs src/test_calc.rs`) {
		if !judge.Match(defaultTests, name) {
			t.Errorf("%s is a test", name)
		}
	}
	for name := range strings.FieldsSeq(`
		contest.py latest.js attest.go testimonials.py testing.py src/testing.go cmd/test.go commands/test.rs manifest.ts src/protest.c Contest.java Latest.cs
		CipherSuite.java UserSpec.java UserSpec.cs openapi-spec.yaml spec.md src/t/en.ts greatest.rb Fastest.php inspect.lua src/spectrum.js conftest.py a.ts
		Testament.kt aspect.hs backtest.py speedtest.js src/testkit.ts unittest.d`) {
		if judge.Match(defaultTests, name) {
			t.Errorf("%s is no test", name)
		}
	}
}
