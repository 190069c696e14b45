package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/plugins/internal/builderresult"
	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/sdk"
)

func configure(_ context.Context, c *sdk.Config) error { return c.Decode(&struct{}{}) }

func health(ctx context.Context, _ bool) (*sdk.Health, error) {
	path, err := clitool.Find("git", "install git 2.39 or newer")
	if err != nil {
		return nil, err
	}
	v, err := clitool.ReadVersion(ctx, path, gitEnv(""))
	if err != nil {
		return nil, err
	}
	return &sdk.Health{Detail: fmt.Sprintf("git %v", v)}, nil
}

func build(ctx context.Context, r *sdk.BuildRequest, out sdk.Events) (*sdk.BuildResult, error) {
	patch := r.Patch
	if strings.TrimSpace(patch) == "" {
		return nil, refuse("the task has no patch", "")
	}
	if !strings.HasSuffix(patch, "\n") {
		patch += "\n" // lost on the way through JSON; git calls it a corrupt patch
	}
	g, err := newGit(ctx, r.Workspace)
	if err != nil {
		return nil, err
	}
	found, err := g.inspect(ctx, patch)
	if err != nil {
		return nil, err
	}
	out.Progress(sdk.Progress{Phase: "apply", Text: fmt.Sprintf("applying the patch to %s", count(len(found.files), "file"))})
	if err := g.apply(ctx, patch); err != nil {
		return nil, err
	}
	for _, f := range found.files {
		out.File(f)
	}
	return &sdk.BuildResult{
		StopReason: "applied",
		Usage:      sdk.Usage{Input: sdk.Known(0), Output: sdk.Known(0), CostMicroUSD: sdk.Known(0)}, // no model has a part in it
		JSON: builderresult.Result{
			Summary:       "Applied the patch to " + count(len(found.files), "file") + ".",
			FilesIntended: found.files,
			CommandsRan:   []string{"git apply --whitespace=nowarn"},
			Notes:         found.moved,
		}.JSON(),
	}, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// refuse is a patch that is wrong in itself or does not fit the tree. Nothing was
// changed.
func refuse(summary, detail string) *sdk.Failure {
	return sdk.Fail(sdk.BadRequest, summary, sdk.Detail(detail), sdk.EffectNone)
}

// git calls git on a workspace so that nothing configured runs.
type git struct {
	path string
	dir  string
	env  []string
}

func newGit(ctx context.Context, workspace string) (*git, error) {
	path, err := clitool.Find("git", "install git 2.39 or newer")
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(workspace); err != nil || !info.IsDir() || !filepath.IsAbs(workspace) {
		return nil, refuse(fmt.Sprintf("the workspace %q is not an absolute folder", workspace), "")
	}
	g := &git{path: path, dir: workspace, env: gitEnv(workspace)}
	drivers, err := g.filters(ctx)
	if err != nil {
		return nil, err
	}
	g.env = append(g.env, disarm(drivers)...)
	return g, nil
}

// filters names every clean and smudge driver of the configuration, as "filter.lfs".
func (g *git) filters(ctx context.Context) ([]string, error) {
	res, keys, err := g.run(ctx, "", "config", "--null", "--name-only", "--get-regexp", `^filter\.`)
	if err != nil {
		return nil, err
	}
	if res.ExitCode > 1 { // 1: there is none
		return nil, refuse("git can't read its configuration", res.Stderr)
	}
	seen := map[string]bool{}
	var drivers []string
	for _, key := range strings.Split(keys, "\x00") {
		if end := strings.LastIndexByte(key, '.'); end >= 0 && !seen[key[:end]] {
			seen[key[:end]] = true
			drivers = append(drivers, key[:end])
		}
	}
	return drivers, nil
}

// disarm is the configuration, as environment, under which git runs no hook, no
// monitor and no filter. A patch that writes .gitattributes could start a filter;
// without them it applies to the bytes that are in the working tree.
func disarm(drivers []string) []string {
	config := [][2]string{{"core.hooksPath", "/dev/null"}, {"core.fsmonitor", "false"}}
	for _, d := range drivers {
		config = append(config, [2]string{d + ".clean"}, [2]string{d + ".smudge"}, [2]string{d + ".process"},
			[2]string{d + ".required", "false"})
	}
	env := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(config))}
	for i, c := range config {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, c[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, c[1]))
	}
	return env
}

// run calls git and returns its standard output. An exit code is not an error.
func (g *git) run(ctx context.Context, stdin string, args ...string) (sdk.CLIResult, string, error) {
	var out strings.Builder
	res, err := sdk.RunCLI(ctx, sdk.CLI{
		Path: g.path, Args: args, Dir: g.dir, Env: g.env, Stdin: stdin,
		OnLine: func(l []byte) { out.Write(l); out.WriteByte('\n') },
	})
	return res, strings.TrimSuffix(out.String(), "\n"), err
}

// gitEnv is the environment for git: no GIT_* variable but these. git does not
// look for a repository above the workspace, so that names are relative to it.
func gitEnv(workspace string) []string {
	var env []string
	for _, e := range sdk.ChildEnv() {
		if !strings.HasPrefix(e, "GIT_") && !strings.HasPrefix(e, "LC_ALL=") {
			env = append(env, e)
		}
	}
	return append(env, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(workspace))
}
