package main

import (
	"cmp"
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
		if a.json {
			_ = a.done(helpOf(cmd), nil, nil)
			return
		}
		help(a.printer(a.out, a.outTTY), cmd)
	})
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND|TOPIC] [KEY]", Short: "Help about a command or a topic", Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			for _, c := range root.Commands() {
				if len(args) > 0 && c.Annotations["topic"] == args[0] {
					return c.RunE(c, args[1:])
				}
			}
			found, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 && found == root {
				return unknownCommand(root, args)
			}
			return found.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
			found, _, err := root.Find(args)
			switch {
			case len(args) > 0 && args[0] == "config":
				return completeKeys(nil, args[1:], "")
			case err != nil:
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, c := range found.Commands() {
				if name := c.Annotations["topic"]; name != "" && len(args) == 0 && name != "config" { // which is a command, too
					all = append(all, cobra.CompletionWithDesc(name, c.Short))
				} else if c.IsAvailableCommand() {
					all = append(all, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		},
	})
}

// completeKeys completes sections and keys of the configuration.
func completeKeys(_ *cobra.Command, args []string, _ string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	last := ""
	for _, k := range host.ConfigKeys("") {
		if section, _, nested := strings.Cut(k.Key, "."); nested && section != last {
			last = section
			all = append(all, section)
		}
		all = append(all, cobra.CompletionWithDesc(k.Key, k.Doc))
	}
	return all, cobra.ShellCompDirectiveNoFileComp
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

// firstDay are the commands of the first day, which `relay --help` shows: it fits a small
// terminal. `relay help all` has every command.
var firstDay = []string{"init", "doctor", "run", "loop", "pipeline", "audit", "status", "show", "report", "undo"}

func help(p *printer, cmd *cobra.Command) {
	if cmd.HasParent() {
		overview(p, cmd)
		return
	}
	intro(p, cmd)
	p.linef("\n%s", p.bold("Commands"))
	var rows [][]string
	for _, name := range firstDay {
		if c, _, err := cmd.Find([]string{name}); err == nil {
			rows = append(rows, []string{"  " + c.Name(), c.Short})
		}
	}
	p.table(rows)
	p.linef("")
	p.hang("", "All commands and flags: "+p.bold("relay help all")+". One of them: "+p.bold("relay COMMAND --help"))
}

// intro is what a command is, with examples and usage.
func intro(p *printer, cmd *cobra.Command) {
	text := cmp.Or(cmd.Long, cmd.Short)
	p.prose(text)
	if cmd.Example != "" {
		p.linef("")
		for line := range strings.Lines(cmd.Example) {
			p.hang("  ", p.bold(strings.TrimRight(line, "\n")))
		}
	}
	p.linef("\n%s %s", p.dim("Usage:"), useLine(cmd))
}

// overview is all that there is to say about a command: the commands below it by group, and
// its flags.
func overview(p *printer, cmd *cobra.Command) {
	intro(p, cmd)
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

// helpDoc is the document of relay help COMMAND.
type helpDoc struct {
	host.Doc
	Command  string     `json:"command"`
	Short    string     `json:"short"`          // one line
	Long     string     `json:"long,omitempty"` // the whole text
	Usage    string     `json:"usage"`          // the command line's form
	Examples []string   `json:"examples"`       // command lines
	Commands []helpItem `json:"commands"`       // below it
	Flags    []helpItem `json:"flags"`          // of its own; for relay, those of every command
}

// helpItem is a command or a flag.
type helpItem struct {
	Name string `json:"name"`
	Does string `json:"does"` // in one line
}

func helpOf(cmd *cobra.Command) helpDoc {
	d := helpDoc{Doc: host.Doc{Kind: "relay.help", Version: 1}, Command: cmd.CommandPath(), Short: cmd.Short, Long: cmd.Long, Usage: useLine(cmd),
		Examples: []string{}, Commands: []helpItem{}, Flags: []helpItem{}}
	if cmd.Example != "" {
		d.Examples = strings.Split(cmd.Example, "\n")
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			d.Commands = append(d.Commands, helpItem{c.Name(), c.Short})
		}
	}
	own := cmd.LocalNonPersistentFlags()
	if !cmd.HasParent() {
		own = cmd.PersistentFlags()
	}
	own.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			d.Flags = append(d.Flags, helpItem{"--" + f.Name, f.Usage})
		}
	})
	return d
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
		p.linef("")
		p.hang("", "More: "+p.bold("relay COMMAND --help")+", "+p.bold("relay help exit-codes|config|templates|environment|files"))
		return
	}
	cmd.LocalNonPersistentFlags().VisitAll(add)
	if len(rows) > 0 {
		p.linef("\n%s", p.bold("Flags"))
		p.table(rows)
	}
	p.linef("")
	p.hang("", p.dim("Flags of every command (--json, -C, --set, …): relay help all"))
}
