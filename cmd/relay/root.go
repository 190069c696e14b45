package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/setup"
)

// Groups of commands in the help, in the order of a first day.
const (
	groupStart = "start"
	groupWork  = "work"
	groupLook  = "look"
	groupBack  = "back"
	groupSetup = "setup"
)

func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "relay",
		Short: "Let a model change your repository one judged step at a time",
		Long: "relay asks a model for one small task, lets another carry it out in a box, judges the\n" +
			"files that really changed, runs your checks, and commits or throws the box away.",
		Example:           "relay init               # once in your repository\nrelay run --goal \"...\"   # one step: plan, build, judge, verify, commit\nrelay                    # where things stand, and what to type next",
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              unknownCommand,
		RunE:              inRepo(a, &statusOptions{app: a, short: true}, runStatus),
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true, DisableDefaultCmd: true},
	}
	cobra.EnableCommandSorting = false // the order of a first day, not of the alphabet
	root.AddGroup(
		&cobra.Group{ID: groupStart, Title: "Start here"},
		&cobra.Group{ID: groupWork, Title: "Work"},
		&cobra.Group{ID: groupLook, Title: "Look back"},
		&cobra.Group{ID: groupBack, Title: "Take back"},
		&cobra.Group{ID: groupSetup, Title: "Set up"},
	)
	audit := newAuditCmd(a)
	root.AddCommand(
		newInitCmd(a), newDoctorCmd(a), newStatusCmd(a), newDemoCmd(a),
		newRunCmd(a), newLoopCmd(a), newStopCmd(a), newAnswerCmd(a), newPipelineCmd(a), newTaskCmd(a), audit,
		newWatchCmd(a), newShowCmd(a), newDiffCmd(a), newReportCmd(a), newCostCmd(a),
		newUndoCmd(a), newSalvageCmd(a), newRecoverCmd(a),
		newConfigCmd(a), newTrustCmd(a), newPluginCmd(a),
	)
	root.AddCommand(inBrief(newMilestoneCmd(a), newWakeCmd(a), newExplainCmd(a), newHistoryCmd(a), newVerifyCmd(a), newEvidenceCmd(a), newCheckCmd(a), newPolicyCmd(a), newCompletionCmd(a), newVersionCmd(a))...)
	root.AddCommand(inBrief(newQueueCmd(a), newTmuxStatusCmd(a), newGCCmd(a), newFleetCmd())...)
	root.AddCommand(formerly(a, root, audit)...)
	root.AddCommand(newManCmd(a))
	root.AddCommand(helpTopics(a)...)
	addGlobalFlags(a, root)
	setHelp(a, root)
	return root
}

func addGlobalFlags(a *app, root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.BoolVar(&a.json, "json", false, "print one JSON document on stdout and nothing else there")
	f.StringVarP(&a.dir, "dir", "C", "", "work as if started in `DIR`")
	f.StringArrayVar(&a.set, "set", nil, "override `KEY=VALUE` of the configuration for this call")
	f.BoolVar(&a.noInput, "no-input", false, "never ask; fail if an answer is needed")
	f.BoolVar(&a.noColor, "no-color", false, "no color (also NO_COLOR)")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no progress on stderr")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "more on stderr: what plugins say")
	f.BoolVar(&a.ci, "ci", false, "as CI=1, and refuse what nothing pins")
	f.StringArrayVar(&a.dev, "dev", nil, "for this call, use the plugin in your own file: `NAME=FILE`")
	f.StringArrayVar(&a.attach, "reattach", nil, "for this call, use the plugin that waits with --debug: `NAME[=FILE]`")
	for _, name := range []string{"ci", "dev", "reattach"} { // `relay plugin` and `relay help environment` say what they are for
		if err := f.MarkHidden(name); err != nil {
			panic(err)
		}
	}
	_ = root.RegisterFlagCompletionFunc("set", completeSet)
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := notEmpty(cmd, args); err != nil {
			return err
		}
		return a.begin()
	}
	root.Flags().BoolVar(new(bool), "version", false, "print the version")
	root.SetFlagErrorFunc(wrongFlag)
	// The version is asked for by scripts and prompts all the time: no work before it.
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if v, err := cmd.Flags().GetBool("version"); err == nil && v {
			return a.done(version(), nil, func(p *printer) { p.linef("%s", version().line()) })
		}
		return run(cmd, args)
	}
}

// runE ties a command to its run function.
func runE[O any](o *O, run func(context.Context, *O) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o) }
}

// inRepo is runE for a command that works on a repository.
func inRepo[O any](a *app, o *O, run func(context.Context, *host.Repo, *O) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		repo, err := a.open()
		if err != nil {
			return err
		}
		return run(cmd.Context(), repo, o)
	}
}

// notEmpty refuses an argument or a flag that is an empty text: mostly it is a variable that a script
// did not set, and without its run `relay undo "$RUN"` would take back the last one.
func notEmpty(cmd *cobra.Command, args []string) error {
	if strings.HasPrefix(cmd.Name(), cobra.ShellCompRequestCmd) || cmd.DisableFlagParsing { // to be completed, or another program's
		return nil
	}
	refused := func(what string) error {
		return usageError{what: fmt.Sprintf("%s of %s is empty", what, cmd.CommandPath()), why: "a variable that is not set, perhaps",
			fix: fmt.Sprintf("`%s --help`", cmd.CommandPath())}
	}
	for i, arg := range args {
		if strings.TrimSpace(arg) == "" && !(cmd.CommandPath() == "relay config set" && i == 1) {
			return refused("an argument")
		}
		if arg == "…" || arg == "..." { // typed as an advice has it
			return usageError{what: fmt.Sprintf("%q stands for what you have to write there", arg), fix: fmt.Sprintf("`%s --help`", cmd.CommandPath())}
		}
	}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && !slices.Contains(mayBeEmpty, f.Name) {
			err = refused("--" + f.Name)
		}
	})
	return err
}

// mayBeEmpty are flags that take something away when they are empty.
var mayBeEmpty = []string{"grant", "notes", "validate"}

// noArgs refuses arguments, and says so in relay's own form.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	fix := fmt.Sprintf("`%s --help`", cmd.CommandPath())
	if cmd.Name() == "run" && cmd.Flags().Lookup("goal") != nil {
		fix = fmt.Sprintf("`%s --goal %s`", cmd.CommandPath(), diag.Word(strings.Join(args, " ")))
	}
	return usageError{
		what: fmt.Sprintf("%s takes no argument, but got %q", cmd.CommandPath(), args[0]),
		fix:  fix,
	}
}

// oneArg takes at most one argument, into *to.
func oneArg(to *string, name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usageError{
				what: fmt.Sprintf("%s takes one %s, but got %d arguments", cmd.CommandPath(), name, len(args)),
				why:  "put a text of several words in quotes",
				fix:  fmt.Sprintf("`%s --help`", cmd.CommandPath()),
			}
		}
		if len(args) == 1 {
			*to = args[0]
		}
		return nil
	}
}

// neededArg stores the one positional argument, without which a command does nothing.
func neededArg(to *string, name, fix string) cobra.PositionalArgs {
	optional := oneArg(to, name)
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || strings.TrimSpace(args[0]) == "" {
			return usageError{what: cmd.CommandPath() + " needs " + withArticle(name), fix: fix}
		}
		return optional(cmd, args)
	}
}

func withArticle(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// unknownCommand names the commands that were perhaps meant.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	path := cmd.CommandPath()
	u := usageError{what: fmt.Sprintf("%s has no command %q", path, args[0]), fix: fmt.Sprintf("`%s --help`", path)}
	if known := synonyms[strings.TrimPrefix(path+" "+args[0], "relay ")]; known != "" {
		u.fix = "`relay " + known + "`"
		return u
	}
	cmd.SuggestionsMinimumDistance = 2
	if len(args[0]) <= 4 { // of a short word half would be another one
		cmd.SuggestionsMinimumDistance = 1
	}
	near := cmd.SuggestionsFor(args[0])
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && sameLetters(args[0], c.Name()) && !slices.Contains(near, c.Name()) {
			near = append(near, c.Name())
		}
	}
	if len(near) > 0 {
		best := cmp.Or(setup.Nearest(args[0], near), near[0])
		u.why = "perhaps you mean: " + strings.Join(append([]string{best}, slices.DeleteFunc(near, func(n string) bool { return n == best })...), ", ")
		u.fix = fmt.Sprintf("`%s %s`", path, best)
		if !slices.Contains(harmless, best) {
			u.fix = fmt.Sprintf("`%s %s --help`", path, best)
		}
	}
	return u
}

// sameLetters reports whether two words have the same letters in another order: what fingers
// that are too fast make of a short word.
func sameLetters(a, b string) bool {
	x, y := []rune(a), []rune(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// harmless are the commands that a typo may suggest as they are: they only look. Any other
// may spend or remove something, and its help is suggested.
var harmless = []string{"status", "show", "report", "cost", "explain", "watch", "doctor", "version", "queue", "logs", "stats", "demo",
	"config", "history", "verify", "plugin", "task", "pipeline", "service", "check", "list", "info"}

// synonyms are what other programs call a command, with what only looks or explains here.
var synonyms = map[string]string{"log": "history list", "list": "history list", "ls": "history list", "ps": "status",
	"ui": "watch", "questions": "queue", "cancel": "stop --help", "kill": "stop --help", "quit": "stop --help",
	"retry": "run --help", "exec": "run --help", "approve": "queue", "revert": "undo --help", "rollback": "undo --help", "setup": "init --help",
	"login": "doctor", "test": "check list", "config get": "config show", "config list": "config show"}

// wrongFlag names the flag that was perhaps meant.
func wrongFlag(cmd *cobra.Command, err error) error {
	if cmd.HasAvailableSubCommands() && cmd.Flags().NArg() > 0 { // the flag is of a command that there is not
		return unknownCommand(cmd, cmd.Flags().Args())
	}
	u := usageError{what: err.Error(), fix: fmt.Sprintf("`%s --help`", cmd.CommandPath())}
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		u.what = fmt.Sprintf("--%s can't be %q", value.GetFlag().Name, value.GetValue())
		switch value.GetFlag().Value.Type() {
		case "int", "int64", "uint64", "float64":
			u.why = "it needs a number"
		case "duration":
			u.why = "it needs a time such as 90s or 2h"
		}
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return u
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	word := unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" { // -goal is read as -g -o -a -l
		u.what, word = "unknown flag: -"+short, short
	}
	if near := setup.Nearest(word, names); near != "" {
		u.why = "perhaps you mean --" + near
	}
	return u
}

// parent makes a command that only has others below it.
func parent(use, short, example, group string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Example: example, GroupID: group, Args: unknownCommand}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(children...)
	return cmd
}
