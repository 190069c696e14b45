package claudecli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/sdk"
)

// Call is one run of Claude Code.
type Call struct {
	Setup
	WorkDir string // private files of the call go below it; empty: the system's temporary folder
	Dir     string // where the program works; empty: a private, empty folder

	Prompt         string
	System         string
	KeepSystem     bool // add System to the program's own system prompt instead of replacing it
	Schema         json.RawMessage
	Model          string
	Fallback       string
	Effort         string
	Tools          Tools // to offer and to allow; none: the model can only answer
	PermissionMode string
	SettingSources string // of user, project, local; empty: no settings, hooks or memory at all
	MaxTurns       int    // 0: no limit
	MaxMicroUSD    int64  // 0: no limit
	MaxOutput      int64  // tokens; 0: the model's limit

	Withhold []string // variables of the plugin that are none of the program's

	Idle    time.Duration // without any output; 0: defaultIdle
	Timeout time.Duration // 0: none
}

const (
	// defaultIdle outlasts the program's own limits below, so that it can ask again.
	defaultIdle = 10 * time.Minute
	// maxSchema is below the 128 KiB that Linux allows for one argument.
	maxSchema = 120 << 10
	// maxOutput bounds what is read of a run that repeats itself for ever.
	maxOutput = 512 << 20
)

// takes is what the program accepts on standard input; it refuses more.
var takes = clitool.Input{Bytes: 10 << 20}

// afterResult is how long the program may run on when all has been said. Tests
// shorten it.
var afterResult = 10 * time.Second

// Run runs the call to its end and returns what it printed and how it ended. The
// error is not nil when the run can't be judged: not started, canceled, timed
// out. What happens on the way goes to out.
func (c Call) Run(ctx context.Context, out sdk.Events) (*Stream, End, error) {
	s := new(Stream)
	c.Schema = portable(c.Schema)
	if len(c.Schema) > maxSchema {
		return s, End{}, sdk.Fail(sdk.TooLarge, fmt.Sprintf("the output schema has %d bytes; claude takes at most %d", len(c.Schema), maxSchema), sdk.EffectNone)
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
	if err := takes.Fits("claude", c.Prompt); err != nil {
		return s, End{}, err
	}
	cli, err := c.prepare(path, private)
	if err != nil {
		return s, End{}, sdk.Fail(sdk.Internal, "the plugin can't write its files for claude", sdk.Cause(err), sdk.EffectNone)
	}
	return s.run(ctx, cli, out)
}

// run starts the program. Once it has given a result it may run on for a moment;
// what it does then (a command left in the background) is nobody's business.
func (s *Stream) run(ctx context.Context, cli sdk.CLI, out sdk.Events) (*Stream, End, error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var enough *time.Timer
	cli.OnLine = func(l []byte) {
		for _, e := range s.Feed(l) {
			e.report(out, cli.Dir)
		}
		if s.Ended() && enough == nil {
			enough = time.AfterFunc(afterResult, cancel)
		}
	}
	res, err := sdk.RunCLI(inner, cli)
	if enough != nil {
		enough.Stop()
	}
	end := clitool.Ended(res)
	if err != nil && s.Ended() && ctx.Err() == nil && inner.Err() != nil {
		end.Enough = true
		return s, end, nil
	}
	if f := sdk.AsFailure(err); f != nil {
		f.Effect, f.Usage = s.effect(), s.used()
		return s, end, f
	}
	if res.Cut > 0 {
		out.Notice(fmt.Sprintf("claude printed %d bytes more than are read of one run", res.Cut))
	}
	return s, end, nil
}

// prepare writes the private files of a call and puts its command line together.
func (c Call) prepare(path, private string) (sdk.CLI, error) {
	dir := cmp.Or(c.Dir, filepath.Join(private, "empty"))
	for _, d := range []string{filepath.Join(private, "tmp"), dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return sdk.CLI{}, err
		}
	}
	args := c.args()
	if c.System != "" {
		file := filepath.Join(private, "system.txt")
		if err := os.WriteFile(file, []byte(c.System), 0o600); err != nil {
			return sdk.CLI{}, err
		}
		flag := "--system-prompt-file"
		if c.KeepSystem {
			flag = "--append-system-prompt-file"
		}
		args = append(args, flag, file)
	}
	return sdk.CLI{
		Path: path, Args: args, Env: c.env(private), Dir: dir, Stdin: c.Prompt,
		Idle: c.idle(), Timeout: c.Timeout, MaxOutput: maxOutput,
	}, nil
}

func (c Call) idle() time.Duration {
	if c.Idle > 0 {
		return c.Idle
	}
	return defaultIdle
}

// args are all flags but the system prompt's. Nothing here is secret or large: a
// command line can be read by other processes. Values are joined to their flags
// where a list would otherwise swallow what follows.
func (c Call) args() []string {
	args := []string{
		"-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
		"--setting-sources=" + c.SettingSources, "--strict-mcp-config", "--disable-slash-commands",
		"--no-session-persistence", "--tools=" + strings.Join(c.Tools.Names(), ","),
	}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag+"="+value)
		}
	}
	add("--allowedTools", strings.Join(c.Tools, ","))
	add("--permission-mode", c.PermissionMode)
	add("--model", c.Model)
	if c.Fallback != c.Model { // the program refuses a model as its own fallback
		add("--fallback-model", c.Fallback)
	}
	add("--effort", c.Effort)
	add("--json-schema", string(c.Schema))
	if c.MaxTurns > 0 {
		add("--max-turns", strconv.Itoa(c.MaxTurns))
	}
	if c.MaxMicroUSD > 0 {
		add("--max-budget-usd", strconv.FormatFloat(float64(c.MaxMicroUSD)/1e6, 'f', -1, 64))
	}
	return args
}

// portable leaves out which edition of JSON Schema a schema is written in, and its
// name: the program refuses every edition that it does not know by name, though it
// reads the keywords.
func portable(schema json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) != nil {
		return schema // the program will say what is wrong with it
	}
	delete(members, "$schema")
	delete(members, "$id")
	out, err := json.Marshal(members)
	if err != nil {
		return schema
	}
	return out
}

// env is the program's environment. It tries again twice by itself; more than
// that would hide minutes of waiting from the host. Its own limits on a silent
// API are inside the limit on a silent program.
func (c Call) env(private string) []string {
	silent := strconv.FormatInt((c.idle() * 2 / 5).Milliseconds(), 10)
	env := []string{
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1",
		"CLAUDE_CODE_MAX_RETRIES=2",
		"DISABLE_AUTOUPDATER=1",
		"API_TIMEOUT_MS=" + silent,
		"CLAUDE_ENABLE_BYTE_WATCHDOG=1",
		"CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS=" + silent,
		"CLAUDE_CODE_TMPDIR=" + filepath.Join(private, "tmp"),
		"NO_COLOR=1",
	}
	if dir := c.configDir(private); dir != "" {
		env = append(env, "CLAUDE_CONFIG_DIR="+dir)
	}
	if c.BaseURL != "" {
		env = append(env, "ANTHROPIC_BASE_URL="+c.BaseURL)
	}
	if c.MaxOutput > 0 {
		env = append(env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS="+strconv.FormatInt(c.MaxOutput, 10))
	}
	if c.PermissionMode == BypassPermissions {
		env = append(env, "IS_SANDBOX=1") // without it the program refuses this mode to root
	}
	return slices.DeleteFunc(sdk.ChildEnv(env...), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(c.Withhold, name)
	})
}

// BypassPermissions is the permission mode that asks for nothing. It is for a
// program that has a fence around it.
const BypassPermissions = "bypassPermissions"

// report tells one event of the stream to the host; dir is where the program works.
func (e Event) report(out sdk.Events, dir string) {
	switch {
	case e.Started != nil:
		out.Started(sdk.Started{Model: e.Started.Model, ToolVersion: e.Started.Version, Session: e.Started.Session})
		if v, ok := clitool.ParseVersion(e.Started.Version); ok {
			if w := Versions.Warning("claude", v); w != "" {
				out.Notice(w)
			}
		}
	case e.Text != "":
		out.Text(e.Text)
	case e.Usage != nil:
		out.Usage(*e.Usage)
	case e.Limit != nil:
		out.RateLimit(*e.Limit)
	case e.Retry != nil:
		out.Notice(e.Retry.String())
	case e.Tool != nil:
		e.Tool.report(out, dir)
	}
}

func (r *Retry) String() string {
	why := r.Kind
	if r.Status != 0 {
		why = fmt.Sprintf("%d %s", r.Status, r.Kind)
	}
	return fmt.Sprintf("claude asks the API again in %v (%d of %d): %s", r.Delay.Round(time.Second/10), r.Attempt, r.Max, why)
}

func (t *Tool) report(out sdk.Events, dir string) {
	path := t.Path
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	switch {
	case t.Command != "":
		c := sdk.Command{Argv: []string{"sh", "-c", t.Command}}
		if t.Done {
			code := 0
			if t.Failed {
				code = 1 // the program says only that it failed
			}
			c.ExitCode = &code
		}
		out.Command(c)
	case t.Done && !t.Failed && t.Path != "" && !harmless[t.Name]:
		out.File(path)
	case !t.Done:
		out.Progress(sdk.Progress{Phase: t.Name, Text: strings.TrimSpace(t.Name + " " + path)})
	}
}
