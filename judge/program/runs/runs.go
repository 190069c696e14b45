package runs

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Kind is what a name in a command stands for.
type Kind int

// The kinds of names.
const (
	Word       Kind = iota // no file
	Folder                 // nothing that runs, but names may lie below it
	File                   // a file that can't be started
	Executable             //
)

// Run is a file that a command runs.
type Run struct {
	Name string // as the command has it, below the folder in which it is looked for
	// Plain: the command itself or a shell runs it, and so nothing but an exit code is known of it.
	Plain bool
}

// Runs gives the files that a command runs, wherever it names them: its program, the script
// that an interpreter is given, and what an interpreter loads by an option. What stands
// before does not count (`timeout 60 env A=1 sh check.sh`), nor does how an option is
// written, and a text that a shell could read is read as commands of its own. So no wrapper
// has to be known, only interpreters and, since linters are given programs too, those. What
// comes after a script is its own, and open; look says what a name stands for. Where a shell
// is given what can't be read (`cat x | sh`, `sh $f`, `find … -exec sh {} ;`), all files that
// the command names count, and so do globs, which are given as they stand. recipes gives what
// the words of a build tool run, as texts for a shell; it may be nil.
func Runs(argv []string, dir string, look func(name string) Kind, recipes func(dir string, argv []string) []string) []Run {
	r := &reader{dirs: []string{dir}, look: look, read: map[string]bool{}}
	if len(argv) > 0 && strings.Contains(argv[0], "/") {
		r.add(r.at(dir, argv[0]), true) // be it that it is still to be made
	}
	r.command(argv)
	for i := 0; recipes != nil && i < len(r.builds); i++ {
		for _, dir := range slices.Clone(r.dirs) {
			for _, text := range recipes(dir, r.builds[i]) {
				r.lines(text)
			}
		}
	}
	if r.blind {
		r.all()
	}
	return r.found
}

type reader struct {
	dirs   []string // where a relative name may lie: folders that the command has named
	look   func(string) Kind
	found  []Run
	words  []string
	builds [][]string      // what may be words of a build tool
	read   map[string]bool // texts
	blind  bool            // a shell is given what can't be read
}

// all adds every file that the words name.
func (r *reader) all() {
	for _, word := range r.words {
		for _, dir := range r.dirs {
			full := r.at(dir, word)
			if strings.ContainsAny(word, "*?") {
				if !strings.Contains(word, "/") && slices.Contains(r.words, "find") {
					full = r.at(dir, "**/"+word)
				}
				r.add(full, false)
			} else if r.look(full) > Folder {
				r.add(full, false)
			}
		}
	}
}

func (r *reader) add(name string, plain bool) {
	if !slices.ContainsFunc(r.found, func(have Run) bool { return have.Name == name }) {
		r.found = append(r.found, Run{name, plain})
	}
}

func (r *reader) at(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}

// find adds the files that a name stands for: those that can be started and, for an
// interpreter, any.
func (r *reader) find(name string, plain bool, by ...*interpreter) Kind {
	best := Word
	for _, dir := range slices.Clone(r.dirs) {
		full := r.at(dir, name)
		kind := r.look(full)
		if kind == Folder && !slices.Contains(r.dirs, full) {
			r.dirs = append(r.dirs, full)
		}
		if kind == Executable || kind == File && len(by) > 0 {
			r.add(full, plain)
		} else if len(by) > 0 {
			for _, behind := range modules {
				if k := r.look(full + behind); k > Folder {
					r.add(full+behind, plain)
					kind = k
				}
			}
		}
		best = max(best, kind)
	}
	return best
}

// modules are what interpreters put behind a name.
var modules = []string{".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".pm", "/__main__.py", "/index.js"}

// command reads the words of one command.
func (r *reader) command(argv []string) {
	var by *interpreter // that the words are for; nil before one was named
	r.words = append(r.words, argv...)
	for i := 0; i < len(argv); i++ {
		word := argv[i]
		r.builds = append(r.builds, argv[i:])
		switch {
		case strings.HasPrefix(word, "-") && len(word) > 1:
			if by != nil && by.module != nil {
				if m := by.module.FindStringSubmatch(word); m != nil { // python3 -m mypy src/a.py
					rest := append([]string{m[1]}, argv[i+1:]...)
					if m[1] == "" {
						rest = rest[1:]
					}
					if len(rest) > 0 {
						r.find(strings.ReplaceAll(rest[0], ".", "/"), false, by)
					}
					r.command(rest)
					return
				}
			}
			if by != nil && by.none.MatchString(word) {
				return
			}
			if r.option(word, by) && i+1 < len(argv) && !strings.HasPrefix(argv[i+1], "-") {
				i++
				r.find(argv[i], by.shell, by)
			}
			if by != nil && by.shell && line.MatchString(word) {
				by = nil // sh -c 'LINE': commands again
			}
		case strings.ContainsAny(word, " \t\n;&|<>()`"):
			r.lines(word)
		case by == nil && slices.Contains(readers, path.Base(word)):
			return
		case word == "." && i > 0 && !slices.Contains(keywords, argv[i-1]): // a folder
		case named(argv[:i+1]) != nil && (!strings.Contains(word, "/") || r.look(r.at(r.dirs[0], word)) <= Folder):
			by = named(argv[:i+1])
		case by != nil && by.operand:
			switch kind := r.find(word, by.shell, by); {
			case kind > Folder:
				return
			case by.shell && (word == variable || word == "{}"):
				r.blind = true
				return
			case kind == Word && by.shell:
				r.add(r.at(r.dirs[0], word), true) // still to be made, or the value of an option
				if rest, ok := strings.CutPrefix(word, "./"); ok {
					r.add("**/"+rest, true) // below a folder that a variable names
				}
			}
		default:
			if r.find(word, i == 0) == Executable {
				return
			}
		}
	}
	if by != nil && by.shell {
		r.blind = true // it reads what another command writes
	}
}

// option looks at what an option holds itself, and reports whether the next word is a
// file that the interpreter loads.
func (r *reader) option(word string, by *interpreter) bool {
	_, value, long := strings.Cut(word, "=")
	if !long && len(word) > 2 && !strings.HasPrefix(word, "--") {
		value = word[2:]
	}
	switch {
	case strings.ContainsAny(value, " \t\n;&|<>()`"):
		r.lines(value)
	case value != "" && by != nil:
		r.find(value, by.shell, by)
	case value != "":
		r.find(value, false)
	}
	return by != nil && (loads.MatchString(word) || !by.operand && cluster.MatchString(word))
}

// lines reads what a shell would: the commands of a text, roughly, whatever its quotes say.
func (r *reader) lines(text string) {
	if r.read[text] {
		return
	}
	r.read[text] = true
	text = variables.ReplaceAllString(replaced.ReplaceAllString(text, "./"), variable)
	for command := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune("\n;&|(){}`", c) }) {
		r.command(strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(" \t<>\"'\\$=!", c) }))
	}
}

var (
	// replaced is what a shell puts a folder in the place of: $PWD/, ${DIR:-x}/, $(git rev-parse --show-toplevel)/
	replaced  = regexp.MustCompile(`"?\$(\w+|\{[^}]*\}|\([^()]*\))"?/`)
	variables = regexp.MustCompile(`\$([\w@*]+|\{[^}]*\})|\{\}`)
	keywords  = strings.Fields("then do else if while ! command builtin exec") // words that a command may follow
)

// variable stands for what only a shell knows.
const variable = "\x00"

// interpreter is a program that runs a file which it is given.
type interpreter struct {
	shell, operand bool           // operand: the first word that is no option is the file
	none           *regexp.Regexp // an option after which no word is a file that is run
	module         *regexp.Regexp // the option that names a module, which has words of its own
}

var interpreters = func() map[string]*interpreter {
	all := map[string]*interpreter{}
	for names, i := range map[string]*interpreter{
		"sh bash dash zsh ksh mksh ash fish . source eval":                   {shell: true, none: regexp.MustCompile(`^-[a-z]*n[a-z]*$`)},
		"python pypy pythonw uv|run coverage|run cProfile profile pdb runpy": {none: regexp.MustCompile(`^-[bBdEhiIOPqRsSuvVx]*c`), module: regexp.MustCompile(`^-[bBdEhiIOPqRsSuvVx]*m(.*)$`)},
		"perl":                        {none: regexp.MustCompile(`^-[aclnpstuwWX0-7]*[eEc]`)},
		"ruby jruby":                  {none: regexp.MustCompile(`^-[alnpsSvwW0-7]*[ec]`)},
		"node nodejs bun tsx ts-node": {none: regexp.MustCompile(`^(-[epc]|-pe|--(eval|print|check))$`)},
		"php":                         {none: regexp.MustCompile(`^-[rl]$`)},
		"lua luajit":                  {none: regexp.MustCompile(`^-e`)},
		"Rscript tclsh expect guile julia elixir escript groovy runghc osascript pwsh deno|run bun|run dart|run zig|run go|run": {none: regexp.MustCompile(`^-e$`)},
		"awk gawk mawk nawk sed gsed jq make gmake": nil,
	} {
		operand := i != nil
		if i == nil {
			i = &interpreter{none: regexp.MustCompile(`^$`)}
		}
		i.operand = operand
		for name := range strings.FieldsSeq(names) {
			all[name] = i
		}
	}
	return all
}()

// named is the interpreter that the last of some words is; `go run` has two.
func named(words []string) *interpreter {
	last := path.Base(words[len(words)-1])
	if len(words) > 1 {
		if i := interpreters[path.Base(words[len(words)-2])+"|"+last]; i != nil {
			return i
		}
	}
	if i := interpreters[last]; i != nil {
		return i
	}
	return interpreters[strings.TrimRight(last, ".-0123456789")]
}

var (
	line    = regexp.MustCompile(`^-[a-z]*c[a-z]*$`)
	loads   = regexp.MustCompile(`^(-[rfl]|--(rcfile|init-file|require|import|loader|experimental-loader|env-file|file|from-file|exec|include|makefile))$`)
	cluster = regexp.MustCompile(`^-[a-zA-Z]*[fEi]$`)
)

// readers are programs that are given programs to read, and don't run them.
var readers = strings.Fields(`shellcheck shfmt bashate checkbashisms ruff flake8 pylint mypy pyright pyflakes pycodestyle pydocstyle py_compile compileall
	bandit vulture black isort autopep8 yapf eslint prettier biome standard xo oxlint tsc rubocop standardrb reek perlcritic perltidy luacheck stylua selene
	phpcs phpstan psalm codespell typos cspell semgrep gitleaks grep egrep fgrep rg diff cmp cat head tail wc ls stat file chmod editorconfig-checker`)
