package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/paxiom/relay/fleet/internal/job"
)

const guidePage = "../docs/guides/fleet.md"

var (
	guideBlock = regexp.MustCompile("(?m)^<!-- test: skip ([^\n]*) -->\n```sh\n((?s:.*?))^```$")
	guideID    = regexp.MustCompile(`\bID\b`)
	guideSays  = regexp.MustCompile("`(relay fleet [a-z][^`]*|submit [a-z][^`]*)`")
)

// reader types the guide's commands into one shell after the other, whose variables stay as the page sets them.
type reader struct {
	*place
	home, exports, id string
	machines          []*exec.Cmd
}

// Each command of the guide is typed as it stands there, from the installation to workers of several machines and to
// encrypted blobs in a bucket. Only addresses and folders that are not this machine's are others.
func TestGuide(t *testing.T) {
	if *bin == "" {
		t.Skip("it needs the built programs: make fleet-test")
	}
	p := newPlace(t)
	r := &reader{place: p, home: p.home("reader")}
	p.extra = []string{"PATH=" + p.dir + "/usr/bin:" + os.Getenv("PATH"), "MAKEFLAGS=", "ANTHROPIC_API_KEY=none", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret"}
	plan := filepath.Join(p.dir, "plan.json")
	text, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	write(t, plan, strings.NewReplacer("left-handed", "which way?", "asks-me", "accept empty input").Replace(string(text)))
	page, err := os.ReadFile(guidePage)
	if err != nil {
		t.Fatal(err)
	}
	blocks := guideBlock.FindAllStringSubmatch(string(page), -1)
	if n := bytes.Count(page, []byte("```sh\n")); n != len(blocks) || n < 5 {
		t.Fatalf("%d blocks, and %d that the documentation's test leaves to this one", n, len(blocks))
	}
	// Before a line can be typed, something else must have come so far.
	first := map[string]func(){
		"relay fleet answer":      func() { r.comes(job.Waiting) },
		"relay fleet report ID":   func() { r.comes("completed") },
		"relay fleet stop":        func() { r.submit("stopped") },
		"export TEMPORAL_ADDRESS": func() { p.landed(1); r.share() },
		"openssl rand":            func() { p.landed(3) },
	}
	here := strings.NewReplacer(
		"make fleet install", "make -C .. -s -o build -o fleet fleet install PREFIX="+p.dir+"/usr", // both were just built
		"https://example.org/parser.git", p.remote, "temporal.example.org:7233", p.address, "/shared/", p.dir+"/shared/",
		"/etc/relay/", p.dir+"/", "https://s3.example.org", bucketAt(t))
	for _, b := range blocks {
		for line := range strings.Lines(b[2]) {
			for start, do := range first {
				if strings.HasPrefix(line, start) {
					do()
					delete(first, start)
				}
			}
			line = here.Replace(guideID.ReplaceAllString(line, r.id))
			switch {
			case strings.HasPrefix(line, "export "):
				r.exports += line
			case strings.HasPrefix(line, "relay fleet up"), strings.HasPrefix(line, "relay fleet worker"):
				r.stays(line)
			default:
				if out := r.types(line); strings.Contains(line, "submit") {
					_, id, _ := strings.Cut(string(out), "relay-run-")
					r.id = "relay-run-" + strings.Fields(id)[0]
				}
			}
		}
		if strings.Contains(b[2], "--label gpu") { // one for each of these workers
			r.submit("labelled", "--label", "gpu")
			r.submit("another")
			r.comes("completed")
		}
	}
	for start := range first {
		t.Errorf("no line begins with %q", start)
	}
	r.stays("relay fleet worker")
	r.submit("bucket")
	r.comes("completed")
	p.landed(4)
	for _, m := range r.machines {
		_ = m.Process.Kill()
		_ = m.Wait()
	}
}

// types types a command and gives what it prints.
func (r *reader) types(line string) []byte {
	r.t.Helper()
	return r.command(r.home, "bash", "-euc", r.exports+line)
}

// stays types a command that continues, on a machine of its own, and waits until it takes runs.
func (r *reader) stays(line string) {
	r.t.Helper()
	home := r.place.home("machine" + strconv.Itoa(len(r.machines)))
	r.machines = append(r.machines, r.start(home, "bash", "-euc", r.exports+"exec "+line))
	r.until(line+" waits for runs", func() bool {
		said, _ := os.ReadFile(filepath.Join(r.dir, "log"))
		return bytes.Count(said, []byte("waiting for runs of the queue")) == len(r.machines)
	})
}

// submit asks for a run beside those of the page.
func (r *reader) submit(key string, more ...string) {
	r.t.Helper()
	var doc struct{ ID string }
	line := "relay fleet submit run --json --goal 'canary " + key + "' --key " + key + " --repo " + r.remote + " " + strings.Join(more, " ")
	if out := r.types(line); json.Unmarshal(out, &doc) != nil || doc.ID == "" {
		r.t.Fatalf("%s", out)
	}
	r.id = doc.ID
}

// comes waits until the last run is in a state.
func (r *reader) comes(state string) {
	r.t.Helper()
	r.until(r.id+" is "+state, func() bool {
		var doc struct{ Runs []seen }
		if err := json.Unmarshal(r.types("relay fleet status --json"), &doc); err != nil {
			r.t.Fatal(err)
		}
		i := slices.IndexFunc(doc.Runs, func(s seen) bool { return s.ID == r.id })
		if i >= 0 && state == "completed" && doc.Runs[i].Result != nil && doc.Runs[i].Result.Code != "SUCCESS" {
			r.t.Fatalf("%+v", doc.Runs[i].Result)
		}
		return i >= 0 && doc.Runs[i].State == state
	})
}

// share makes what the page's machines share: a namespace of the cluster, and a folder with the key of the one that has
// made runs.
func (r *reader) share() {
	r.t.Helper()
	key, err := os.ReadFile(filepath.Join(r.dir, "home-machine0/.local/state/relay/attest/signers"))
	if err != nil {
		r.t.Fatal(err)
	}
	write(r.t, filepath.Join(r.dir, "shared/signers"), string(key))
	r.t.Setenv("TEMPORAL_API_KEY", "")
	c, err := r.engine().dial(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.WorkflowService().RegisterNamespace(r.t.Context(), &workflowservice.RegisterNamespaceRequest{Namespace: "relay",
		WorkflowExecutionRetentionPeriod: durationpb.New(72 * time.Hour)}); err != nil {
		r.t.Fatal(err)
	}
	r.until("the server knows its namespace", func() bool {
		return exec.Command(filepath.Join(*bin, "relay-fleet"), "watch", "--once", "--namespace", "relay", "--address", r.address, "--blobs", r.blobs).Run() == nil
	})
}

// bucketAt is a store of objects that notices what is not encrypted.
func bucketAt(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("relay"); err != nil {
		t.Fatal(err)
	}
	objects := gofakes3.New(backend).Server()
	put := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPut {
			b, err := io.ReadAll(req.Body)
			if put++; err != nil || bytes.Contains(b, []byte("canary")) {
				t.Errorf("%s is not encrypted: %v", req.URL, err)
			}
			req.Body = io.NopCloser(bytes.NewReader(b))
		}
		objects.ServeHTTP(w, req)
	}))
	t.Cleanup(func() {
		if s.Close(); put == 0 {
			t.Error("nothing came into the bucket")
		}
	})
	return s.URL
}

// What the pages about the fleet name in their sentences is there.
func TestNamedCommands(t *testing.T) {
	n := 0
	for _, file := range []string{guidePage, "../docs/concepts/fleet.md"} {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range guideSays.FindAllStringSubmatch(string(page), -1) {
			line, _, _ := strings.Cut(strings.TrimPrefix(m[1], "relay fleet "), " #")
			args := strings.Fields(line)
			root := newRoot(&engine{})
			cmd, rest, err := root.Find(args)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil || cmd == root {
				t.Errorf("%s: %q: %v", file, m[1], err)
			}
			n++
		}
	}
	if n < 4 {
		t.Errorf("only %d commands were found", n)
	}
}
