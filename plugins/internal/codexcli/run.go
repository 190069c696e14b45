package codexcli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/plugins/internal/outschema"
	"github.com/paxiom/relay/sdk"
)

// Sandbox is what Codex lets the model's commands do.
type Sandbox string

// The sandboxes. Codex makes them itself, with namespaces of the kernel.
const (
	ReadOnly       Sandbox = "read-only"
	WorkspaceWrite Sandbox = "workspace-write"
	NoSandbox      Sandbox = "danger-full-access" // for a program that has a fence around it
)

// Call is one run of Codex.
type Call struct {
	Setup
	StateDir string // private files of the call go below it, or below WorkDir when it is empty
	WorkDir  string
	Dir      string // where the program works; empty: a private, empty folder

	Prompt  string
	System  string
	Schema  *outschema.Schema
	Model   string
	Effort  string
	Sandbox Sandbox
	Tools   bool // the model may run commands; otherwise it can only answer
	Network bool // its commands may use the network inside WorkspaceWrite
	Looks   bool // its commands can't change files, whatever the sandbox

	Idle    time.Duration // without any output; 0: defaultIdle
	Timeout time.Duration // 0: none
}

const (
	// defaultIdle: Codex prints nothing while the model thinks and writes.
	defaultIdle = 15 * time.Minute
	// maxOutput bounds what is read of a run that repeats itself for ever.
	maxOutput = 512 << 20
)

// takes is what the program accepts on standard input; it refuses more.
var takes = clitool.Input{Characters: 1 << 20}

// Run runs the call to its end and returns what it printed and how it ended. The
// error is not nil when the run can't be judged: not started, canceled, timed
// out. What happens on the way goes to out.
func (c Call) Run(ctx context.Context, out sdk.Events) (*Stream, End, error) {
	s := &Stream{writes: c.Tools && !c.Looks && c.Sandbox != ReadOnly}
	if err := c.openAddress(); err != nil {
		return s, End{}, err
	}
	path, err := c.Program()
	if err != nil {
		return s, End{}, err
	}
	private, remove, err := callDir(c.StateDir, c.WorkDir)
	if err != nil {
		return s, End{}, err
	}
	defer remove()
	cli, err := c.prepare(path, private)
	if err != nil {
		return s, End{}, sdk.Fail(sdk.Internal, "the plugin can't write its files for codex", sdk.Cause(err), sdk.EffectNone)
	}
	if err := takes.Fits("codex", cli.Stdin); err != nil {
		return s, End{}, err
	}
	cli.OnLine = func(l []byte) {
		for _, e := range s.Feed(l) {
			e.Report(out, "codex", cli.Dir, c.Tools)
		}
	}
	res, err := sdk.RunCLI(ctx, cli)
	end := clitool.Ended(res)
	end.Stderr = withoutNoise(end.Stderr)
	if f := sdk.AsFailure(err); f != nil {
		f.Effect, f.Usage = s.effect(f.Reason), s.usage
		return s, end, f
	}
	if res.Cut > 0 {
		out.Notice(fmt.Sprintf("codex printed %d bytes more than are read of one run", res.Cut))
	}
	return s, end, nil
}

// prepare writes the private files of a call and puts its command line together.
func (c Call) prepare(path, private string) (sdk.CLI, error) {
	dir := cmp.Or(c.Dir, filepath.Join(private, "empty"))
	home := c.home(private)
	for _, d := range []string{filepath.Join(private, "tmp"), dir, home} {
		if d == "" {
			continue
		}
		if err := os.MkdirAll(d, 0o700); err != nil {
			return sdk.CLI{}, err
		}
	}
	args := c.args(dir)
	if c.Schema != nil {
		file := filepath.Join(private, "schema.json")
		if err := writeSchema(file, c.Schema); err != nil {
			return sdk.CLI{}, err
		}
		args = append(args, "--output-schema", file)
	}
	prompt := c.Prompt
	if c.System != "" { // a flag would show it to everybody, and is bounded
		prompt = c.System + "\n\n" + prompt
	}
	return sdk.CLI{
		Path: path, Args: append(args, "-"), Env: c.env(path, private, home), Dir: dir, Stdin: prompt,
		Idle: c.idle(), Timeout: c.Timeout, MaxOutput: maxOutput,
	}, nil
}

// writeSchema writes the form of a schema that Codex sends on as a strict one, or
// the schema itself when it has no such form.
func writeSchema(file string, s *outschema.Schema) error {
	tree, ok := s.Strict()
	if !ok {
		tree = s.Tree()
	}
	b, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o600)
}

func (c Call) idle() time.Duration { return cmp.Or(c.Idle, defaultIdle) }

// args are the flags of a call. Of the user's and the repository's configuration,
// rules, memory, skills and plugins nothing is loaded, and no other host is asked.
func (c Call) args(dir string) []string {
	args := []string{
		"exec", "--json", "-C", dir, "-s", string(c.Sandbox), "--skip-git-repo-check", "--ephemeral",
		"--ignore-user-config", "--ignore-rules", "--color", "never",
		"--disable", "plugins", "--disable", "unbounded_connection_retries", "--disable", "goals", "--disable", "image_generation",
		"-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false",
		"-c", "project_doc_max_bytes=0", "-c", "skills.include_instructions=false",
		"-c", "shell_environment_policy.inherit=core", "-c", `web_search="disabled"`,
	}
	if !c.Tools {
		args = append(args, "--disable", "shell_tool")
	} else if git := gitSettings(); len(git) > 0 {
		args = append(args, "-c", "shell_environment_policy.set="+table(git))
	}
	if c.Network && c.Sandbox == WorkspaceWrite {
		args = append(args, "-c", "sandbox_workspace_write.network_access=true")
	}
	if c.Model != "" {
		args = append(args, "-m", c.Model)
	}
	if c.Effort != "" {
		args = append(args, "-c", "model_reasoning_effort="+quote(c.Effort))
	}
	return append(args, c.provider()...)
}

// gitSettings are relay's settings for git in a box, which is no core of an environment.
func gitSettings() map[string]string {
	set := map[string]string{}
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_CONFIG_") {
			set[name] = quote(value)
		}
	}
	return set
}

// provider says which server to ask. With a key or a server of its own it is an
// entry that tries again only twice, so that waiting is the host's decision; a
// ChatGPT login works with the program's own entry only, which has no such setting.
func (c Call) provider() []string {
	key, server := keyName(), c.server()
	if key == "" && server == "" {
		return nil
	}
	entry := map[string]string{
		"name": quote("relay"), "base_url": quote(cmp.Or(server, openAI)), "wire_api": quote("responses"),
		"request_max_retries": "2", "stream_max_retries": "2",
		"stream_idle_timeout_ms": strconv.FormatInt((c.idle() * 2 / 5).Milliseconds(), 10),
	}
	if key != "" {
		entry["env_key"] = quote(key)
	}
	return []string{"-c", "model_provider=" + quote("relay"), "-c", "model_providers.relay=" + table(entry)}
}

// env is the program's environment. Times in its messages are in its time zone and
// do not say which, so that one is set.
func (c Call) env(path, private, home string) []string {
	env := []string{"TZ=UTC", "NO_COLOR=1", "TMPDIR=" + filepath.Join(private, "tmp")}
	if home != "" {
		env = append(env, "CODEX_HOME="+home)
	}
	// The package has a search program that its script would have put into PATH.
	if tools := filepath.Join(filepath.Dir(filepath.Dir(path)), "codex-path"); isDir(tools) {
		env = append(env, "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+tools)
	}
	return sdk.ChildEnv(env...)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// quote writes a TOML string. JSON's strings are TOML's, but for one character.
func quote(s string) string {
	b, err := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		panic(err) // a string
	}
	return strings.ReplaceAll(string(b), "\x7f", `\u007F`)
}

// table writes an inline TOML table; its values are TOML already.
func table(m map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, k+"="+m[k])
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// withoutNoise drops a line that Codex always prints.
func withoutNoise(stderr string) string {
	return strings.TrimSpace(strings.Replace(stderr, "Reading additional input from stdin...", "", 1))
}

// ToolVersion reads the program's version and warns when it was not tested.
func (c Call) ToolVersion(ctx context.Context, out sdk.Events) error {
	path, err := c.Program()
	if err != nil {
		return err
	}
	v, err := readVersion(ctx, path, c.StateDir, c.WorkDir)
	if err != nil {
		return err
	}
	out.Started(sdk.Started{Model: c.Model, ToolVersion: v.String()})
	if w := Versions.Warning("codex", v); w != "" {
		out.Notice(w)
	}
	return nil
}
