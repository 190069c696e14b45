package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Service is one service of audit cycles, after layering.
type Service struct {
	Schema      string        `json:"$schema,omitempty"` // for editors
	Service     ServiceInfo   `json:"service"`
	References  []string      `json:"references"` // patterns of what auditors read beside the code
	Code        []string      `json:"code"`
	CodeExclude []string      `json:"code_exclude"` // patterns of code that auditors do not read
	Models      ServiceModels `json:"models"`
	Cycle       CycleRules    `json:"cycle"`
	Scope       ServiceScope  `json:"scope"`
	Input       InputCaps     `json:"input"`
}

// ServiceInfo names a service.
type ServiceInfo struct {
	ID           string `json:"id"`            // of the service
	Name         string `json:"name"`          // for people
	BranchPrefix string `json:"branch_prefix"` // of the branches of its cycles
	Spec         string `json:"spec"`          // file with its specification
}

// ServiceModels says who audits, refines and revises.
type ServiceModels struct {
	AuditA     Role         `json:"audit_a"`
	AuditB     Role         `json:"audit_b"`
	Audits     []OtherAudit `json:"audits"`
	Refinement Role         `json:"refinement"`
	Revision   Rotation     `json:"revision"`
}

// Role is one model in one role.
type Role struct {
	Provider string   `json:"provider"`
	Model    string   `json:"model"`
	Fallback []string `json:"fallback,omitempty"`
	Enabled  bool     `json:"enabled"` // whether the role is used
}

// OtherAudit is an audit beyond the first two.
type OtherAudit struct {
	Provider string   `json:"provider"`
	Model    string   `json:"model"`
	Fallback []string `json:"fallback,omitempty"`
}

// Rotation is who revises, one a cycle in turn.
type Rotation struct {
	Rotation []string          `json:"rotation"` // providers or builders, one per cycle in turn
	Models   map[string]string `json:"models"`   // by entry of rotation
	Fallback []string          `json:"fallback,omitempty"`
}

// CycleRules are the limits of a cycle.
type CycleRules struct {
	MaxIterations    int     `json:"max_iterations"`               // iterations of a cycle
	TestCommand      Command `json:"test_command,omitempty"`       // run after each revision
	TestTimeout      int     `json:"test_timeout_seconds"`         // of the tests
	AcceptanceNeeded bool    `json:"acceptance_required"`          // the operator accepts the result
	AutoIterate      bool    `json:"auto_iterate_on_test_failure"` // failed tests start the next round of audits
	TimeoutSeconds   int     `json:"timeout_seconds"`              // of one model call
	MaxCallUSD       float64 `json:"max_call_usd"`                 // cap of one call, in US dollars
	MaxCostUSD       float64 `json:"max_cost_usd"`                 // cap of a cycle, in US dollars
}

// ServiceScope is the fence of a revision.
type ServiceScope struct {
	AllowedGlobs         []string `json:"allowed_globs"`
	ForbiddenGlobs       []string `json:"forbidden_globs"`
	AllowNewFiles        bool     `json:"allow_new_files"`
	AllowLockfileChanges bool     `json:"allow_lockfile_changes"`
	MaxFilesTouched      int      `json:"max_files_touched"`
	MaxLinesChanged      int      `json:"max_lines_changed"`
}

// InputCaps bound what auditors read.
type InputCaps struct {
	MaxReferenceKB int `json:"max_reference_kb"` // of one reference, in 1,000 bytes
	MaxFileKB      int `json:"max_file_kb"`      // of one code file, in 1,000 bytes
	MaxTotalKB     int `json:"max_total_kb"`     // of all input, in 1,000 bytes
}

// Command is an argv; in a file it may be one text.
type Command []string

// UnmarshalJSON splits a text without a shell.
func (c *Command) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		argv, err := SplitCommand(s)
		*c = argv
		return err
	}
	return json.Unmarshal(b, (*[]string)(c))
}

// Auditor is one audit with its role's name.
type Auditor struct {
	Name string `json:"name"` // audit_a, audit_b, …
	Role
}

// Auditors lists the audits that are made.
func (s *Service) Auditors() []Auditor {
	var out []Auditor
	for _, a := range []Auditor{{"audit_a", s.Models.AuditA}, {"audit_b", s.Models.AuditB}} {
		if a.Enabled {
			out = append(out, a)
		}
	}
	for i, o := range s.Models.Audits {
		out = append(out, Auditor{fmt.Sprintf("audit_%c", 'c'+i), Role{o.Provider, o.Model, o.Fallback, true}})
	}
	return out
}

// Revisers is the rotation, or the auditors' providers where none is set.
func (s *Service) Revisers() []string {
	if len(s.Models.Revision.Rotation) > 0 {
		return s.Models.Revision.Rotation
	}
	var out []string
	for _, a := range s.Auditors() {
		if !slices.Contains(out, a.Provider) {
			out = append(out, a.Provider)
		}
	}
	return out
}

// LoadedService is a service and where its values came from.
type LoadedService struct {
	*Service
	File     string   // relative to the root
	Warnings []string // what is allowed and probably not meant

	tree, repo *node
}

// ServicesDir is where service files lie, relative to the root; DefaultsName is the
// file above them without its ending.
const (
	ServicesDir  = workspace.ServicesDir
	DefaultsName = workspace.DefaultsName
)

var serviceEndings = []string{".yaml", ".yml", ".json", ".toml"}

var (
	serviceTable = buildTable(serviceKeys)
	serviceSpecs = buildSpecs(serviceTable)
)

// Services lists the ids of the services at root, sorted.
func Services(root string) ([]string, error) {
	names, err := beneath.ReadDir(root, ServicesDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedMissingConfig, "the folder of the services can't be read", "`ls -ld "+ServicesDir+"`")
	}
	var out []string
	for _, name := range names {
		id := strings.TrimSuffix(name, filepath.Ext(name))
		if slices.Contains(serviceEndings, filepath.Ext(name)) && serviceID(id) == "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out, nil
}

// LoadService loads one service. with are KEY=VALUE of the command line, lowest first.
func LoadService(o Options, id string, with []string) (*LoadedService, error) {
	l := &LoadedService{}
	if why := serviceID(id); why != "" {
		return nil, diag.New(judge.BlockedMissingConfig, "there is no service "+clipQuote(id), "as an id it "+why, "`relay audit service list`")
	}
	own, file, err := serviceLayer(o.Root, path.Join(ServicesDir, id))
	if err != nil {
		return nil, err
	}
	if own == nil {
		return nil, noService(o.Root, id)
	}
	defaults, _, err := serviceLayer(o.Root, DefaultsName)
	if err != nil {
		return nil, err
	}
	files := newLayers(newMap(own.at))
	files.over(defaults)
	files.over(own)
	l.File, l.repo = file, files.tree()
	all := newLayers(builtinOf(serviceTable))
	all.over(l.repo)
	if env := envLayer(serviceTable, o.Env); env != nil {
		if p := inspectAs(env, serviceTable, serviceSpecs); len(p) > 0 {
			return nil, badInput("the environment", p)
		}
		all.over(env)
	}
	for _, s := range with {
		n, err := setLayerOf("--with", s, serviceTable, serviceSpecs, "`relay audit service show "+id+"` lists the keys; write --with key=value")
		if err != nil {
			return nil, err
		}
		all.set(n)
	}
	l.tree = all.tree()
	return l, l.finish(o.Root, id)
}

// serviceLayer reads one file of the service layers; nil when there is none.
func serviceLayer(root, stem string) (*node, string, error) {
	for _, ending := range serviceEndings {
		name := stem + ending
		b, err := beneath.ReadFile(root, name, maxFileBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, name, diag.Wrap(err, judge.BlockedMissingConfig, name+" can't be read", "`ls -l "+diag.Word(name)+"`")
		}
		n, err := readLayerAs(name, name, b, LayerRepo, serviceTable, serviceSpecs)
		return n, name, err
	}
	return nil, "", nil
}

func noService(root, id string) error {
	why := "there is no " + ServicesDir + "/" + id + ".yaml"
	ids, _ := Services(root)
	fix := "`relay audit service new " + id + "` writes one"
	if near := Nearest(id, ids); near != "" {
		fix = "`relay audit service show " + near + "`, if that is the one you mean"
	} else if len(ids) > 0 {
		why += "; there are " + strings.Join(ids, ", ")
	}
	return diag.New(judge.BlockedMissingConfig, "there is no service "+clipQuote(id), why, fix)
}

// finish checks what concerns several keys and decodes.
func (l *LoadedService) finish(root, id string) error {
	refuse := func(n *node, key, why string) error {
		f := badInput(source(n.at), []problem{{n.at, key, why}})
		if n.at.File != "" {
			f.Fix = edit(n.at.File, n.at.Line)
		}
		return f
	}
	if n := l.tree.lookup("service", "id"); n != nil && n.v != id {
		return refuse(n, "service.id", "is "+clipQuote(fmt.Sprint(n.v))+", but the file is "+l.File)
	}
	b, err := json.Marshal(l.tree.plain())
	if err != nil {
		return diag.Internal(err)
	}
	l.Service = &Service{}
	if err := json.Unmarshal(b, l.Service); err != nil {
		return diag.Internal(err)
	}
	l.Service.Service.ID = id
	if l.Service.Service.BranchPrefix == "" {
		l.Service.Service.BranchPrefix = "relay/" + strings.ToLower(id)
	}
	auditors := l.Auditors()
	if len(auditors) == 0 {
		return refuse(l.tree.lookup("models", "audit_a"), "models", "every audit is disabled; a cycle needs at least one")
	}
	if len(auditors) == 1 {
		l.Warnings = append(l.Warnings, "there is one audit only: nothing tells you what it overlooks")
	}
	for _, name := range []string{"audit.md", "refine.md", "revise.md"} { // where the seed has them
		if _, err := beneath.ReadFile(root, "prompts/"+name, maxFileBytes); err == nil {
			l.Warnings = append(l.Warnings, "prompts/"+name+" is not read: your own text of that prompt belongs into prompts/"+name+" of the workspace")
		}
	}
	if len(l.Revisers()) == 1 {
		l.Warnings = append(l.Warnings, "only "+l.Revisers()[0]+" revises: a single reviser biases every cycle; name a second one in models.revision.rotation")
	}
	return nil
}

// Values are all values in the order of the reference, for service show.
func (l *LoadedService) Values() []Value { return valuesOf(serviceTable, l.tree) }

// Grants lists what of the service's own files needs a person's yes.
func (l *LoadedService) Grants() []Grant {
	var out []Grant
	own := builtinOf(serviceTable)
	add := func(why string, path ...string) {
		n := l.repo.lookup(path...)
		def := own.lookup(path...)
		if n == nil || def != nil && equalPlain(n, def) {
			return
		}
		out = append(out, Grant{joinAll(path), canonical(n), why, n.at.File, n.at.Line})
	}
	const reads = "chooses the plugin that gets your code"
	add(reads, "models", "audit_a", "provider")
	add(reads, "models", "audit_b", "provider")
	add(reads, "models", "audits")
	add(reads, "models", "refinement", "provider")
	add("chooses the plugins that rewrite your code", "models", "revision", "rotation")
	const instead = "chooses plugins that get your code when a limit is met"
	add(instead, "models", "audit_a", "fallback")
	add(instead, "models", "audit_b", "fallback")
	add(instead, "models", "refinement", "fallback")
	add(instead, "models", "revision", "fallback")
	add("is a program that is run to test a revision", "cycle", "test_command")
	return out
}

var serviceWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func serviceID(v any) string {
	if s := v.(string); !serviceWord.MatchString(s) || strings.Contains(s, "..") || strings.HasSuffix(s, ".lock") || strings.HasSuffix(s, ".") || len(s) > 64 {
		return "is not an id of a service: letters, digits and \"._-\", a letter or digit first, at most 64"
	}
	return ""
}

var branchWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

func branchPrefix(v any) string {
	s := v.(string)
	if s != "" && (!branchWord.MatchString(s) || strings.HasPrefix(s, "refs/") || strings.Contains(s, "..") || strings.Contains(s, "//") || strings.HasSuffix(s, "/") || strings.Contains(s, "/.") || strings.Contains(s, ".lock")) {
		return "can't begin the name of a branch: letters, digits and \"._/-\", without refs/ before it"
	}
	return ""
}

func inRepoOrNone(v any) string {
	if v == "" {
		return ""
	}
	return inRepo(v)
}

// referencePaths holds for files and folders, with or without wildcards.
func referencePaths(v any) string {
	return each(v, func(s string) string {
		if why := inRepo(strings.TrimSuffix(s, "/")); why != "" {
			return clipQuote(s) + " " + why
		}
		if err := judge.ValidGlob(strings.TrimSuffix(s, "/")); err != nil {
			return "the pattern " + clipQuote(s) + " " + err.Error()
		}
		return ""
	})
}

func pluginList(v any) string {
	seen := map[string]bool{}
	return each(v, func(s string) string {
		if seen[s] {
			return clipQuote(s) + " appears twice"
		}
		seen[s] = true
		if why := pluginName(s); why != "" {
			return clipQuote(s) + " " + why
		}
		return ""
	})
}
