package drift

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/plugins/internal/vendortest"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
)

// Case is a recorded output, testdata/NAME.jsonl, and how it came about.
type Case struct {
	Name    string            `json:"name"`
	Turns   json.RawMessage   `json:"turns"`             // of the model
	Call    json.RawMessage   `json:"call,omitempty"`    // fields of the driver's Call, where they are not those of Program.Call
	Schema  json.RawMessage   `json:"schema,omitempty"`  // of the answer
	Env     map[string]string `json:"env,omitempty"`     // beside what the driver sets; "" takes away
	Refused bool              `json:"refused,omitempty"` // nobody listens at the server
	Exit    int               `json:"exit,omitempty"`
	Quick   bool              `json:"quick,omitempty"`   // tried with every `make test-e2e`
	ByHand  string            `json:"by_hand,omitempty"` // why it can't be played again
}

// Into sets the fields of a driver's call that the case has its own of.
func (c Case) Into(t *testing.T, call any) {
	t.Helper()
	if c.Call == nil {
		return
	}
	if err := strictjson(c.Call, call); err != nil {
		t.Fatal(err)
	}
}

// strictjson knows every member, or says which it does not.
func strictjson(b []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// Program is a vendor's program and the driver that calls it.
type Program struct {
	Find func(testing.TB) string
	API  string            // of the model server's script
	Env  map[string]string // of the plugin
	// Prepare is the command that the driver makes of a case. It works in repo, has its
	// own files below private, and asks the server at url.
	Prepare func(t *testing.T, c Case, path, repo, private, url string) sdk.CLI
	Session string // stands in recordings for each id that is made up for a run
}

// What the environment of the tests says. Without it only the quick cases are played.
const (
	// modeVariable is "all", or "record", which also rewrites those cases that have
	// another shape.
	modeVariable = "RELAY_DRIFT"
	// reportVariable names a file that gets what was found, for people.
	reportVariable = "RELAY_DRIFT_REPORT"
)

// Play plays the cases of the package's testdata and fails where the shape of an output
// is not the recorded one.
func Play(t *testing.T, p Program) {
	path, cases := p.Find(t), Cases(t)
	mode := os.Getenv(modeVariable)
	proxy := e2e.Model(t, `{}`, nil) // which fails the test for every other host
	for name, value := range e2e.Env(t, proxy) {
		t.Setenv(name, value)
	}
	for name, value := range p.Env {
		t.Setenv(name, value)
	}
	found := make([]string, len(cases)) // a line or more for each that is not as recorded
	for i := range found {
		found[i] = "not played: -run left it out"
	}
	t.Run("cases", func(t *testing.T) {
		for i, c := range cases {
			t.Run(c.Name, func(t *testing.T) {
				switch {
				case c.ByHand != "":
					found[i] = "not played: " + c.ByHand
					t.Skip(found[i])
				case mode == "" && !c.Quick:
					found[i] = "not played: `make drift` does"
					t.Skip(found[i])
				}
				t.Parallel()
				found[i] = "it did not come to its end"
				found[i] = p.play(t, c, path, mode == "record")
				if found[i] != "" && mode != "record" {
					t.Error(found[i])
				}
			})
		}
	})
	report(t, path, cases, found)
}

// report writes what was found behind what the file has.
func report(t *testing.T, path string, cases []Case, found []string) {
	file := os.Getenv(reportVariable)
	if file == "" {
		return
	}
	names := make([]string, len(cases))
	for i, c := range cases {
		names[i] = c.Name
	}
	sum, text := summary(names, found)
	version, _ := exec.Command(path, "--version").Output() // without it the path says enough
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := fmt.Fprintf(out, "%s %s: %s\n%s", path, strings.TrimSpace(string(version)), sum, text); err != nil {
		t.Error(err)
	}
}

// summary counts the cases that are as recorded, and has each finding once: what several
// cases show, such as a new field of every result, is one line for all of them.
func summary(names, found []string) (sum, text string) {
	in := map[string][]string{} // finding → cases
	var order []string
	alike := 0
	for i, lines := range found {
		if lines == "" {
			alike++
			continue
		}
		for line := range strings.SplitSeq(lines, "\n") {
			if in[line] == nil {
				order = append(order, line)
			}
			in[line] = append(in[line], names[i])
		}
	}
	var b strings.Builder
	for _, line := range order {
		where := in[line][0]
		if n := len(in[line]); n > 1 {
			where = fmt.Sprintf("%d cases, such as %s", n, where)
		}
		fmt.Fprintf(&b, "  %s (%s)\n", line, where)
	}
	if len(order) == 0 {
		return fmt.Sprintf("all %d cases as recorded", alike), ""
	}
	return fmt.Sprintf("%d of %d cases as recorded, %d differences", alike, len(names), len(order)), b.String()
}

// Cases reads testdata/cases.json, which names every recording.
func Cases(t *testing.T) []Case {
	t.Helper()
	b, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []Case
	if err := strictjson(b, &cases); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".jsonl")
		if !slices.ContainsFunc(cases, func(c Case) bool { return c.Name == name }) {
			t.Errorf("testdata/cases.json does not say how %s was recorded", f)
		}
	}
	return cases
}

// play gives what changed in the shape of one case, a line for each.
func (p Program) play(t *testing.T, c Case, path string, record bool) (changes string) {
	repo, private := filepath.Join(t.TempDir(), "repo"), t.TempDir()
	vendortest.Repository(t, repo)
	turns := c.Turns
	if turns == nil {
		turns = json.RawMessage(`[]`)
	}
	model := e2e.Model(t, fmt.Sprintf(`{%q:%s}`, p.API, turns), map[string]string{"REPO": repo})
	url := model.URL()
	if c.Refused {
		model.Close()
	}
	cli := p.Prepare(t, c, path, repo, private, url)
	cli.Env = slices.DeleteFunc(cli.Env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, other := c.Env[name]
		return other
	})
	for name, value := range c.Env {
		if value != "" {
			cli.Env = append(cli.Env, name+"="+value)
		}
	}
	var lines [][]byte
	cli.OnLine = func(l []byte) {
		if l = bytes.TrimSpace(l); len(l) > 0 {
			lines = append(lines, bytes.Clone(l))
		}
	}
	cli.Idle, cli.Timeout = 0, 3*time.Minute // the program's own limits follow from the driver's, and are tried
	res, err := sdk.RunCLI(t.Context(), cli)
	if err != nil {
		t.Fatalf("%v\n%s", err, res.Stderr)
	}
	file := filepath.Join("testdata", c.Name+".jsonl")
	recorded, err := os.ReadFile(file)
	if err != nil && !record {
		t.Fatal(err)
	}
	was := Of(bytes.Split(bytes.TrimSpace(recorded), []byte("\n")), c.Exit)
	changes = strings.Join(was.Changes(Of(lines, res.ExitCode)), "\n")
	if changes != "" && record {
		text := tidy(string(bytes.Join(lines, []byte("\n"))), p.Session, repo, private, url)
		if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return changes
}

var (
	uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`)
	socks = regexp.MustCompile(`cc-socks/\d+`)
	spans = regexp.MustCompile(`("(?:duration|ttft|time_to|first_content)\w*":)[0-9.]+`)
)

// tidy takes out what differs from run to run and from machine to machine.
func tidy(text, session, repo, private, url string) string {
	text = strings.NewReplacer(repo, "/repo", private, "/private", strings.ReplaceAll(repo, "/", "-"), "-repo", url, "http://127.0.0.1:9900").Replace(text)
	text = uuids.ReplaceAllString(text, session)
	text = times.ReplaceAllString(text, "2026-11-21T09:00:00.000Z")
	text = socks.ReplaceAllString(text, "cc-socks/1")
	return spans.ReplaceAllString(text, "${1}0")
}
