package bench

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/judge/box"
	_ "github.com/paxiom/relay/judge/box/copies"
)

var (
	bin   = flag.String("bin", "../../bin", "folder with relay and its plugins")
	quick = flag.Bool("quick", false, "small repositories and few rounds, to see that it works")
	only  = flag.String("only", "", "only these parts, with commas")
	repo  = flag.String("repo", "", "the judge beside git status in this repository; nothing in it is changed")
)

func TestMain(m *testing.M) {
	box.Init() // a box is this very program, started again
	os.Exit(m.Run())
}

// sizes are the repositories that are measured, in files.
type sizes struct{ small, medium, large, history, rounds int }

// BenchmarkRelay prints a table. Its parts are in the order of it.
func BenchmarkRelay(b *testing.B) {
	s := sizes{small: 10, medium: 10_000, large: 100_000, history: 10_000, rounds: 7}
	if *quick {
		s = sizes{small: 10, medium: 1000, large: 2000, history: 50, rounds: 3}
	}
	bin, err := filepath.Abs(*bin)
	if err != nil {
		b.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "relay-bench-")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	t := &bench{relay: filepath.Join(bin, "relay"), dir: dir, sizes: s}
	fmt.Printf("\nrelay bench: %s/%s, %d processors, medians of %d\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), s.rounds)
	row("what", "measured", "aim")
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"version", t.version}, {"small", t.smallRepo}, {"medium", t.mediumRepo}, {"large", t.largeRepo},
		{"judged", t.judgedRepos}, {"checks", t.checks}, {"loop", t.loop}, {"history", t.bigHistory}, {"bar", t.statusBar}, {"tasks", t.taskList},
		{"flood", t.flood}, {"file", t.hugeFile}, {"diff", t.hugeDiff}, {"ignored", t.manyIgnored}, {"new", t.manyNew},
		{"killed", t.killed},
		{"terraform", t.terraform},
	} {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), part.name) {
			continue
		}
		if err := part.run(); err != nil {
			b.Fatal(err)
		}
	}
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
