package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/paxiom/relay/judge/box"
)

func main() {
	box.Init() // a box is this very program, started again
	bin := flag.String("bin", "bin", "folder with relay and its plugins")
	quick := flag.Bool("quick", false, "small repositories and few rounds, to see that it works")
	files := flag.Int("files", 0, "only the judge beside git status, in a repository of that many files")
	repo := flag.String("repo", "", "only the judge beside git status, in this repository; nothing in it is changed")
	loop := flag.Bool("loop", false, "only ticks in a loop")
	flag.Parse()
	if err := run(*bin, *quick, *files, *repo, *loop); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

// sizes are the repositories that are measured, in files.
type sizes struct{ small, medium, large, history, rounds int }

func run(bin string, quick bool, files int, repo string, loop bool) error {
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
	steps := []func() error{b.version, b.smallRepo, b.mediumRepo, b.largeRepo, b.judgedRepos, b.loop, b.bigHistory, b.flood, b.killed}
	if files > 0 {
		steps = []func() error{func() error { return b.judged(files) }}
	}
	if loop {
		steps = []func() error{b.loop}
	}
	if repo != "" {
		steps = []func() error{func() error { return b.judgedIn(&sample{b: b, dir: repo, home: dir}, repo) }}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

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
