package plugintest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// CasesFile is the name under which a plugin's repository keeps its cases.
const CasesFile = "conformance.json"

// caseFile is CasesFile: a Config as data, for plugins in any language.
type caseFile struct {
	Schema       string              `json:"$schema"` // for editors
	PluginConfig json.RawMessage     `json:"plugin_config"`
	Env          map[string]string   `json:"env"`
	HomeFiles    []string            `json:"home_files"`
	Hosts        map[string][]Answer `json:"hosts"`
	Cases        []fileCase          `json:"cases"`
}

type fileCase struct {
	Name         string            `json:"name"`
	Complete     *fileComplete     `json:"complete"`
	Build        *fileBuild        `json:"build"`
	PluginConfig json.RawMessage   `json:"plugin_config"`
	Env          map[string]string `json:"env"`
	WantFailure  string            `json:"want_failure"`
	WantText     string            `json:"want_text"`
	WantFiles    map[string]string `json:"want_files"`
}

type fileComplete struct {
	Prompt       string          `json:"prompt"`
	System       string          `json:"system"`
	Model        string          `json:"model"`
	OutputSchema json.RawMessage `json:"output_schema"`
}

type fileBuild struct {
	Prompt string            `json:"prompt"`
	System string            `json:"system"`
	Model  string            `json:"model"`
	Task   json.RawMessage   `json:"task"`
	Patch  string            `json:"patch"`
	Files  map[string]string `json:"files"` // of the workspace, with their texts
}

// ReadConfig reads the cases of a plugin from a file such as CasesFile; the caller adds
// which plugin is tried with them.
func ReadConfig(file string) (Config, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return Config{}, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var f caseFile
	if err := d.Decode(&f); err != nil {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	if d.More() {
		return Config{}, fmt.Errorf("%s: there is more than one JSON document", file)
	}
	cfg := Config{PluginConfig: f.PluginConfig, Env: environment(f.Env), HomeFiles: f.HomeFiles, Hosts: f.Hosts}
	for i, c := range f.Cases {
		made, err := c.made()
		if err != nil {
			return Config{}, fmt.Errorf("%s: case %d %q: %w", file, i+1, c.Name, err)
		}
		cfg.Cases = append(cfg.Cases, made)
	}
	return cfg, nil
}

func (f fileCase) made() (Case, error) {
	c := Case{Name: f.Name, PluginConfig: f.PluginConfig, Env: environment(f.Env), WantText: f.WantText, WantFiles: f.WantFiles}
	if c.Name == "" {
		return c, errors.New("it has no name")
	}
	if f.WantFailure != "" {
		reason, ok := pluginpb.Failure_Reason_value["REASON_"+f.WantFailure]
		if !ok || reason == 0 {
			return c, fmt.Errorf("want_failure is %q, which is not a reason of the protocol", f.WantFailure)
		}
		c.WantReason = sdk.Reason(reason)
	}
	for _, files := range []map[string]string{f.WantFiles, f.Build.files()} {
		for name := range files {
			if !filepath.IsLocal(name) {
				return c, fmt.Errorf("%q leads out of the workspace", name)
			}
		}
	}
	switch {
	case (f.Complete == nil) == (f.Build == nil):
		return c, errors.New("it has one of complete and build")
	case f.Complete != nil:
		c.Complete = &sdk.CompleteRequest{System: f.Complete.System, Model: f.Complete.Model, OutputSchema: f.Complete.OutputSchema}
		if f.Complete.Prompt != "" {
			c.Complete.Contents = []sdk.Content{{Text: f.Complete.Prompt}}
		}
	default:
		b := f.Build
		c.Build = &sdk.BuildRequest{Prompt: b.Prompt, System: b.System, Model: b.Model, Task: b.Task, Patch: b.Patch}
		c.Workspace = func(dir string) error { return writeFiles(dir, b.Files) }
	}
	return c, nil
}

func (b *fileBuild) files() map[string]string {
	if b == nil {
		return nil
	}
	return b.Files
}

// environment gives variables as NAME=value, in the order of their names.
func environment(vars map[string]string) (env []string) {
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

func writeFiles(dir string, files map[string]string) error {
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compareFiles says which file of a workspace is not as a case wants it.
func compareFiles(dir string, want map[string]string) error {
	var bad []string
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case err != nil:
			bad = append(bad, name+" is not there")
		case string(got) != text:
			bad = append(bad, fmt.Sprintf("%s is %.200q; expected %.200q", name, got, text))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	slices.Sort(bad)
	return errors.New(strings.Join(bad, "; "))
}
