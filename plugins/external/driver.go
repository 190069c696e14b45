package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/sdk"
)

type config struct {
	Command        string   `json:"command"`
	Args           []string `json:"args"`
	TimeoutSeconds int      `json:"timeout_seconds"`
	OutputFile     string   `json:"output_file"`
}

// driver runs the user's program.
type driver struct {
	config
	workDir string
	runID   string
}

// grace is what a driver has between SIGTERM and SIGKILL when its time is over.
const grace = 3 * time.Second

const commandFix = `set "command" (and "args") of the builder external to your driver`

func (d *driver) configure(_ context.Context, c *sdk.Config) error {
	if err := c.Decode(&d.config); err != nil {
		return err
	}
	d.workDir, d.runID = c.WorkDir, c.RunID
	if d.OutputFile != "" && !filepath.IsLocal(d.OutputFile) {
		return sdk.Fail(sdk.BadConfig, fmt.Sprintf("output_file %q does not stay in the workspace", d.OutputFile),
			sdk.Fix("give a path relative to the workspace, or leave output_file out"))
	}
	for _, a := range d.Args {
		for _, m := range placeholder.FindAllStringSubmatch(a, -1) {
			if _, ok := (&run{}).values()[m[1]]; !ok {
				return sdk.Fail(sdk.BadConfig, fmt.Sprintf("the argument %q has the unknown placeholder %s", a, m[0]),
					sdk.Fix("use one of {{task}} {{output}} {{workspace}} {{schema}} {{prompt}} {{system}} {{model}} {{run_id}}"))
			}
		}
	}
	return nil
}

func (d *driver) health(context.Context, bool) (*sdk.Health, error) {
	path, err := d.program("")
	if err != nil {
		return nil, err
	}
	return &sdk.Health{Detail: "driver " + path}, nil
}

// program finds the driver. A path with a slash that is not absolute is looked up
// in the workspace; without a workspace it is believed.
func (d *driver) program(workspace string) (string, error) {
	switch {
	case d.Command == "":
		return "", sdk.Fail(sdk.BadConfig, "no driver is configured", sdk.Fix(commandFix))
	case !strings.ContainsRune(d.Command, '/'), filepath.IsAbs(d.Command):
		return clitool.Find(d.Command, commandFix)
	case workspace == "":
		return d.Command, nil
	}
	return clitool.Find(filepath.Join(workspace, d.Command), commandFix)
}

func (d *driver) build(ctx context.Context, r *sdk.BuildRequest, out sdk.Events) (*sdk.BuildResult, error) {
	path, err := d.program(r.Workspace)
	if err != nil {
		return nil, err
	}
	dir, remove, err := clitool.CallDir(d.workDir)
	if err != nil {
		return nil, err
	}
	defer remove()
	files := &run{dir: dir, request: r, runID: d.runID}
	if err := files.write(); err != nil {
		return nil, sdk.Fail(sdk.Internal, "the driver's files can't be written", sdk.Cause(err), sdk.EffectNone)
	}
	result, err := files.expect(d.OutputFile)
	if err != nil {
		return nil, err
	}
	defer result.close()

	out.Command(sdk.Command{Argv: []string{path}})
	res, err := sdk.RunCLI(ctx, sdk.CLI{
		Path: path, Args: files.expand(d.Args), Dir: r.Workspace, Env: sdk.ChildEnv(files.environment()...),
		Grace:   grace,
		Timeout: shorter(time.Duration(d.TimeoutSeconds)*time.Second, r.Timeout),
		OnLine: func(l []byte) {
			if text := strings.TrimSpace(string(l)); text != "" {
				out.Progress(sdk.Progress{Phase: "driver", Text: clitool.Clip(text, 500)})
			}
		},
	})
	if f := sdk.AsFailure(err); f != nil {
		if f.Reason != sdk.ToolMissing {
			f.Effect = sdk.EffectUnknown // it may have changed the tree before it was ended
		}
		if res.Signal == syscall.SIGKILL && f.Reason == sdk.Timeout {
			f.UpstreamCode = "SIGKILL"
			f.Detail = strings.TrimSpace(fmt.Sprintf("it did not end on SIGTERM within %v and was killed\n%s", grace, f.Detail))
		}
		return nil, f
	}
	out.Command(sdk.Command{Argv: []string{path}, ExitCode: &res.ExitCode})
	if res.Strays > 0 {
		out.Notice(fmt.Sprintf("the driver left %d processes behind; they were ended", res.Strays))
	}
	if res.ExitCode != 0 {
		if f := result.failure(time.Now()); f != nil {
			return nil, f
		}
		return nil, sdk.Fail(sdk.Internal, "the driver failed with "+ending(res), sdk.Detail(clitool.Clip(strings.TrimSpace(res.Stderr), 4000)),
			sdk.EffectUnknown)
	}
	return finish(result, out), nil
}

// finish reads the result. A missing or unusable one is for the host to judge: the
// work is done all the same.
func finish(result *output, out sdk.Events) *sdk.BuildResult {
	b, err := result.read()
	if err != nil {
		out.Notice("the driver's result can't be used: " + err.Error())
		return &sdk.BuildResult{StopReason: "no_result"}
	}
	return &sdk.BuildResult{JSON: json.RawMessage(b), StopReason: "exit"}
}

func ending(res sdk.CLIResult) string {
	if res.Signal != 0 {
		return "a signal (" + res.Signal.String() + ")"
	}
	return fmt.Sprintf("exit code %d", res.ExitCode)
}

// shorter is the smaller of two limits, of which 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// run is the files of one call, below a private folder.
type run struct {
	dir     string
	request *sdk.BuildRequest
	runID   string
	out     string // path of the result
}

func (r *run) path(name string) string { return filepath.Join(r.dir, name) }

// write puts everything in files that a driver may want to read.
func (r *run) write() error {
	for name, data := range map[string][]byte{
		"TASK.json":          r.request.Task,
		"result.schema.json": r.request.ResultSchema,
		"prompt.txt":         []byte(r.request.Prompt),
		"system.txt":         []byte(r.request.System),
	} {
		if err := os.WriteFile(r.path(name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// values are the placeholders of arguments.
func (r *run) values() map[string]string {
	v := map[string]string{
		"task": r.path("TASK.json"), "schema": r.path("result.schema.json"), "prompt": r.path("prompt.txt"),
		"system": r.path("system.txt"), "output": r.out, "run_id": r.runID, "workspace": "", "model": "",
	}
	if r.request != nil {
		v["workspace"], v["model"] = r.request.Workspace, r.request.Model
	}
	return v
}

var placeholder = regexp.MustCompile(`\{\{\s*([a-z_]+)\s*\}\}`)

// expand replaces placeholders once: what is put in is never looked at again.
func (r *run) expand(args []string) []string {
	values := r.values()
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = placeholder.ReplaceAllStringFunc(a, func(m string) string {
			return values[placeholder.FindStringSubmatch(m)[1]]
		})
	}
	return out
}

// environment is what the driver finds in addition to the plugin's own.
func (r *run) environment() []string {
	v := r.values()
	return []string{
		"RELAY_TASK_PATH=" + v["task"],
		"RELAY_OUTPUT_PATH=" + v["output"],
		"RELAY_SCHEMA_PATH=" + v["schema"],
		"RELAY_PROMPT_PATH=" + v["prompt"],
		"RELAY_SYSTEM_PATH=" + v["system"],
		"RELAY_WORKSPACE=" + v["workspace"],
		"RELAY_MODEL=" + v["model"],
		"RELAY_RUN_ID=" + v["run_id"],
	}
}
