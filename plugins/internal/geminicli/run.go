package geminicli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
)

// Access is what the model may do besides answering.
type Access int

// The kinds of access.
const (
	None  Access = iota
	Read         // look at files
	Write        // change files and run commands, without asking
)

// Call is one run of Gemini CLI.
type Call struct {
	Setup
	WorkDir string // private files of the call go below it
	Dir     string // where the program works; empty: a private, empty folder

	Prompt   string
	System   string
	Schema   *outschema.Schema // the program has no setting for it: the prompt asks for it
	Model    string            // empty: the program chooses, which costs a request
	MaxTurns int               // 0: none
	Access   Access

	Idle    time.Duration // without any output; 0: defaultIdle
	Timeout time.Duration // 0: none
}

const (
	// defaultIdle: the program prints nothing while the model thinks or a command runs.
	defaultIdle = 15 * time.Minute
	// maxOutput bounds what is read of a run that repeats itself for ever.
	maxOutput = 512 << 20
)

// takes is what the program reads of standard input, leaving out the rest, and how much
// it sends: it takes four characters for a token and a million tokens for what a model
// can read, and ends with success and without an answer where it thinks a prompt longer.
var takes = clitool.Input{Bytes: 8 << 20, Characters: 4 << 20}

// Run runs the call to its end and returns what it printed and how it ended. The
// error is not nil when the run can't be judged: not started, canceled, timed out.
// What happens on the way goes to out.
func (c Call) Run(ctx context.Context, out sdk.Events) (*Stream, End, error) {
	s := &Stream{account: c.Account()}
	if err := c.refuse(out); err != nil {
		return s, End{}, err
	}
	path, err := c.Program()
	if err != nil {
		return s, End{}, err
	}
	private, remove, err := clitool.CallDir(c.WorkDir)
	if err != nil {
		return s, End{}, err
	}
	defer remove()
	v, err := readVersion(ctx, path, private)
	if err != nil {
		return s, End{}, err
	}
	out.Started(sdk.Started{Model: c.Model, ToolVersion: v.String()})
	if w := Versions.Warning("gemini", v); w != "" {
		out.Notice(w)
	}
	cli, err := c.prepare(path, private)
	if err != nil {
		return s, End{}, sdk.Fail(sdk.Internal, "the plugin can't write its files for gemini", sdk.Cause(err), sdk.EffectNone)
	}
	if err := takes.Fits("gemini", cli.Stdin); err != nil {
		return s, End{}, err
	}
	cli.OnLine = func(l []byte) {
		for _, e := range s.Feed(l) {
			e.Report(out, "gemini", cli.Dir, c.Access == Write)
		}
	}
	res, err := sdk.RunCLI(ctx, cli)
	end := clitool.Ended(res)
	end.Finish = finishReason(telemetryFile(private))
	if f := sdk.AsFailure(err); f != nil {
		f.Effect, f.Usage = s.effect(f.Reason), s.usage
		return s, end, f
	}
	if res.Cut > 0 {
		out.Notice(fmt.Sprintf("gemini printed %d bytes more than are read of one run", res.Cut))
	}
	return s, end, nil
}

// refuse stops what the program can't be kept from reading: variables that a
// repository sets for it may send the key to another server.
func (c Call) refuse(out sdk.Events) error {
	if c.Dir == "" {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(c.Dir, ".gemini", ".env")); err == nil {
		return sdk.Fail(sdk.BadConfig, "the repository has variables for gemini in .gemini/.env, which it can't be told to leave out", sdk.EffectNone,
			sdk.Fix("`git rm --cached .gemini/.env`, and move the file out of the repository"))
	}
	if _, err := os.Lstat(filepath.Join(c.Dir, "GEMINI.md")); err == nil {
		out.Notice("gemini reads GEMINI.md of the repository; it can't be told to leave it out")
	}
	return nil
}

// prepare writes the private files of a call and puts its command line together.
func (c Call) prepare(path, private string) (sdk.CLI, error) {
	dir := cmp.Or(c.Dir, filepath.Join(private, "empty"))
	home, own := c.home(private)
	for _, d := range []string{filepath.Join(private, "tmp"), dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return sdk.CLI{}, err
		}
	}
	if own {
		if err := c.furnish(home, private); err != nil {
			return sdk.CLI{}, err
		}
	}
	env, prompt := c.env(private, home), c.Prompt
	switch {
	case c.System == "":
	case c.Access == Write: // beside the program's own, which knows its tools
		prompt = c.System + "\n\n" + prompt
	default:
		file := filepath.Join(private, "system.md")
		if err := os.WriteFile(file, []byte(c.System), 0o600); err != nil {
			return sdk.CLI{}, err
		}
		env = append(env, "GEMINI_SYSTEM_MD="+file)
	}
	return sdk.CLI{
		Path: path, Args: c.args(), Env: sdk.ChildEnv(env...), Dir: dir, Stdin: prompt + c.Schema.Wish(),
		Idle: cmp.Or(c.Idle, defaultIdle), Timeout: c.Timeout, MaxOutput: maxOutput,
	}, nil
}

// args are the flags of a call. Trust by a flag lets the program work in the folder
// but comes too late for the repository's own settings, servers and hooks: they are
// not loaded.
func (c Call) args() []string {
	mode := "default"
	if c.Access == Write {
		mode = "yolo"
	}
	args := []string{
		"--output-format", "stream-json", "--approval-mode", mode, "--skip-trust",
		"--extensions", "none", "--allowed-mcp-server-names", "none",
	}
	if c.Model != "" {
		args = append(args, "--model", c.Model)
	}
	return args
}

// env is what is set in the program's environment beside the plugin's own: one way to
// log in and no other, and a home of its own.
func (c Call) env(private, home string) []string {
	a := c.Account()
	env := []string{
		"NO_COLOR=1", "TMPDIR=" + filepath.Join(private, "tmp"), "GEMINI_CLI_HOME=" + home, "GEMINI_CLI_NO_RELAUNCH=true",
		"GEMINI_API_KEY=", "GOOGLE_API_KEY=", "GOOGLE_GENAI_USE_VERTEXAI=", "GEMINI_CLI_TRUST_WORKSPACE=",
	}
	server := c.Server(a.Vertex)
	switch {
	case a.Vertex:
		env = append(env, "GOOGLE_GENAI_USE_VERTEXAI=true", "GOOGLE_API_KEY="+a.Key(), "GOOGLE_CLOUD_PROJECT="+a.Project,
			"GOOGLE_CLOUD_LOCATION="+a.Location, "GOOGLE_APPLICATION_CREDENTIALS="+a.Credentials, "GOOGLE_VERTEX_BASE_URL="+server)
	case a.KeyName != "" || server != "": // the program insists on a key
		env = append(env, "GEMINI_API_KEY="+cmp.Or(a.Key(), "none"), "GOOGLE_GEMINI_BASE_URL="+server)
	}
	return dropEmpty(env)
}

// dropEmpty leaves out what a later entry sets.
func dropEmpty(env []string) []string {
	last := map[string]int{}
	for i, e := range env {
		last[name(e)] = i
	}
	var out []string
	for i, e := range env {
		if last[name(e)] == i {
			out = append(out, e)
		}
	}
	return out
}
