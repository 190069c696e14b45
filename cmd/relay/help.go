package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/paxiom/relay/host"
)

// setHelp puts relay's own help in place: what it is, examples, commands by
// group, flags. It fits a screen.
func setHelp(a *app, root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if cmd.Annotations["topic"] != "" {
			_ = cmd.RunE(cmd, nil) // prints to the same writer; its errors end there
			return
		}
		p := a.printer(a.out, a.outTTY)
		help(p, cmd)
	})
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND|TOPIC]", Short: "Help about a command or a topic", Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 && found == root {
				return unknownCommand(root, args)
			}
			return found.Help()
		},
	})
}

// brief marks a command that the overview only names, so that it fits a screen.
const brief = "brief"

// inBrief marks commands so.
func inBrief(all ...*cobra.Command) []*cobra.Command {
	for _, c := range all {
		c.Annotations = map[string]string{brief: "yes"}
	}
	return all
}

func help(p *printer, cmd *cobra.Command) {
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	p.linef("%s", text)
	if cmd.Example != "" {
		p.linef("")
		for line := range strings.Lines(cmd.Example) {
			p.linef("  %s", p.bold(strings.TrimRight(line, "\n")))
		}
	}
	p.linef("\n%s %s", p.dim("Usage:"), useLine(cmd))
	for _, g := range cmd.Groups() {
		p.linef("\n%s", p.bold(g.Title))
		var rows [][]string
		var also []string
		for _, c := range cmd.Commands() {
			switch {
			case c.GroupID != g.ID || !c.IsAvailableCommand():
			case c.Annotations[brief] != "":
				also = append(also, c.Name())
			default:
				rows = append(rows, []string{"  " + c.Name(), c.Short})
			}
		}
		if len(also) > 0 {
			rows = append(rows, []string{"  also", strings.Join(also, ", ")})
		}
		p.table(rows)
	}
	if len(cmd.Groups()) == 0 && cmd.HasAvailableSubCommands() {
		p.linef("")
		var rows [][]string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				rows = append(rows, []string{"  " + c.Name(), c.Short})
			}
		}
		p.table(rows)
	}
	flags(p, cmd)
}

func useLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() {
		return cmd.CommandPath() + " COMMAND [flags]"
	}
	line := cmd.UseLine()
	if !strings.Contains(line, "[flags]") {
		line += " [flags]"
	}
	return line
}

func flags(p *printer, cmd *cobra.Command) {
	var rows [][]string
	add := func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		label := "      --" + f.Name
		if f.Shorthand != "" {
			label = "  -" + f.Shorthand + ", --" + f.Name
		}
		if name != "" {
			label += " " + name
		}
		rows = append(rows, []string{label, usage})
	}
	if !cmd.HasParent() {
		cmd.PersistentFlags().VisitAll(add)
		p.linef("\n%s", p.bold("Flags of every command"))
		p.table(rows)
		p.linef("\nMore: %s, %s", p.bold("relay COMMAND --help"), p.bold("relay help exit-codes|environment|files"))
		return
	}
	cmd.LocalNonPersistentFlags().VisitAll(add)
	if len(rows) > 0 {
		p.linef("\n%s", p.bold("Flags"))
		p.table(rows)
	}
	p.linef("\n%s", p.dim("Flags of every command (--json, -C, --set, …): relay --help"))
}

// helpTopics are pages of `relay help` that are no commands.
func helpTopics(a *app) []*cobra.Command {
	topic := func(name, short string, page func(*printer)) *cobra.Command {
		return &cobra.Command{
			Use: name, Short: short, Hidden: true, Args: noArgs,
			Annotations: map[string]string{"topic": name},
			RunE: func(*cobra.Command, []string) error {
				p := a.printer(a.out, a.outTTY)
				page(p)
				return p.err
			},
		}
	}
	return []*cobra.Command{
		topic("exit-codes", "What relay's exit codes mean", exitCodesPage),
		topic("environment", "Environment variables that relay reads", environmentPage),
		topic("files", "The files that relay writes", filesPage),
	}
}

// exitCodeRows are the exit codes of every command.
var exitCodeRows = []struct {
	code    int
	meaning string
}{
	{host.ExitDone, "done"},
	{host.ExitWaiting, "waiting on you: a question is open (relay answer), or a cycle is at a gate (relay queue)"},
	{host.ExitStopped, "stopped or failed: nothing landed, the report says why"},
	{host.ExitBlocked, "blocked: configuration, environment, budget, lock or a wrong call"},
	{host.ExitInterrupted, "interrupted by Ctrl-C (SIGINT)"},
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

func environmentPage(p *printer) {
	p.linef("relay reads:\n")
	p.table([][]string{
		{"  RELAY_<KEY>", "a configuration value, for example RELAY_RUNNER_MAX_TICK_SECONDS=600"},
		{"  RELAY_TRUST", "digest of a configuration that may name commands (for CI; see relay trust)"},
		{"  NO_COLOR, CLICOLOR_FORCE, TERM", "colour and the live line"},
		{"  CI", "plain progress lines, no questions"},
		{"  XDG_CONFIG_HOME, XDG_STATE_HOME,", "folders of the person: configuration, trust and"},
		{"  XDG_CACHE_HOME, XDG_DATA_HOME", "boxes, caches, installed plugins"},
	})
	p.linef("\nPlugins see only what they declare; relay plugin list --json names it.")
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
		{"  .relay/queue.md, logs/", "cycles in flight; the daily log of cycles"},
		{"  .relay/history/RUN/", "report, diff.patch, verify.log and plugin logs of each run"},
	})
}
