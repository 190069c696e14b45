package codexcli

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/sdk"
)

// BoxVariable says in a plugin's environment by which means relay's box around it is
// made; it is not there without a box.
const BoxVariable = "RELAY_BOX"

// Fence decides on Codex's own sandbox: the one that is wanted where it works, none only
// where relay's strong box is around it.
func (c Call) Fence(ctx context.Context, want Sandbox, out sdk.Events) (Sandbox, error) {
	works, why, err := c.SandboxWorks(ctx)
	switch {
	case err != nil:
		return "", err
	case works:
		return want, nil
	case os.Getenv(BoxVariable) == "overlay":
		out.Notice("codex can't make its own sandbox inside relay's box (" + why + "); it runs without one, and the box is the fence")
		return NoSandbox, nil
	}
	return "", sdk.Fail(sdk.BadConfig, "codex can't make its own sandbox here, and there is no strong box around it", sdk.Detail(why), sdk.EffectNone,
		sdk.Fix(`run relay with "box": {"means": "overlay"} (`+"`relay doctor`"+` says what works), or set "sandbox": "off" for codex-exec where something else is the fence`))
}

// sandboxTest bounds the try of a sandbox; it takes a fifth of a second.
const sandboxTest = 20 * time.Second

// SandboxWorks reports whether Codex can make its sandbox here, by letting it run one
// command in it. Why says what it printed when it can't.
func (c Call) SandboxWorks(ctx context.Context) (works bool, why string, err error) {
	path, err := c.Program()
	if err != nil {
		return false, "", err
	}
	private, remove, err := callDir(c.StateDir, c.WorkDir)
	if err != nil {
		return false, "", err
	}
	defer remove()
	home := filepath.Join(private, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return false, "", sdk.Fail(sdk.Internal, "the plugin can't write its files for codex", sdk.Cause(err), sdk.EffectNone)
	}
	res, err := sdk.RunCLI(ctx, sdk.CLI{
		Path: path, Args: []string{"sandbox", "--", "/bin/sh", "-c", "exit 0"}, Dir: private,
		Env: sdk.ChildEnv("CODEX_HOME=" + home), Timeout: sandboxTest, MaxOutput: 64 << 10,
	})
	if f := sdk.AsFailure(err); f != nil && f.Reason != sdk.Timeout {
		return false, "", f
	}
	return err == nil && res.ExitCode == 0, clitool.Clip(clitool.FirstLine(res.Stderr), 200), nil
}
