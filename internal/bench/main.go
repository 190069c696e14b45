package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/judge/box"
	_ "github.com/paxiom/relay/judge/box/copies"
)

func main() {
	box.Init() // a box is this very program, started again
	bin := flag.String("bin", "bin", "folder with relay and its plugins")
	quick := flag.Bool("quick", false, "small repositories and few rounds, to see that it works")
	files := flag.Int("files", 0, "only the judge beside git status, in a repository of that many files")
	repo := flag.String("repo", "", "only the judge beside git status, in this repository; nothing in it is changed")
	only := flag.String("only", "", "only these parts: "+strings.Join(partNames(), ", "))
	flag.Parse()
	if err := run(*bin, *quick, *files, *repo, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

// sizes are the repositories that are measured, in files.
type sizes struct{ small, medium, large, history, rounds int }

// part is one part of the table.
type part struct {
	name string
	run  func(*bench) error
}

// parts are in the order of the table.
var parts = []part{
	{"version", (*bench).version}, {"small", (*bench).smallRepo}, {"medium", (*bench).mediumRepo}, {"large", (*bench).largeRepo},
	{"judged", (*bench).judgedRepos}, {"checks", (*bench).checks}, {"loop", (*bench).loop}, {"history", (*bench).bigHistory}, {"bar", (*bench).statusBar}, {"tasks", (*bench).taskList},
	{"flood", (*bench).flood}, {"file", (*bench).hugeFile}, {"diff", (*bench).hugeDiff}, {"ignored", (*bench).manyIgnored}, {"new", (*bench).manyNew},
	{"killed", (*bench).killed},
}

func partNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

func run(bin string, quick bool, files int, repo, only string) error {
	s := sizes{small: 10, medium: 10_000, large: 100_000, history: 10_000, rounds: 7}
	if quick {
		s = sizes{small: 10, medium: 1000, large: 2000, history: 50, rounds: 3}
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "relay-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{relay: filepath.Join(bin, "relay"), dir: dir, sizes: s}
	fmt.Printf("relay bench: %s/%s, %d processors, medians of %d\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), s.rounds)
	fmt.Printf("%-58s %12s   %s\n", "what", "measured", "aim")
	steps, err := chosen(only)
	if err != nil {
		return err
	}
	switch {
	case files > 0:
		steps = []part{{run: func(b *bench) error { return b.judged(files) }}}
	case repo != "":
		steps = []part{{run: func(b *bench) error { return b.judgedIn(&sample{b: b, dir: repo, home: dir}, repo) }}}
	}
	for _, step := range steps {
		if err := step.run(b); err != nil {
			return err
		}
	}
	return nil
}

// chosen are the parts that a list names, all for "".
func chosen(only string) ([]part, error) {
	if only == "" {
		return parts, nil
	}
	var out []part
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("there is no part %q; there are %s", name, strings.Join(partNames(), ", "))
		}
		out = append(out, parts[i])
	}
	return out, nil
}

// quick: only to see that it works.
func (s sizes) quick() bool { return s.history < 100 }

type bench struct {
	relay, dir string
	sizes
}

func row(what, measured, aim string) { fmt.Printf("%-58s %12s   %s\n", what, measured, aim) }

// median runs fn and gives the middle of its times.
func median(rounds int, fn func() (time.Duration, error)) (time.Duration, error) {
	var all []time.Duration
	for range rounds {
		d, err := fn()
		if err != nil {
			return 0, err
		}
		all = append(all, d)
	}
	return middle(all), nil
}

// middle is the median.
func middle(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
