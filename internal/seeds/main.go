package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// table is where the requirements are, relative to the module's root.
const table = "testdata/seeds/seeds.tsv"

// row is one requirement.
type row struct {
	id, state string
	script    string // in testdata/script, without its ending; "" where none holds it
	text      string
	why       string // where relay does something else, or nothing
}

// The states of a requirement.
const (
	works    = "works"
	deviates = "deviates"
	missing  = "missing"
)

func main() {
	rows, err := read(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "seeds:", err)
		os.Exit(2)
	}
	count, held := map[string]int{}, 0
	for _, r := range rows {
		count[r.state]++
		by := "held by no script"
		if r.script != "" {
			held++
			by = r.script + ".txtar"
		}
		fmt.Printf("%-12s %-9s %s (%s)\n", r.id, r.state, r.text, by)
		if r.why != "" {
			fmt.Printf("%-22s %s\n", "", r.why)
		}
	}
	var sums []string
	for _, state := range slices.Sorted(maps.Keys(count)) {
		sums = append(sums, fmt.Sprintf("%d %s", count[state], state))
	}
	fmt.Printf("%d requirements: %s; %d are held by a script\n", len(rows), strings.Join(sums, ", "), held)
}

// read reads and checks the table: known states, an id once, a reason for each deviation,
// and scripts that exist.
func read(root string) ([]row, error) {
	raw, err := os.ReadFile(filepath.Join(root, table))
	if err != nil {
		return nil, err
	}
	var rows []row
	seen := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := append(strings.Split(strings.TrimRight(line, "\n"), "\t"), "")
		if len(f) < 5 {
			return nil, fmt.Errorf("%q has %d columns", line, len(f)-1)
		}
		r := row{f[0], f[1], strings.TrimPrefix(f[2], "-"), f[3], f[4]}
		switch {
		case seen[r.id]:
			return nil, fmt.Errorf("%s appears twice", r.id)
		case r.state != works && r.state != deviates && r.state != missing:
			return nil, fmt.Errorf("%s: there is no state %q", r.id, r.state)
		case (r.state == works) != (r.why == ""):
			return nil, fmt.Errorf("%s: a reason is given where relay does something else, and only there", r.id)
		}
		if r.script != "" {
			if _, err := os.Stat(filepath.Join(root, "testdata/script", r.script+".txtar")); err != nil {
				return nil, fmt.Errorf("%s: %w", r.id, err)
			}
		}
		seen[r.id] = true
		rows = append(rows, r)
	}
	return rows, nil
}
