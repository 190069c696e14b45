package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/configtemplate"
	"github.com/paxiom/relay/host/internal/detect"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// InitOptions say what init writes.
type InitOptions struct {
	Format string       // "json" (also for "") or "yaml"
	Force  bool         // replace a configuration of the same name
	DryRun bool         // write nothing; the result has the text
	Tell   func(string) // is told what init does that takes time; may be nil
}

// InitResult is what init found and did.
type InitResult struct {
	host.Doc
	Root      string               `json:"root"`
	File      string               `json:"file"`                     // relative to the root
	Config    string               `json:"config"`                   // text of the configuration
	Workspace string               `json:"workspace,omitempty"`      // relative to the root
	Adopted   bool                 `json:"adopted,omitempty"`        // File was there, and relay reads it
	Commit    string               `json:"commit,omitempty"`         // that has File; "" when relay made none
	Trusted   string               `json:"trusted,omitempty"`        // digest of what was trusted, "" when nothing needed it
	Languages []string             `json:"languages"`                // that were found
	Branch    string               `json:"default_branch,omitempty"` // empty where none was found
	Checks    []host.DetectedCheck `json:"checks"`
	Required  []string             `json:"required"` // ids of those that every change has to pass
	Programs  []host.Program       `json:"programs"`
	Provider  string               `json:"provider"`
	Builder   string               `json:"builder"`  // its name
	Builders  []string             `json:"builders"` // that could be used instead
	Notices   []string             `json:"notices,omitempty"`
	DryRun    bool                 `json:"dry_run,omitempty"`
	Next      string               `json:"next"`

	alone   bool   // without an agent
	drafted string // what init itself wrote before it had tried the checks
}

// agents are the command lines that relay's own plugins drive, first choice first. The
// built-in models are Claude's; the others' are written into the configuration.
var agents = []struct {
	program, provider, builder string
	models                     *configtemplate.Models
}{
	{"claude", "claude", "claude-code", nil},
	{"codex", "codex", "codex-exec", &configtemplate.Models{}},
	{"gemini", "gemini", "gemini-cli", &configtemplate.Models{
		Orchestrator: "gemini-2.5-pro", OrchestratorFallback: "gemini-2.5-flash", Builder: "gemini-2.5-pro"}},
}

// modelsOf are those of the agent that provider belongs to.
func modelsOf(provider string) *configtemplate.Models {
	for _, a := range agents {
		if a.provider == provider {
			return a.models
		}
	}
	return nil
}

func agentPrograms() []string {
	var names []string
	for _, a := range agents {
		names = append(names, a.program)
	}
	return names
}

// Init looks at the repository and the machine, writes a first configuration,
// makes the workspace and trusts what it wrote. It never replaces a file unless
// it is told to.
func Init(ctx context.Context, r *host.Repo, o InitOptions) (*InitResult, error) {
	git, err := git.Open(ctx, r.Dir)
	if err != nil {
		return nil, diag.Git(err)
	}
	project, err := detect.Repository(ctx, git)
	if err != nil {
		return nil, diag.Git(err)
	}
	res := &InitResult{Doc: host.DocOf("relay.init", 1), Root: git.Root, DryRun: o.DryRun,
		Languages: project.Languages, Branch: project.Branch, Checks: project.Checks,
		Programs: detect.Programs(agentPrograms(), r.Getenv("PATH"))}
	own, err := config.OfUser(config.Options{Env: r.Options.Env})
	if err != nil {
		return nil, err
	}
	if err := chooseWorkers(r, res, own); err != nil {
		return nil, err
	}
	if seed, err := adopt(ctx, r, git, res, o); seed || err != nil {
		return res, err
	}
	res.Checks = withoutMissing(r, git.Root, res)
	project.Checks = res.Checks
	for _, u := range project.Unsure {
		res.Notices = append(res.Notices, "not sure: "+u)
	}
	models := modelsOf(res.Provider)
	if own.Models {
		models = nil
	}
	res.Required = configtemplate.Required(res.Checks)
	choice := configtemplate.Choice{Project: project, Provider: res.Provider, Builder: res.Builder, Models: models, Network: own.Network}
	text, err := render(res, o.Format, choice)
	if err != nil {
		return nil, err
	}
	res.Config = string(text)
	if o.DryRun {
		res.remarks(ctx, git, r.Begin())
		return res, nil
	}
	if err := free(git.Root, res.File, o.Force); err != nil {
		return nil, err
	}
	if err := writeTrusted(r, git.Root, res, text); err != nil {
		return nil, err
	}
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	if err := measured(ctx, r, git.Root, res, o.Format, choice, o.Tell); err != nil {
		return res, err
	}
	if err := commit(ctx, r, git, res); err != nil {
		return nil, err
	}
	res.remarks(ctx, git, r.Begin())
	return res, nil
}

// seedFile is what a repository of the first implementation has.
const seedFile = "relais.config.json"

// adopt leaves a seed's configuration where it is, since relay reads it, and makes what
// init makes besides.
func adopt(ctx context.Context, r *host.Repo, git *git.Repo, res *InitResult, o InitOptions) (bool, error) {
	if o.DryRun || o.Force {
		return false, nil
	}
	for _, name := range config.FileNames() {
		if _, err := os.Lstat(filepath.Join(git.Root, name)); err == nil && name != seedFile {
			return false, nil // which is read, and not the seed's
		}
	}
	if _, err := os.Lstat(filepath.Join(git.Root, seedFile)); err != nil {
		return false, nil
	}
	res.File, res.Adopted = seedFile, true
	loaded, err := r.LoadConfig(git.Root)
	if err != nil {
		return true, err
	}
	cfg := loaded.Config
	res.Provider, res.Builder, res.Checks = cfg.Orchestrator.Provider, cfg.Builder.DefaultMode, []host.DetectedCheck{}
	for _, t := range cfg.Verification.Templates {
		res.Checks = append(res.Checks, host.DetectedCheck{ID: t.ID, Cmd: t.Cmd, Args: t.Args, Dir: t.Dir, Env: t.Env, From: seedFile})
	}
	res.Required = cfg.Verification.Required
	if err := makeWorkspace(r, git.Root, cfg.WorkspaceDir, res); err != nil {
		return true, err
	}
	res.remarks(ctx, git, r.Begin())
	if r.TrustStore().Check(loaded, r.Getenv) != nil {
		res.Next = "`relay trust` shows what it starts and asks you, then `relay doctor`"
	}
	return true, nil
}

// chooseWorkers takes who the user's own configuration names, and otherwise the agent that
// is installed. Without one the configuration names the usual pair all the same, and a
// notice says what is missing.
func chooseWorkers(r *host.Repo, res *InitResult, own config.Own) error {
	cat, err := r.Catalog(r.Root())
	if err != nil {
		return err
	}
	plugins := cat.List()
	for _, p := range plugins {
		if p.State == "ok" && p.Is("builder") {
			res.Builders = append(res.Builders, p.Name)
		}
	}
	res.Provider, res.Builder = cmp.Or(own.Provider, agents[0].provider), cmp.Or(own.Builder, agents[0].builder)
	if own.Provider != "" && own.Builder != "" {
		return nil
	}
	usable := func(name string) bool {
		return slices.ContainsFunc(plugins, func(p host.Plugin) bool { return p.Name == name && p.State == "ok" })
	}
	for _, a := range agents {
		installed := slices.ContainsFunc(res.Programs, func(p host.Program) bool { return p.Name == a.program })
		if installed && usable(a.provider) && usable(a.builder) {
			res.Provider, res.Builder = cmp.Or(own.Provider, a.provider), cmp.Or(own.Builder, a.builder)
			return nil
		}
	}
	res.Notices = append(res.Notices, "no agent program (claude, codex or gemini) is on PATH, so `relay run` can't start yet: relay finds one as soon as it is installed")
	res.alone = true
	return nil
}

func render(res *InitResult, format string, c configtemplate.Choice) (text []byte, err error) {
	switch format {
	case "", "json":
		res.File = "relay.config.json"
		return configtemplate.JSON(c)
	case "yaml":
		res.File = "relay.config.yaml"
		return configtemplate.YAML(c)
	}
	return nil, diag.New("", fmt.Sprintf("init can't write the format %q", format), "it knows json and yaml", "`relay init --format yaml`")
}

// free refuses when a configuration is there already.
func free(root, name string, force bool) error {
	for _, other := range config.FileNames() {
		_, err := os.Lstat(filepath.Join(root, other))
		if errors.Is(err, fs.ErrNotExist) || other == name && force {
			continue
		}
		if err != nil {
			return diag.Wrap(err, judge.BlockedMissingConfig, "the repository's root can't be read", "`ls -la` there says why")
		}
		fix := "`relay doctor` checks it; `relay init --force` writes a new one in its place"
		if other != name {
			fix = "`relay doctor` checks it; remove it first if you want a new one"
		}
		return diag.New("", "this repository has a configuration: "+other, "init does not replace what you wrote", fix)
	}
	return nil
}

func (res *InitResult) remarks(ctx context.Context, git *git.Repo, begin string) {
	if len(res.Checks) == 0 {
		res.Notices = append(res.Notices, "no test or lint command was found: add one under verification.templates in "+res.File+", or changes land unchecked (`relay help config verification.templates` says how)")
	}
	res.Next = "`relay doctor`, then " + begin
	if res.alone {
		res.Next = "`relay doctor` has the command that installs an agent; `relay demo` shows a run without one"
	}
	if left := leftovers(ctx, git); len(left) > 0 {
		res.Notices = append(res.Notices, "git neither has nor ignores "+strings.Join(left, " and ")+", which building leaves behind: commit what belongs to the project and name the rest in .gitignore, or a run whose builder builds is stopped for it")
	}
	_, branch, err := git.Head(ctx)
	if err != nil {
		res.Next = diag.Git(err).Fix + ": relay needs a commit to start from"
		return
	}
	if branch == "" {
		res.Notices = append(res.Notices, "HEAD is detached: commits of relay will be on no branch")
	}
	if !res.DryRun && res.uncommitted(ctx, git) {
		res.Notices = append(res.Notices, "no other checkout has "+res.File+" yet, one in CI neither: `git add -f "+res.File+"`, then `git commit`")
	}
}

// makeWorkspace makes relay's own folder.
func makeWorkspace(r *host.Repo, root, dir string, res *InitResult) error {
	ws, err := workspace.Open(root, dir)
	if err != nil {
		return err
	}
	res.Workspace = ws.Rel()
	return errors.Join(ws.Ensure(), ws.Publish())
}

// writeTrusted writes the configuration, which is agreed to as it is.
func writeTrusted(r *host.Repo, root string, res *InitResult, text []byte) error {
	path := filepath.Join(root, res.File)
	before, unread := workspace.ReadFile(path, 1<<20) // what --force replaces
	if err := workspace.WriteFile(path, text); err != nil {
		return diag.Wrap(err, judge.BlockedMissingConfig, res.File+" can't be written", "`ls -ld .` shows who may write here")
	}
	loaded, err := config.Load(config.Options{Root: root, Env: r.Options.Env, Set: r.Options.Set})
	if err != nil { // a --set, a variable or the user's own file is at fault, and init is typed again
		switch {
		case unread == nil:
			err = errors.Join(err, workspace.WriteFile(path, before))
		case errors.Is(unread, fs.ErrNotExist):
			err = errors.Join(err, os.Remove(path))
		}
		return err
	}
	if err := makeWorkspace(r, root, loaded.Config.WorkspaceDir, res); err != nil {
		return err
	}
	if unread == nil && string(before) != res.drafted {
		kept := filepath.Join(loaded.Config.WorkspaceDir, res.File+".before")
		if err := workspace.WriteFile(filepath.Join(root, kept), before); err != nil {
			return err
		}
		res.Notices = append(res.Notices, "the configuration that was there is kept as "+kept)
	}
	res.drafted = string(text)
	digest, items := trust.Needed(loaded)
	if digest == "" || len(trust.NeededByFiles(loaded)) > 0 {
		return nil // what init wrote is agreed to; prompts that were there before are not
	}
	res.Trusted = digest
	return r.TrustStore().Add(root, digest, items)
}

// commit commits the configuration, so that every checkout of the repository has it, and
// leaves it to the operator where relay makes no commits.
func commit(ctx context.Context, r *host.Repo, git *git.Repo, res *InitResult) error {
	o, err := r.Open()
	if err != nil {
		return err
	}
	_, branch, err := git.Head(ctx)
	if err != nil || branch == "" || !o.Loaded.Config.Commit.OnSuccess {
		return nil // remarks say so
	}
	env, err := r.ChangeEnv(ctx, o)
	if err != nil {
		return err
	}
	res.Commit, err = change.Record(ctx, env, history.NewRunID(time.Now()), branch, config.FileNames(), change.Message{Subject: "chore: configure relay",
		Body: []string{"What may change, what has to pass, and who plans and builds: see " + res.File + "."}}, nil)
	if err != nil {
		fix := "`git add -f " + res.File + "`, then `git commit`"
		if f := (*diag.Error)(nil); errors.As(err, &f) && f.Fix != "" {
			fix = f.Fix + "; then " + fix
		}
		return diag.Wrap(err, judge.BlockedRepository, res.File+" was written and could not be committed", fix)
	}
	return nil
}

// uncommitted reports whether git has another configuration than the work tree.
func (res *InitResult) uncommitted(ctx context.Context, git *git.Repo) bool {
	out, err := git.Run(ctx, nil, "status", "--porcelain", "--ignored", "--", res.File)
	return err == nil && len(out) > 0
}
