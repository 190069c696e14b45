package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// JSONSchema is the published schema of the configuration file, made from the
// table. The copy in schemas/ is kept fresh by a test.
func JSONSchema() []byte {
	return published(object(specs, ""), "config", "relay configuration")
}

// ServiceJSONSchema is the published schema of a service file.
func ServiceJSONSchema() []byte {
	return published(object(serviceSpecs, "service file"), "service", "relay service")
}

func published(s map[string]any, name, title string) []byte {
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["$id"] = "https://github.com/paxiom/relay/schemas/" + name + ".schema.json"
	s["title"] = title
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		panic("config: " + err.Error())
	}
	return b.Bytes()
}

// sections say what keys have in common, by their path; those of a service file below "service file".
var sections = map[string]string{
	"box":                            "The place in which builders and checks run.",
	"box.limits":                     "Limits of each process group in a box.",
	"box.network":                    "Which hosts each role may reach from its box.",
	"budgets":                        "Caps on calls and dollars, which stop work before they are passed.",
	"budgets.per_cycle":              "Caps on one audit cycle.",
	"budgets.per_day":                "Caps on a calendar day, in local time.",
	"budgets.per_milestone":          "Caps on one milestone.",
	"budgets.per_run":                "Caps on one run.",
	"builder":                        "Which builder changes files, and its limits.",
	"builder.claude_code":            "Settings of the builder claude-code.",
	"builder.cursor":                 "Settings of the builder external, under the name that seed configurations use.",
	"builder.external":               "Settings of the builder external, which runs a program of yours.",
	"builder.patch":                  "Settings of the builder patch.",
	"claude_code_cli":                "How the program claude is started.",
	"commit":                         "How a change that landed is committed.",
	"cycles":                         "Work trees of audit cycles.",
	"diff_limits":                    "Size limits of a task that names none.",
	"evidence":                       "Attestations of landed commits.",
	"fallback":                       "Who takes over while a vendor is at its limit or down.",
	"history":                        "What is kept of past runs.",
	"limits":                         "How vendors' limits are waited for.",
	"models":                         "Models of the planner and the builder.",
	"notify":                         "Where relay says that something needs you.",
	"orchestrator":                   "The planner, which proposes tasks, and its limits.",
	"pipeline":                       "Steps, limits and scope of a pipeline.",
	"pipeline.cleanup":               "The step that works through the review's findings.",
	"pipeline.code":                  "The step that builds a task.",
	"pipeline.criteria":              "The step that checks acceptance criteria.",
	"pipeline.plan":                  "The step that plans a task.",
	"pipeline.push":                  "Where finished tasks are pushed.",
	"pipeline.review":                "The step that reviews what was built.",
	"pipeline.scope":                 "What a task may change if it has no scope of its own.",
	"runner":                         "Limits of a tick, and relay's own files.",
	"runner.crash_cleanup":           "What the next start removes and checks after a crash.",
	"runner.render_report_md":        "REPORT.md, the report for people.",
	"scope":                          "What tasks may change: defaults, and a ceiling above them.",
	"scope.ceiling":                  "What no task may go beyond, whatever it asks for.",
	"telemetry":                      "OpenTelemetry spans.",
	"verification":                   "The checks that a change has to pass, and how they run.",
	"worktree":                       "How uncommitted changes are treated.",
	"service file.cycle":             "Limits of a cycle on this service, and when it needs you.",
	"service file.input":             "How much the auditors are given to read.",
	"service file.models":            "The models that audit, refine and revise.",
	"service file.models.audit_a":    "The first auditor.",
	"service file.models.audit_b":    "The second auditor.",
	"service file.models.refinement": "The model that makes one plan of the audits.",
	"service file.models.revision":   "The model or builder that carries out the plan.",
	"service file.scope":             "What a revision may change.",
	"service file.service":           "The service that is audited.",
}

func object(s *spec, path string) map[string]any {
	props, required := map[string]any{}, []string{}
	for _, name := range s.order {
		child := s.children[name]
		if child.key != nil {
			props[name] = child.schema()
			if child.key.need {
				required = append(required, name)
			}
		} else {
			at := strings.TrimPrefix(path+"."+name, ".")
			group := object(child, at)
			if group["description"] = sections[at]; sections[at] == "" {
				panic("config: sections says nothing of " + at)
			}
			props[name] = group
		}
	}
	out := map[string]any{"type": "object", "additionalProperties": false, "properties": props}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func (s *spec) schema() map[string]any {
	k := s.key
	out := map[string]any{"description": k.doc}
	if k.def != nil {
		out["default"] = k.def
	}
	switch k.kind {
	case kText:
		out["type"] = "string"
		if len(k.enum) > 0 {
			out["enum"] = k.enum
		} else if k.only == "" {
			out["maxLength"] = limit(k)
		}
	case kBool:
		out["type"] = "boolean"
	case kWhole, kNumber:
		out["type"] = map[kind]string{kWhole: "integer", kNumber: "number"}[k.kind]
		out["minimum"], out["maximum"] = k.min, k.max
	case kTexts:
		out["type"], out["items"], out["maxItems"] = "array", map[string]any{"type": "string"}, limit(k)
	case kCommand:
		out["type"], out["items"] = []string{"string", "array"}, map[string]any{"type": "string"}
	case kObjects:
		out["type"], out["items"], out["maxItems"] = "array", object(s.each, s.key.path), limit(k)
	case kMap:
		out["type"] = "object"
		if s.each.key != nil {
			out["additionalProperties"] = s.each.schema()
		} else {
			out["additionalProperties"] = object(s.each, s.key.path)
		}
	case kAny:
		out["type"] = "object"
		props := map[string]any{}
		for _, name := range s.order {
			props[name] = s.children[name].schema()
		}
		out["properties"] = props
	case kRef:
		out["oneOf"] = []any{
			map[string]any{"type": "string", "pattern": "^(env:[A-Za-z_][A-Za-z0-9_]*|file:(~/|/).+)$"},
			map[string]any{"type": "object", "additionalProperties": false, "required": []string{"command"}, "properties": map[string]any{
				"command": map[string]any{"description": "A program that prints it, with its arguments.", "type": "array", "minItems": 1, "items": map[string]any{"type": "string"}}}},
		}
	}
	if text, _ := k.def.(string); k.only != "" && !strings.Contains(text, "{workspace}") {
		out["const"] = k.def
	}
	return out
}

func limit(k *key) int {
	if k.max == 0 {
		return 500
	}
	return int(k.max)
}

// Reference is the page docs/reference/config.md, made from the table.
func Reference() []byte { return reference(referenceHead, table) }

// ServiceReference is the page docs/reference/service.md.
func ServiceReference() []byte { return reference(serviceHead, serviceTable) }

func reference(head string, keys []*key) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	section := "?"
	for _, k := range keys {
		if s := sectionOf(k.path); s != section {
			section = s
			title := "`" + s + "`"
			if s == "" {
				title = "Top level"
			}
			fmt.Fprintf(&b, "\n## %s\n\n| key | value | built-in | what it does | read by |\n| --- | --- | --- | --- | --- |\n", title)
		}
		doc := k.doc
		if k.only != "" {
			doc += " Any other value is refused: " + k.only + "."
		}
		switch k.narrow {
		case atMost, fewest:
			doc += " A repository can only lower your own value."
		case users:
			doc += " Your own configuration wins over a repository's."
		case owners:
			doc += " Only your own configuration, the environment or --set can set it."
		case notWeak:
			doc += " A repository can ask for more than your own configuration does, but not for less."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", strings.TrimPrefix(strings.TrimPrefix(k.path, section), "."), cell(k.expects()), code(k), cell(doc), cell(k.read))
	}
	return b.Bytes()
}

func sectionOf(path string) string {
	for _, whole := range []string{"plugins", "providers"} {
		if strings.HasPrefix(path, whole) {
			return whole
		}
	}
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return ""
	}
	return path[:i]
}

const serviceHead = `# Service files

<!-- Made from the table in host/internal/config by its test; do not edit. -->

An audit cycle works on a *service*. ` + "`config/services/<id>.yaml`" + ` describes one, ` + "`config/default.yaml`" + ` holds what all of them have in
common, and both may also be ` + "`.yml`, `.json` or `.toml`" + `. Every key is optional; the file's name is the service's id.

From the lowest layer to the highest: built-in, ` + "`config/default.yaml`" + `, the service's file, the environment (` + "`RELAY_CYCLE_MAX_ITERATIONS=3`" + `),
` + "`relay audit start --with KEY=VALUE`" + `. ` + "`relay audit service show ID`" + ` says where each value comes from, and ` + "`relay audit service check`" + ` what is wrong. A
cycle keeps the values that it began with.

A repository's service files name programs and plugins, which you approve before the first cycle: ` + "`relay trust`" + `.

No key, variable or flag can pass either of the two gates.
`

const referenceHead = `# Configuration

<!-- Made from the table in host/internal/config by its test; do not edit. -->

A repository's configuration is ` + "`relay.config.json`" + ` at its root, or the same as ` + "`.yaml`, `.yml` or `.toml`" + `. A
` + "`relais.config.json`" + ` is read if there is no other. Every key is optional.

Values come in layers, from the lowest to the highest: built-in, your own ` + "`$XDG_CONFIG_HOME/relay/config.json`" + ` (or
` + "`.yaml`, `.yml`, `.toml`" + `), the repository's file, the environment, ` + "`--set key=value`" + `. Objects are merged key by key; lists
are replaced as a whole. ` + "`relay config show --origin`" + ` says where each value comes from.

The variable for a key is ` + "`RELAY_`" + ` and the key in capitals with "_" for ".": ` + "`RELAY_RUNNER_MAX_TICK_SECONDS=600`" + `. Lists
are separated by commas or written as JSON. ` + "`plugins`" + `, ` + "`providers`" + ` and ` + "`budgets.per_provider`" + ` contain names of your own: variables
can't set them, and one that would is refused.

A repository's configuration can narrow rights, but never widen them beyond your own. If it names a
command, a driver or a plugin, or says what a builder may do, it needs your approval once: ` + "`relay trust`" + `.

` + "`{workspace}`" + ` stands for the value of ` + "`workspace_dir`" + `. Patterns consist of literals, ` + "`*`, `?`" + ` and ` + "`**`" + ` as a whole path component.
`
