// Command relay-plugin-gofmt formats the Go files of a workspace: a builder without a model.
package main

import (
	"context"
	"os"

	"github.com/paxiom/relay/sdk"
)

var info = sdk.Info{Name: "gofmt", Version: "0.1.0", Summary: "formats Go files", Programs: []string{"gofmt"}}

func main() { sdk.Serve(info, builder()) }

func builder() sdk.Part {
	return sdk.Builder{Build: func(ctx context.Context, r *sdk.BuildRequest, out sdk.Events) (*sdk.BuildResult, error) {
		run, err := sdk.RunCLI(ctx, sdk.CLI{Path: "gofmt", Args: []string{"-l", "-w", "."}, Dir: r.Workspace,
			Env:    sdk.ChildEnv("XDG_CONFIG_HOME=" + os.TempDir()), // Go's tools keep their counters there
			OnLine: func(file []byte) { out.File(string(file)) }})
		if err != nil {
			return nil, err
		}
		if run.ExitCode != 0 {
			return nil, sdk.Fail(sdk.BadRequest, "a Go file can't be parsed", sdk.Detail(run.Stderr), sdk.EffectUnknown)
		}
		return &sdk.BuildResult{JSON: []byte(`{"summary": "formatted", "files_intended": [], "commands_ran": ["gofmt -l -w ."], "notes": []}`)}, nil
	}}
}
