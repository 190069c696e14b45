package docpages

import (
	"fmt"
	"regexp"
	"strings"
)

// Typed is one thing that a reader types, and what the page shows of its output.
type Typed struct {
	Command string
	Output  []string
}

// Typed are the commands of a block. In a "console" block a command stands behind "$ ", goes
// on behind "> ", and what follows is its output. A "sh" block is typed as a whole.
func (b Block) Typed() []Typed {
	text := b.Text
	for _, w := range b.With {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(w.Name)+`\b`).ReplaceAllLiteralString(text, w.Value)
	}
	if b.Lang != "console" {
		return []Typed{{Command: text}}
	}
	var all []Typed
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		last := len(all) - 1
		switch cmd, ok := strings.CutPrefix(line, "$ "); {
		case ok:
			all = append(all, Typed{Command: cmd + "\n"})
		case last < 0:
		case strings.HasPrefix(line, "> ") && len(all[last].Output) == 0:
			all[last].Command += line[2:] + "\n"
		default:
			all[last].Output = append(all[last].Output, line)
		}
	}
	return all
}

// Count is how many commands a block has: its lines that are no comment and continue no
// other line.
func (b Block) Count() int {
	n := 0
	for _, t := range b.Typed() {
		goesOn := false
		for line := range strings.Lines(t.Command) {
			line = strings.TrimSpace(line)
			if line != "" && !strings.HasPrefix(line, "#") && !goesOn {
				n++
			}
			goesOn = strings.HasSuffix(line, `\`)
		}
	}
	return n
}

// What differs from run to run of the same command.
var varying = []struct {
	is   *regexp.Regexp
	like string
}{
	{regexp.MustCompile(`\b\d{8}-\d{6}-[0-9a-z]{8}\b`), "RUN"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?)?`), "DATE"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(ms|s|min)\b`), "TIME"},
	{regexp.MustCompile(`\b[0-9a-f]{7,64}\b`), "HASH"},
	{regexp.MustCompile(`\s+`), " "},
}

func alike(line string) string {
	for _, v := range varying {
		line = v.is.ReplaceAllString(line, v.like)
	}
	return strings.TrimSpace(line)
}

// Shows reports whether a command printed what the page shows: each line that it shows was
// printed, in that order, where run ids, hashes, dates and times may differ. More may have
// been printed; "..." says so to the reader.
func (t Typed) Shows(printed string) error {
	lines := strings.Split(printed, "\n")
	at := 0
	for _, want := range t.Output {
		if w := alike(want); w != "" && w != "..." {
			for at < len(lines) && alike(lines[at]) != w {
				at++
			}
			if at == len(lines) {
				return fmt.Errorf("the page shows a line that was not printed (here):\n  %s\nprinted was:\n%s", want, printed)
			}
			at++
		}
	}
	return nil
}
