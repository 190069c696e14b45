package detect

import (
	"maps"
	"slices"
	"testing"
	"testing/fstest"
)

func TestPythonImportsSource(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, tc := range map[string]struct {
		files fstest.MapFS
		want  []string
	}{
		"a package in src": {fstest.MapFS{"pyproject.toml": file("pytest"), "src/shop/__init__.py": file(""), "tests/test_shop.py": file("")}, []string{"PYTHONPATH=src"}},
		"CI says another": {fstest.MapFS{"pyproject.toml": file(""), "src/shop/__init__.py": file(""), "tests/test_shop.py": file(""),
			".travis.yml": file("script: PYTHONPATH=lib pytest\n")}, []string{"PYTHONPATH=lib"}},
		"src is a package":      {fstest.MapFS{"pyproject.toml": file("pytest"), "src/__init__.py": file(""), "src/shop/__init__.py": file(""), "tests/test_shop.py": file("")}, nil},
		"a package at the root": {fstest.MapFS{"pyproject.toml": file("pytest"), "shop/__init__.py": file(""), "tests/test_shop.py": file("")}, nil},
	} {
		checks := Tree(tc.files, slices.Sorted(maps.Keys(tc.files))).Checks
		i := slices.IndexFunc(checks, func(c Check) bool { return c.ID == "test" })
		if i < 0 || !slices.Equal(checks[i].Env, tc.want) {
			t.Errorf("%s: %+v, want %q", name, checks, tc.want)
		}
	}
}
