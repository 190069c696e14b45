package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/sdk"
)

// Identity is what a stranger says it is, and what it does.
type Identity struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Env      []string `json:"env"` // a name that ends in "!" is a secret
	Programs []string `json:"programs"`
	Hosts    []string `json:"hosts"`
	Reads    []string `json:"reads"`
	Writes   []string `json:"writes"`
	// Early is done before it says what it is, Does in a build: "env:NAME", "run:PATH",
	// "get:URL", "read:PATH", "write:PATH".
	Early []string `json:"early"`
	Does  []string `json:"does"`
	// Ends is how it ends at its start, or in a build: "exit:N", "announce:NETWORK|ADDRESS";
	// in a build also "fail", with Words.
	Ends  string `json:"ends"`
	Start bool   `json:"at_start"`
	// Provider makes it a provider, whose answer is what came of Does.
	Provider bool `json:"provider"`
	// Thinks is how many seconds it takes to say whether it is healthy.
	Thinks float64  `json:"thinks_s"`
	Words  []string `json:"words"` // summary, detail and fix of a failure
	// What else it says of itself.
	Aliases   []string        `json:"aliases"`
	Schema    json.RawMessage `json:"schema"`
	SummaryMB float64         `json:"summary_mb"` // size of the summary
	Fickle    bool            `json:"fickle"`     // another summary each time
}

func main() {
	id, err := self()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stranger:", err)
		os.Exit(2)
	}
	for _, what := range id.Early {
		fmt.Fprintln(os.Stderr, what, do(what))
	}
	if id.Start {
		end(id)
	}
	info := sdk.Info{Name: id.Name, Version: id.Version, Summary: "a stranger for tests", Programs: id.Programs, Hosts: id.Hosts, Reads: id.Reads, Writes: id.Writes}
	for _, v := range id.Env {
		name, secret := strings.CutSuffix(v, "!")
		info.Env = append(info.Env, sdk.EnvVar{Name: name, Secret: secret, Purpose: "for a test"})
	}
	info.Aliases, info.ConfigSchema = id.Aliases, id.Schema
	if id.SummaryMB > 0 {
		info.Summary = strings.Repeat("s", int(id.SummaryMB*(1<<20)))
	}
	if id.Fickle {
		info.Summary = fmt.Sprintf("a stranger at %d", time.Now().UnixNano())
	}
	if id.Provider {
		sdk.Serve(info, sdk.Provider{Complete: func(context.Context, *sdk.CompleteRequest, sdk.Events) (*sdk.Completion, error) {
			return &sdk.Completion{Text: told(id)}, nil
		}})
	}
	sdk.Serve(info, sdk.Builder{Health: func(ctx context.Context, _ bool) (*sdk.Health, error) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(id.Thinks * float64(time.Second))):
		}
		return &sdk.Health{}, ctx.Err()
	}, Build: func(ctx context.Context, r *sdk.BuildRequest, out sdk.Events) (*sdk.BuildResult, error) {
		return build(id, r, out)
	}})
}

// end ends the process as it was asked to.
func end(id Identity) {
	how, arg, _ := strings.Cut(id.Ends, ":")
	switch how {
	case "exit":
		code, _ := strconv.Atoi(arg)
		os.Exit(code)
	case "announce":
		fmt.Printf("1|1|%s|grpc|\n", os.ExpandEnv(arg))
		time.Sleep(time.Hour)
	}
}

// told does what it was told, and says what came of it.
func told(id Identity) string {
	var said strings.Builder
	for _, what := range id.Does {
		fmt.Fprintf(&said, "%s %s\n", what, do(what))
	}
	return said.String()
}

func build(id Identity, r *sdk.BuildRequest, out sdk.Events) (*sdk.BuildResult, error) {
	said := fmt.Sprintf("%sbuilt by %s %s\n", told(id), id.Name, id.Version)
	if err := os.WriteFile(filepath.Join(r.Workspace, "src", "a.txt"), []byte(said), 0o644); err != nil {
		return nil, sdk.Fail(sdk.Internal, "the workspace can't be written", sdk.Detail(err.Error()))
	}
	if !id.Start {
		end(id)
	}
	if id.Ends == "fail" {
		w := append(id.Words, "", "", "")
		out.Notice(w[0])
		return nil, sdk.Fail(sdk.BadConfig, w[0], sdk.Detail(w[1]), sdk.Fix(w[2]))
	}
	return &sdk.BuildResult{JSON: []byte(`{"summary": "did as told", "files_intended": ["src/a.txt"], "commands_ran": [], "notes": []}`)}, nil
}

// do tries one thing and says what came of it.
func do(what string) string {
	kind, arg, _ := strings.Cut(what, ":")
	arg = os.ExpandEnv(arg)
	var err error
	switch kind {
	case "env":
		if v, ok := os.LookupEnv(arg); ok {
			return "is " + v
		}
		return "is not set"
	case "run":
		err = exec.Command(arg).Run()
	case "get":
		c := http.Client{Timeout: 5 * time.Second}
		var res *http.Response
		if res, err = c.Get(arg); err == nil {
			res.Body.Close()
			return res.Status
		}
	case "read":
		var b []byte
		if b, err = os.ReadFile(arg); err == nil && len(b) == 0 {
			return "is empty"
		}
		if err != nil {
			if entries, bad := os.ReadDir(arg); bad == nil {
				return fmt.Sprintf("has %d entries", len(entries))
			}
		}
	case "write":
		err = os.WriteFile(arg, []byte("written\n"), 0o644)
	default:
		return "is nothing that a stranger does"
	}
	if err != nil {
		return "failed: " + err.Error()
	}
	return "worked"
}

// self reads the end of this program's own file: JSON and its length in eight bytes.
func self() (id Identity, err error) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return id, err
	}
	defer f.Close()
	end, err := f.Seek(-8, io.SeekEnd)
	if err != nil {
		return id, err
	}
	var size [8]byte
	if _, err = io.ReadFull(f, size[:]); err != nil {
		return id, err
	}
	n := int64(binary.BigEndian.Uint64(size[:]))
	if n > 1<<20 || n > end {
		return id, fmt.Errorf("the file does not say who it is")
	}
	b := make([]byte, n)
	if _, err = f.ReadAt(b, end-n); err != nil {
		return id, err
	}
	return id, json.NewDecoder(bytes.NewReader(b)).Decode(&id)
}
