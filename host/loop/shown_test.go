package loop

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// scripts are the lines of all of testdata/script, one script after the other.
func scripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/script/*.txtar")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	var lines []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(string(b), "\n")...)
	}
	return lines
}

// reasons reads them from their declaration, so that a new one is looked for, too.
func reasons(t *testing.T) (names []string) {
	t.Helper()
	b, err := os.ReadFile("stop.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\t\w+ +Reason += "(\w+)"`).FindAllStringSubmatch(string(b), -1) {
		names = append(names, m[1])
	}
	return names
}

// Every end of a loop, every cap, every kind of limit and every signal has a story in
// testdata/script, in which the real relay meets it; the ends are in the guide, too.
func TestEachEndIsShown(t *testing.T) {
	lines := scripts(t)
	told := func(pattern, then string) bool {
		re, next := regexp.MustCompile(pattern), regexp.MustCompile(then)
		for i, l := range lines[:len(lines)-1] {
			if re.MatchString(l) && next.MatchString(lines[i+1]) {
				return true
			}
		}
		return false
	}
	guide, err := os.ReadFile("../../docs/guides/overnight-loop.md")
	if err != nil {
		t.Fatal(err)
	}
	ends := 0
	for _, name := range reasons(t) {
		ends++
		if !told(`^json \S+ (loop\.)?reason = `+name+`$`, ``) {
			t.Errorf("no script has a loop that ends with the reason %s", name)
		}
		if !strings.Contains(string(guide), "`"+name+"`") {
			t.Errorf("docs/guides/overnight-loop.md does not say what the reason %s means", name)
		}
	}
	caps := 0
	for _, k := range config.Keys("budgets") {
		if !strings.Contains(k.Key, ".max_") {
			continue
		}
		caps++
		key := strings.ReplaceAll(regexp.QuoteMeta(k.Key), `\*`, `\w+`)
		if !told(`^exits 3 .*relay .*--set `+key+`=`, `BLOCKED_BUDGET|used up`) {
			t.Errorf("no script has a call that %s refuses", k.Key)
		}
	}
	kinds := 0
	for n, name := range pluginpb.Failure_Reason_name {
		f := &pluginhost.Failure{Cause: pluginhost.Reported, RPC: "Complete", Reason: pluginpb.Failure_Reason(n), Effect: pluginpb.Failure_EFFECT_NONE}
		if !pluginhost.Decide(f).Passes {
			continue
		}
		kinds++
		if name = strings.TrimPrefix(name, "REASON_"); !told(`^json \S+ waits\.\d+\.limits\.\d+\.reason = `+name+`$`, ``) {
			t.Errorf("no script has a loop that waits for %s", name)
		}
	}
	for _, name := range []string{"INT", "TERM", "HUP", "KILL"} {
		if !told(`^signal `+name+` \.relay/lock\.json$`, ``) {
			t.Errorf("no script has a relay that gets SIG%s", name)
		}
	}
	if ends < 15 || caps < 15 || kinds < 4 {
		t.Errorf("only %d ends, %d caps and %d kinds of limits were looked for", ends, caps, kinds)
	}
}
