package judge

import "slices"

// fixtures are what tests are made of beside the files that a configuration calls tests:
// their folders, data, recorded answers and what sets them up.
var fixtures = compile([]string{
	"**/test/**", "**/tests/**", "**/spec/**", "**/specs/**", "**/__tests__/**", "**/__mocks__/**", "**/__fixtures__/**", "**/__snapshots__/**",
	"**/testdata/**", "**/test_data/**", "**/test-data/**", "**/fixtures/**", "**/golden/**", "**/goldens/**", "**/snapshots/**",
	"**/cassettes/**", "**/vcr_cassettes/**", "**/e2e/**", "**/cypress/**", "**/*.Tests/**", "**/*.Test/**", "**/*_tests/**",
	"**/*.snap", "**/*.golden", "**/*.golden.*", "**/*.approved.*", "**/*.verified.*", "**/*.expected", "**/*.feature",
	"**/expected/**", "**/expected_*", "**/*_expected.*", "**/*.expected.*", "**/__recordings__/**",
	"**/__image_snapshots__/**", "**/*.ambr",
	"**/assert/**", "**/asserts/**", "**/assertions/**", "**/assert.*", "**/asserts.*", "**/assertions.*",
	"**/testutil*/**", "**/test_util*/**", "**/test-util*/**", "**/testutil*.*", "**/test_util*.*", "**/test-util*.*",
	"**/testhelper*/**", "**/test_helper*/**", "**/test-helper*/**", "**/testhelper*.*", "**/test-helper*.*",
	"**/spec_helper.rb", "**/rails_helper.rb", "**/test_helper.*", "**/TestMain.*",
})

// records are folders of what tests compare with, or of a program's own modules: their code is no data.
var records = compile([]string{"**/expectations/**", "**/baselines/**", "**/approvals/**", "**/recordings/**"})
var modules = compile([]string{"**/*.py", "**/*.rb", "**/*.php", "**/*.go", "**/*.rs", "**/*.java", "**/*.kt", "**/*.cs", "**/*.swift", "**/*.ts", "**/*.tsx", "**/*.js", "**/*.jsx", "**/*.vue"})

// OfTests reports whether a path is a test, or what tests are made of.
func (p *Policy) OfTests(name string) bool {
	if Match(p.tests, name) {
		return true
	}
	_, ok := fixtures.first(name)
	_, record := records.first(name)
	_, code := modules.first(name)
	return ok || record && !code
}

// Names reports whether a task of the operator's names a path itself.
func (p *Policy) Names(name string) bool { return p.opens && slices.Contains(p.allowed, name) }

// NamesExactly reports whether the scope has a path itself, and not only by a pattern.
func (p *Policy) NamesExactly(name string) bool { return slices.Contains(p.allowed, name) }

// WithoutTests are those of Kept that are left when the tests are as on the base: what
// was changed or deleted of them is put back, and what is new is gone, unless spare
// says that it must stay.
func (v *Verdict) WithoutTests(spare func(*Change) bool) []Change {
	return slices.DeleteFunc(slices.Clone(v.Kept), func(c Change) bool {
		return slices.Contains(v.Tests, c.Path) && !spare(&c)
	})
}
