package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

// helpTopics are pages of `relay help` that are no commands.
func helpTopics(a *app) []*cobra.Command {
	topic := func(name, short string, page func(*printer)) *cobra.Command {
		return &cobra.Command{
			Use: name, Short: short, Hidden: true, Args: noArgs,
			Annotations: map[string]string{"topic": name},
			RunE: func(*cobra.Command, []string) error {
				if a.json {
					return textAlone(name)
				}
				p := a.printer(a.out, a.outTTY)
				page(p)
				return p.err
			},
		}
	}
	return []*cobra.Command{
		topic("all", "Every command, and the flags of each", func(p *printer) { overview(p, newRootCmd(a)) }),
		topic("exit-codes", "What relay's exit codes mean", exitCodesPage),
		configTopic(a),
		topic("templates", "Placeholders of prompts and parameters of checks", templatesPage),
		topic("environment", "Environment variables that relay reads", environmentPage),
		topic("files", "The files that relay writes", filesPage),
	}
}

// textAlone refuses a document of a page that is written for people.
func textAlone(topic string) error {
	return usageError{what: "relay help " + topic + " is a text and has no document", why: "a command has one", fix: "`relay help " + topic + "`, or `relay help run --json`"}
}

// configTopic is `relay help config [KEY]`; the command of that name shows values.
func configTopic(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "configuration", Short: "The configuration's keys", Hidden: true,
		Annotations: map[string]string{"topic": "config"},
		RunE: func(_ *cobra.Command, args []string) error {
			if a.json {
				return textAlone("config")
			}
			p := a.printer(a.out, a.outTTY)
			below := strings.Join(args, ".")
			keys := host.ConfigKeys(below)
			if len(keys) == 0 {
				return usageError{what: "the configuration has no key " + strconv.QuoteToASCII(below), fix: "`relay help config`"}
			}
			configPage(p, below, keys)
			return p.err
		},
	}
}

func configPage(p *printer, below string, keys []host.ConfigKey) {
	if below != "" {
		for _, k := range keys {
			p.linef("%s", p.bold(k.Key))
			p.hang("  ", k.Doc)
			p.hang("  "+p.dim("value")+" ", k.Value)
			if k.BuiltIn != "" {
				p.hang("  "+p.dim("built in")+" ", k.BuiltIn)
			}
		}
		return
	}
	p.linef("Values come in layers, and the highest wins:\n")
	p.table([][]string{
		{"  built in", "what relay does without a configuration"},
		{"  the person's", "$XDG_CONFIG_HOME/relay/config.json (or .yaml, .yml, .toml)"},
		{"  the repository's", "relay.config.json at its root; it can narrow rights, never widen them"},
		{"  the environment", "RELAY_RUNNER_MAX_TICK_SECONDS=600"},
		{"  the call's", "--set runner.max_tick_seconds=600"},
	})
	p.linef("\nThe keys:\n")
	var sections []string
	inside := map[string][]string{}
	for _, k := range keys {
		section, key, nested := strings.Cut(k.Key, ".")
		if _, ok := inside[section]; !ok {
			sections = append(sections, section)
		}
		if nested {
			inside[section] = append(inside[section], key)
		} else {
			inside[section] = strings.Fields(k.Doc)
		}
	}
	var rows [][]string
	for _, section := range sections {
		lines := wrap(inside[section], 90)
		if p.width > 0 { // they are folded there
			lines = []string{strings.Join(inside[section], " ")}
		}
		for i, line := range lines {
			rows = append(rows, []string{map[bool]string{true: "  " + section}[i == 0], line})
		}
	}
	p.table(rows)
	p.linef("")
	p.advise("", "More: `relay help config budgets` for one key or section, `relay config show --origin` for the values in force")
}

func templatesPage(p *printer) {
	p.prose("A prompt of your own in .relay/prompts/ replaces the built-in one: ROLE.system.txt, and ROLE.md, or\nROLE.user.txt of orchestrator and builder. `relay init --prompts` writes them all. These placeholders are filled in; what they hold is data and never read as a template:")
	p.linef("")
	for _, role := range host.PromptRoles() {
		p.linef("%s", p.bold("  "+role.Name))
		for _, line := range wrap(role.Placeholders, 76) {
			p.hang("    ", line)
		}
	}
	p.linef("")
	p.advise("", "A check in verification.templates may take parameters from a task: {{name}} as a whole argument, its values listed or bounded by the template. `relay help config verification` has the rules.")
}

// exitCodeRows are the exit codes of every command.
var exitCodeRows = []struct {
	code    int
	meaning string
}{
	{host.ExitDone, "done"},
	{host.ExitWaiting, "waiting on you: a question is open (relay answer), or a cycle or a task needs you (relay queue)"},
	{host.ExitStopped, "stopped or failed: nothing landed, the report says why"},
	{host.ExitBlocked, "blocked: configuration, environment, budget, lock or invalid usage"},
	{host.ExitHungUp, "interrupted, since the terminal was closed (SIGHUP)"},
	{host.ExitInterrupted, "interrupted by Ctrl-C (SIGINT)"},
	{host.ExitQuit, "interrupted by Ctrl-\\ (SIGQUIT)"},
	{host.ExitTerminated, "interrupted by SIGTERM"},
}

func exitCodesPage(p *printer) {
	p.linef("Exit codes of every command:\n")
	var rows [][]string
	for _, r := range exitCodeRows {
		rows = append(rows, []string{fmt.Sprintf("  %d", r.code), r.meaning})
	}
	p.table(rows)
	p.linef("\nThe code in the report is finer:\n")
	rows = nil
	for _, code := range host.Codes() {
		e := host.Explain(code)
		rows = append(rows, []string{fmt.Sprintf("  %d", e.ExitCode), string(code), e.Title})
	}
	p.table(rows)
}

// environmentRows are the variables that relay reads; docs/reference/environment.md has
// them, too, with those of each plugin.
var environmentRows = [][2]string{
	{"RELAY_<KEY>", "a value of the configuration: RELAY_RUNNER_MAX_TICK_SECONDS=600"},
	{"RELAY_COORDINATOR", "socket by which the relays of a fleet share what a day may cost; a worker sets it"},
	{"RELAY_TRUST", "digest of a configuration that may name commands, or several (for CI; see relay trust)"},
	{"RELAY_LOG_LEVEL", "how much plugins log: trace, debug, info, warn, error"},
	{"RELAY_PLUGIN_LOG", "a file that gets all that the plugins of a run say, for authors of plugins"},
	{"RELAY_SIGN_PASSWORD", "password of the key that relay plugin pack signs with"},
	{"RELAY_SDK", "relay's sources, for relay plugin new: in the place of the published module"},
	{"GIT_PAGER, PAGER, LESS", "through what a diff is shown on a terminal; then less; cat for none"},
	{"GIT_CONFIG_GLOBAL, GIT_CONFIG_COUNT, …", "settings for git, as git itself reads them; relay's own come first"},
	{"GIT_AUTHOR_NAME, GIT_COMMITTER_EMAIL, …", "in whose name relay commits, as git reads them"},
	{"OTEL_*, TRACEPARENT", "where spans go and to which trace they belong, once telemetry.traces is otlp"},
	{"NO_COLOR, CLICOLOR_FORCE", "no color; color even where it is not a terminal"},
	{"TERM, CI", "TERM=dumb and CI: plain progress lines; CI: no questions either; --ci: and nothing unpinned"},
	{"VISUAL, EDITOR", "the editor of relay audit review; then git's core.editor, then vi"},
	{"XDG_CONFIG_HOME, XDG_STATE_HOME", "your own configuration; trust and boxes"},
	{"XDG_CACHE_HOME, XDG_DATA_HOME", "caches; installed plugins"},
	{"HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "the way out, for plugins and what they start"},
	{"SSL_CERT_FILE, SSL_CERT_DIR", "certificates for plugins; NODE_EXTRA_CA_CERTS for agents made with Node"},
}

func environmentPage(p *printer) {
	p.linef("relay reads:\n")
	var rows [][]string
	for _, r := range environmentRows {
		rows = append(rows, []string{"  " + r[0], r[1]})
	}
	p.table(rows)
	p.linef("")
	p.advise("", "A plugin sees those it declares, PATH, HOME, the language and the last three rows: `relay plugin info NAME`.")
}

func filesPage(p *printer) {
	p.linef("In the repository:\n")
	p.table([][]string{
		{"  relay.config.json", "configuration (also .yaml, .yml, .toml; relais.config.json when there is no other)"},
		{"  relay.lock.json", "pins of installed plugins"},
		{"  .relay/", "the workspace; it ignores itself in git"},
		{"  .relay/REPORT.json, REPORT.md", "the last run: the truth, and its rendering"},
		{"  .relay/BLOCKED.json", "why nothing could start, and what to type"},
		{"  .relay/STATE.json, usage.jsonl", "counters of the milestone; one line for each paid call"},
		{"  .relay/TASK.json", "the task of the last run"},
		{"  .relay/FACTS.md", "what every prompt should know; yours to write and commit"},
		{"  .relay/prompts/", "prompt templates of your own"},
		{"  .relay/cycles/UUID/", "state, audits, plan, diff and test output of each audit cycle"},
		{"  .relay/queue.md, logs/", "what waits, for you or for a moment; the daily log of cycles"},
		{"  .relay/history/RUN/", "report, diff.patch, verify.log and plugin logs of each run"},
	})
}

// wrap sets words in lines of at most the given number of columns; a longer word has a
// line of its own.
func wrap(words []string, wide int) []string {
	var lines []string
	for _, w := range words {
		if n := len(lines); n > 0 && columns(lines[n-1])+1+columns(w) <= wide {
			lines[n-1] += " " + w
		} else {
			lines = append(lines, w)
		}
	}
	return lines
}
