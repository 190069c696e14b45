package plugins

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/scaffold"
	"github.com/paxiom/relay/judge"
)

// NewOptions say which repository to write for a new plugin.
type NewOptions struct {
	Name, Kind, Lang string
	Dir              string // not there yet, or empty
	Module           string // "" for one that is to be changed before it is published
	Version          string // of this relay, whose SDK the plugin is built with
	Checkout         string // a folder with relay's sources instead
	Program          string // relay itself: the SDK that came with it serves where none can be fetched
}

// NewResult is the repository of a new plugin.
type NewResult struct {
	host.Doc
	Name  string   `json:"name"`
	Dir   string   `json:"dir"`  // the folder that was written
	Next  string   `json:"next"` // tries it
	Files []string `json:"files"`
}

// New writes the repository of a new plugin. In Go its modules are fetched as well,
// so that it builds.
func New(ctx context.Context, o NewOptions) (*NewResult, error) {
	plan, err := newPlan(o)
	if err != nil {
		return nil, err
	}
	if _, err := exec.LookPath("go"); err != nil && plan.Lang == scaffold.Go {
		return nil, diag.New(judge.BlockedPlugin, "a plugin in Go needs Go, which is not on PATH", err.Error(),
			"`relay plugin new "+o.Name+" --kind "+o.Kind+" --lang python` needs no Go; https://go.dev/dl/ has Go")
	}
	dir := o.Dir
	if there, err := os.ReadDir(dir); err == nil && len(there) > 0 {
		return nil, diag.New(judge.BlockedPlugin, "the folder "+dir+" is not empty", "it has "+there[0].Name(),
			"`relay plugin new "+o.Name+" --kind "+o.Kind+" FOLDER`, with a folder that is not there yet")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "the folder "+dir+" can't be used", "`ls -ld "+diag.Word(dir)+"`")
	}
	files, err := scaffold.Write(dir, plan)
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "the plugin's files can't be written", "`ls -ld "+diag.Word(filepath.Dir(dir))+"`")
	}
	res := &NewResult{Doc: host.DocOf("relay.plugin.new", 1), Name: plan.Name, Dir: dir, Files: files, Next: "`relay plugin test " + diag.Word(dir) + "`"}
	if scaffold.Driver(plan.Lang) {
		res.Next = "`make -C " + diag.Word(dir) + " test`"
	}
	if plan.Lang != scaffold.Go {
		return res, nil
	}
	err = inFolder(ctx, dir, nil, "go", "mod", "tidy")
	if f, ok := diag.As(err); ok && plan.Checkout == "" { // relay's SDK can't be fetched, and a second try needs the folder
		for _, name := range files {
			_ = os.Remove(filepath.Join(dir, name))
		}
		_ = os.Remove(dir)
		if o.Checkout = sourcesBeside(o.Program); o.Checkout != "" {
			return New(ctx, o)
		}
		return nil, diag.New(judge.BlockedPlugin, "relay's SDK can't be fetched", f.Why,
			"`"+again(plan)+"`, with a clone of relay's source")
	}
	return res, err
}

// sourcesBeside is the folder with the SDK that came with a relay: where it was built, or where it was installed.
func sourcesBeside(program string) string {
	if real, err := filepath.EvalSymlinks(program); err == nil { // as plugins are found
		program = real
	}
	for _, at := range []string{"..", "../share/relay"} {
		dir := filepath.Join(filepath.Dir(program), at)
		if _, err := os.Stat(filepath.Join(dir, "sdk", "serve.go")); program != "" && err == nil {
			return dir
		}
	}
	return ""
}

// again is the command with the place of the SDK left to fill in.
func again(p scaffold.Plan) string {
	return "relay plugin new " + p.Name + " --kind " + p.Kind + " --sdk FOLDER"
}

func newPlan(o NewOptions) (scaffold.Plan, error) {
	plan := scaffold.Plan{Name: o.Name, Kind: o.Kind, Lang: o.Lang, Module: o.Module}
	bad := func(what, why, fix string) (scaffold.Plan, error) {
		return plan, diag.New(judge.BlockedPlugin, what, why, "`relay plugin new "+fix+"`")
	}
	switch {
	case !catalog.ValidName(o.Name):
		return bad("a plugin can't be called "+o.Name, "a name is a lower-case letter, then at most 31 lower-case letters, digits and dashes", "my-plugin --kind provider")
	case o.Kind != scaffold.Provider && o.Kind != scaffold.Builder:
		return bad("a plugin can't be of kind "+o.Kind, "a provider asks a model, a builder changes a workspace", o.Name+" --kind provider")
	case !slices.Contains(scaffold.Languages, o.Lang):
		return bad("relay has no template for "+o.Lang, "it has "+strings.Join(scaffold.Languages, ", ")+"; docs/plugin-authors/other-languages.md has what any other language needs", o.Name+" --kind "+o.Kind)
	case o.Kind == scaffold.Provider && scaffold.Driver(o.Lang):
		return bad("relay has no template for a provider in "+o.Lang, "in "+o.Lang+" it writes a builder, which relay's own builder external starts; a provider has to serve gRPC over TLS itself",
			o.Name+" --kind provider --lang python`, or `relay plugin new "+o.Name+" --kind builder --lang "+o.Lang)
	}
	if plan.Module == "" {
		plan.Module = "example.com/" + plan.Program()
	}
	if v := "v" + strings.TrimPrefix(o.Version, "v"); semver.IsValid(v) && semver.Build(v) == "" {
		plan.SDK = v
	}
	if o.Checkout != "" {
		abs, err := filepath.Abs(o.Checkout)
		if err != nil {
			return plan, diag.Internal(err)
		}
		if filepath.Base(abs) == "sdk" { // the SDK's own folder in a clone
			if _, err := os.Stat(filepath.Join(abs, "serve.go")); err == nil {
				abs = filepath.Dir(abs)
			}
		}
		if _, err := os.Stat(filepath.Join(abs, "sdk", "doc.go")); err != nil {
			return plan, diag.Wrap(err, judge.BlockedPlugin, "relay's source isn't in "+o.Checkout, "`"+again(plan)+"`, with a clone of relay's source")
		}
		plan.Checkout = abs
	}
	return plan, nil
}
