package mutate

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Mutant is a file with one mistake.
type Mutant struct {
	Line int    // from 1
	What string // such as "< becomes <="
	Text string // of the whole file
}

// comments are how a line's comment begins, by the ending of a file.
var comments = func() map[string]string {
	all := map[string]string{}
	for begin, endings := range map[string]string{"//": ".go .js .mjs .cjs .jsx .ts .mts .cts .tsx .rs .java .kt .scala .swift .dart .cs .php .zig .c .h .cc .cpp .hpp", "#": ".py .rb .sh"} {
		for _, ending := range strings.Fields(endings) {
			all[ending] = begin
		}
	}
	return all
}()

// others are endings of source that relay makes no mutants of.
const others = " .bash .bats .clj .cljs .coffee .elm .erl .ex .exs .f90 .fs .groovy .hs .jl .lua .m .ml .nim .pas .pl .pm .ps1 .r .R .sql .svelte .v .vb .vue "

// Known reports whether mutants can be made of a file.
func Known(name string) bool { return comments[path.Ext(name)] != "" }

// Unknown reports whether a file is source of which none can be made.
func Unknown(name string) bool {
	ext := path.Ext(name)
	return ext != "" && strings.Contains(others, " "+ext+" ")
}

var tokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|==|!=|<=|>=| < | > | \+ | - | \* | / | % |&&|\|\||\band\b|\bor\b|\b[Tt]rue\b|\b[Ff]alse\b|\b\d{1,6}\b|//|#`)

var other = map[string]string{"==": "!=", "!=": "==", "<=": "<", ">=": ">", " < ": " <= ", " > ": " >= ", " + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ", " % ": " + ",
	"&&": "||", "||": "&&", "and": "or", "or": "and", "true": "false", "false": "true", "True": "False", "False": "True"}

// Make makes mutants of a file's text, at most that many, spread over it; of these lines
// alone, nil for all.
func Make(name, text string, lines map[int]bool, most int) (all []Mutant) {
	comment := comments[path.Ext(name)]
	if comment == "" {
		return nil
	}
	at, quoted := 0, ""
	for i, line := range strings.SplitAfter(text, "\n") {
		from := at
		at += len(line)
		if quote := longQuote(line, quoted); quote != quoted || quoted != "" { // a line of a text over several lines
			quoted = quote
			continue
		}
		for _, m := range tokens.FindAllStringIndex(line, -1) {
			was := line[m[0]:m[1]]
			if was == comment {
				break
			}
			now := other[was]
			if n, err := strconv.Atoi(was); err == nil {
				now = strconv.Itoa(n + 1)
			}
			if now != "" && (lines == nil || lines[i+1]) {
				all = append(all, Mutant{Line: i + 1, What: strings.TrimSpace(was) + " becomes " + strings.TrimSpace(now), Text: text[:from+m[0]] + now + text[from+m[1]:]})
			}
		}
	}
	if len(all) <= most {
		return all
	}
	spread := make([]Mutant, 0, most)
	for i := range most {
		spread = append(spread, all[i*len(all)/most])
	}
	return spread
}

// longQuote is the quote in which the line after this one lies; "" for none.
func longQuote(line, quoted string) string {
	for _, q := range []string{`"""`, "'''", "`"} {
		if (quoted == "" || quoted == q) && strings.Count(line, q)%2 == 1 {
			if quoted == q {
				return ""
			}
			return q
		}
	}
	return quoted
}
