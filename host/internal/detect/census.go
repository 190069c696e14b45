package detect

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// extensions says in what language a file is written.
var extensions = byExtension(`
	go .go
	javascript .js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte
	python .py .pyi
	rust .rs
	c .c .h
	c++ .cc .cpp .cxx .hpp .hh .hxx
	java .java .kt .kts .groovy .scala
	ruby .rb .rake
	php .php
	dotnet .cs .fs .vb
	elixir .ex .exs
	swift .swift
	shell .sh .bash .bats
	perl .pl .pm .t
	dart .dart
	zig .zig
	haskell .hs
	lua .lua
	ocaml .ml .mli
	julia .jl
`)

func byExtension(table string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		for i, ext := range words {
			if i > 0 {
				all[ext] = words[0]
			}
		}
	}
	return all
}

// foreign are the folders whose files others wrote, or a program.
var foreign = []string{"vendor", "third_party", "thirdparty", "3rdparty", "node_modules", "bower_components", "deps", "external", "extern", "dist", "testdata", "fixtures", "__fixtures__"}

// share is how much of a repository one language is.
type share struct {
	language string
	files    int
	exts     []string // most frequent first
}

// minor is the part of all source files below which a language is an aside.
const minor = 0.05

// census counts the source files by language, the most frequent first.
func census(names []string) (shares []share, all int) {
	count := map[string]map[string]int{}
	for _, name := range names {
		ext := path.Ext(name)
		language := extensions[ext]
		if language == "" || slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return slices.Contains(foreign, dir) }) {
			continue
		}
		if count[language] == nil {
			count[language] = map[string]int{}
		}
		count[language][ext]++
		all++
	}
	if c, plus := count["c"], count["c++"]; c != nil && plus != nil && c[".c"] == 0 { // whose headers these are
		plus[".h"] += c[".h"]
		delete(count, "c")
	}
	for language, exts := range count {
		s := share{language: language}
		for ext, n := range exts {
			s.files += n
			s.exts = append(s.exts, ext)
		}
		slices.SortFunc(s.exts, func(a, b string) int {
			if exts[a] != exts[b] {
				return exts[b] - exts[a]
			}
			return strings.Compare(a, b)
		})
		shares = append(shares, s)
	}
	slices.SortFunc(shares, func(a, b share) int {
		if a.files != b.files {
			return b.files - a.files
		}
		return strings.Compare(a.language, b.language)
	})
	return shares, all
}

// aside reports whether a language is one in a repository of others.
func (s share) aside(all int) bool { return float64(s.files) < minor*float64(all) }

func (s share) of(all int) string {
	if s.files == all {
		return fmt.Sprintf("%s, all %d source files", s.language, all)
	}
	return fmt.Sprintf("%s, %d of %d source files", s.language, s.files, all)
}
