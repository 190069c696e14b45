package configtemplate

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"text/template"

	"github.com/paxiom/relay/host/internal/detect"
)

// SchemaURL is where editors find the schema of the configuration.
const SchemaURL = "https://raw.githubusercontent.com/paxiom/relay/main/schemas/config.schema.json"

// Choice is what a first configuration says.
type Choice struct {
	Project  detect.Project
	Provider string // plugin that plans
	Builder  string // plugin that builds
	Models   *Models
	Network  bool // the user's own configuration says what boxes may reach
}

// Models are the models of a vendor whose names the built-in configuration does not
// have; "" is the program's own default, or no fallback.
type Models struct {
	Orchestrator         string `json:"orchestrator_model"`
	OrchestratorFallback string `json:"orchestrator_fallback_model"`
	Builder              string `json:"builder_model"`
	BuilderFallback      string `json:"builder_fallback_model"`
}

// Limits that fit a first try: small steps, a budget that one notices.
const (
	maxFiles = 12
	maxLines = 400
	maxTicks = 50
)

type file struct {
	Schema       string       `json:"$schema"`
	Version      string       `json:"version"`
	Orchestrator orchestrator `json:"orchestrator"`
	Builder      builder      `json:"builder"`
	Models       *Models      `json:"models,omitempty"`
	Scope        scope        `json:"scope"`
	DiffLimits   diffLimits   `json:"diff_limits"`
	Verification verification `json:"verification"`
	Budgets      budgets      `json:"budgets"`
	Box          *boxes       `json:"box,omitempty"`
}

type orchestrator struct {
	Provider string `json:"provider"`
}

type builder struct {
	DefaultMode string `json:"default_mode"`
}

type scope struct {
	Allowed []string `json:"default_allowed_globs"`
	Ceiling ceiling  `json:"ceiling"`
}

type ceiling struct {
	Allowed  []string `json:"allowed_globs"`
	NewFiles bool     `json:"allow_new_files"`
}

type diffLimits struct {
	Files int `json:"default_max_files_touched"`
	Lines int `json:"default_max_lines_changed"`
}

type verification struct {
	Required  []string `json:"required"`
	Templates []check  `json:"templates"`
}

type check struct {
	ID      string   `json:"id"`
	Cmd     string   `json:"cmd"`
	Args    []string `json:"args"`
	Dir     string   `json:"dir,omitempty"`
	Env     []string `json:"env,omitempty"`
	Timeout int      `json:"timeout_seconds,omitempty"`
}

type budgets struct {
	PerMilestone perMilestone `json:"per_milestone"`
}

type perMilestone struct {
	MaxTicks int `json:"max_ticks"`
}

// boxes have the network that their work needs.
type boxes struct {
	Network network `json:"network"`
}

type network struct {
	Builder      string   `json:"builder"`
	Provider     string   `json:"provider"`
	Verification string   `json:"verification"`
	Hosts        []string `json:"hosts"`
}

func newFile(c Choice) file {
	f := file{Schema: SchemaURL, Version: "1.0"}
	f.Orchestrator.Provider = c.Provider
	f.Builder.DefaultMode = c.Builder
	f.Models = c.Models
	f.Scope.Allowed = c.Project.Sources
	if len(f.Scope.Allowed) == 0 {
		f.Scope.Allowed = []string{"**"}
	}
	f.Scope.Ceiling = ceiling{Allowed: f.Scope.Allowed, NewFiles: true}
	if !slices.Contains(f.Scope.Allowed, "**") { // texts beside the code; a manifest or CI is asked about
		for _, g := range []string{"docs/**", "*.md"} {
			if !slices.Contains(f.Scope.Ceiling.Allowed, g) {
				f.Scope.Ceiling.Allowed = append(slices.Clip(f.Scope.Ceiling.Allowed), g)
			}
		}
	}
	f.DiffLimits = diffLimits{Files: maxFiles, Lines: maxLines}
	f.Verification.Templates, f.Verification.Required = []check{}, Required(c.Project.Checks)
	for _, k := range c.Project.Checks {
		f.Verification.Templates = append(f.Verification.Templates, check{k.ID, k.Cmd, append([]string{}, k.Args...), k.Dir, k.Env, k.Limit})
	}
	f.Budgets.PerMilestone.MaxTicks = maxTicks
	if !c.Network {
		f.Box = &boxes{network{"needed", "needed", "needed", append([]string{}, c.Project.Registries...)}}
	}
	return f
}

// Required are the tests among the checks, or else the first of them that passes.
func Required(checks []detect.Check) []string {
	ids := []string{}
	for _, k := range checks {
		if strings.HasPrefix(k.ID, "test") {
			ids = append(ids, k.ID)
		}
	}
	if len(ids) > 0 {
		return ids
	}
	if i := slices.IndexFunc(checks, func(k detect.Check) bool { return k.Fails == "" }); i >= 0 {
		ids = append(ids, checks[i].ID)
	}
	return ids
}

// JSON gives relay.config.json.
func JSON(c Choice) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(newFile(c))
	return b.Bytes(), err
}

// YAML gives relay.config.yaml, with comments. Values are written as JSON, which
// YAML reads, so that no text needs YAML's own quoting rules.
func YAML(c Choice) ([]byte, error) {
	var b bytes.Buffer
	err := commented.Execute(&b, newFile(c))
	return b.Bytes(), err
}

//go:embed relay.config.yaml.tmpl
var yamlText string

var commented = template.Must(template.New("yaml").Funcs(template.FuncMap{"json": inline}).Parse(yamlText))

// inline is a value as JSON on one line.
func inline(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimRight(b.String(), "\n"), err
}
