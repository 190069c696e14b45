package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// clockBin is a relay whose clock a script can set; most scripts need none.
var clockBin struct {
	once sync.Once
	dir  string
	err  error
}

func clockDir() (string, error) {
	clockBin.once.Do(func() {
		clockBin.dir = filepath.Join(binDir, "clock")
		cmd := exec.Command("go", "run", "./internal/build", "-tags", "relaytest", "-plugins", "replay,external,patch", "-o", clockBin.dir)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			clockBin.err = fmt.Errorf("building a relay with another clock: %w: %s", err, out)
		}
	})
	return clockBin.dir, clockBin.err
}

// cmdClock puts the clock of every relay of this script forward: clock +3h. The first
// use, before any relay is started, makes the script's relay one with such a clock.
func cmdClock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: clock +DURATION")
	}
	file := ts.Getenv("RELAY_TEST_CLOCK")
	ahead := time.Duration(0)
	if file == "" {
		dir, err := clockDir()
		ts.Check(err)
		file = filepath.Join(ts.Getenv("WORK"), "clock")
		ts.Setenv("RELAY_TEST_CLOCK", file)
		ts.Setenv("PATH", dir+string(os.PathListSeparator)+ts.Getenv("PATH"))
	} else {
		var err error
		ahead, err = time.ParseDuration(strings.TrimSpace(ts.ReadFile(file)))
		ts.Check(err)
	}
	more, err := time.ParseDuration(strings.TrimPrefix(args[0], "+"))
	ts.Check(err)
	tmp := file + ".new"
	ts.Check(os.WriteFile(tmp, []byte((ahead + more).String()), 0o644))
	ts.Check(os.Rename(tmp, file))
}
