package config

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/beneath"
)

// A clone's files are read before anybody trusts it: no more of them than this, and so many
// bytes of recipes and of the values of variables. The rest is not looked at.
const (
	maxRecipeFiles = 200
	maxRecipes     = 32 << 10
)

// recipes gives what the words of make, or of a program that runs the scripts of a manifest,
// run in a folder below root, as texts for a shell: those of the targets and scripts that the
// words name, and of what these need.
func recipes(root string) func(dir string, argv []string) []string {
	files, room := maxRecipeFiles, maxRecipes
	return func(dir string, argv []string) (texts []string) {
		read := func(name string) string {
			if files--; files < 0 {
				return ""
			}
			names, _ := follow(root, path.Join(dir, name))
			if len(names) == 0 {
				return ""
			}
			b, _ := beneath.ReadFile(root, names[len(names)-1], maxFileBytes)
			return string(b)
		}
		for _, text := range recipesOf(argv, read) {
			if room -= len(text) + 1; room >= 0 {
				texts = append(texts, text)
			}
		}
		return texts
	}
}

func recipesOf(argv []string, read func(string) string) []string {
	switch tool := path.Base(argv[0]); tool {
	case "make", "gmake":
		return makeRecipes(argv[1:], read)
	case "npm", "pnpm", "yarn", "bun", "run-s", "run-p", "npm-run-all":
		return scripts(argv[1:], "scripts", read("package.json"))
	case "node":
		if i := slices.Index(argv, "--run"); i >= 0 {
			return scripts(argv[i:], "scripts", read("package.json"))
		}
	case "composer":
		return scripts(argv[1:], "scripts", read("composer.json"))
	case "deno":
		return scripts(argv[1:], "tasks", read("deno.json"))
	}
	return nil
}

// scripts are those of a manifest that the words name, with what is run before and after them.
func scripts(words []string, key, manifest string) (texts []string) {
	var top map[string]json.RawMessage
	var all map[string]json.RawMessage
	_ = json.Unmarshal([]byte(manifest), &top)
	_ = json.Unmarshal(top[key], &all)
	for _, word := range words {
		if word == "t" || word == "tst" {
			word = "test"
		}
		for _, name := range []string{"pre" + word, word, "post" + word} {
			var text string
			var list []string
			if json.Unmarshal(all[name], &text) != nil && json.Unmarshal(all[name], &list) == nil {
				text = strings.Join(list, "\n")
			}
			if text != "" {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

var (
	makeRule     = regexp.MustCompile(`^([^\s:=#][^:=#]*):{1,2}($|[^=:].*)`)
	makeSetting  = regexp.MustCompile(`^\s*(?:export\s+|override\s+)?([\w.-]+)\s*[:?+]*=\s*(.*)`)
	makeVariable = regexp.MustCompile(`\$[({]([\w.-]+)[)}]`)
	makeInclude  = regexp.MustCompile(`(?m)^[ -]*s?include[ \t]+(.*)`)
)

// makeRecipes are the recipes of targets that the words of make name, and of what these need;
// an included file is one that is run.
func makeRecipes(words []string, read func(string) string) (texts []string) {
	text := ""
	for _, name := range append(slices.Clone(words), "GNUmakefile", "makefile", "Makefile") {
		_, value, _ := strings.Cut(name, "=")
		for _, name := range []string{name, value, strings.TrimPrefix(name, "-f")} {
			if text == "" && name != "" && (strings.Contains(name, "file") || slices.Contains(words, "-f") || strings.Contains(name, ".mk")) {
				text = read(name)
			}
		}
	}
	for _, m := range makeInclude.FindAllStringSubmatch(text, -1) {
		for name := range strings.FieldsSeq(m[1]) {
			if b := read(name); b != "" && len(text) < maxFileBytes {
				texts, text = append(texts, ". ./"+name), text+"\n"+b
			}
		}
	}
	needs, lines, values, first := map[string][]string{}, map[string][]string{}, map[string]string{}, ""
	var targets []string
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimRight(line, "\r\n")
		recipe, isRecipe := strings.CutPrefix(line, "\t")
		m := makeRule.FindStringSubmatch(line)
		switch {
		case isRecipe:
			for _, t := range targets {
				lines[t] = append(lines[t], strings.TrimLeft(recipe, "@+- "))
			}
		case m != nil:
			needed, inline, _ := strings.Cut(m[2], ";")
			targets = strings.Fields(m[1])
			for _, t := range targets {
				needs[t], lines[t] = append(needs[t], strings.Fields(needed)...), append(lines[t], inline)
				if first == "" && t[0] != '.' {
					first = t
				}
			}
		default:
			if m := makeSetting.FindStringSubmatch(line); m != nil {
				values[m[1]] = m[2]
			}
		}
	}
	todo := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return needs[w] == nil && lines[w] == nil })
	if len(todo) == 0 {
		todo = []string{first}
	}
	room := maxRecipes
	value := func(text string) string {
		for range 5 {
			text = makeVariable.ReplaceAllStringFunc(text, func(v string) string {
				value, ok := values[v[2:len(v)-1]]
				if !ok || room < len(value) {
					return v
				}
				room -= len(value)
				return value
			})
		}
		return strings.ReplaceAll(text, "$$", "$")
	}
	seen := map[string]bool{}
	for i := 0; i < len(todo); i++ {
		for _, line := range lines[todo[i]] {
			texts = append(texts, value(line))
		}
		for _, need := range needs[todo[i]] {
			for name := range strings.FieldsSeq(value(need)) {
				if !seen[name] {
					seen[name] = true
					todo = append(todo, name)
				}
			}
		}
	}
	return texts
}
