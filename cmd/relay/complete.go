package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycles"
	"github.com/paxiom/relay/host/pipelines"
)

// completing reports whether a shell asks what could stand at the end of a line.
func completing(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// completeRest has every command and flag that knows no completions of its own go by the
// name that the help gives its value: files where one is wanted, folders where one is,
// and otherwise nothing, where a shell would list the files of the folder.
func completeRest(c *cobra.Command) {
	if c.ValidArgsFunction == nil && c.ValidArgs == nil {
		c.ValidArgsFunction = completeArgs(strings.Fields(c.Use)[1:])
	}
	flag := func(f *pflag.Flag) {
		value, usage := pflag.UnquoteUsage(f)
		if _, own := c.GetFlagCompletionFunc(f.Name); !own && f.Value.Type() != "bool" && len(f.Annotations) == 0 {
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(nil, valueKind(value))) // fails for one that has some
		}
		f.Usage = usage // shells print it as it is
	}
	c.LocalFlags().VisitAll(flag)
	for _, sub := range c.Commands() {
		completeRest(sub)
	}
}

// completeArgs completes the arguments that the help names so, each by its own name.
func completeArgs(names []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		last := len(names) - 1
		if last < 0 || len(args) > last && !strings.HasSuffix(names[last], "...") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, valueKind(names[min(len(args), last)])
	}
}

// valueKind says what completes a value that the help calls so.
func valueKind(name string) cobra.ShellCompDirective {
	is := func(s string) bool { return strings.Contains(name, s) }
	switch {
	case slices.ContainsFunc([]string{"FILE", "SOURCE", "COMMAND", "PATH", "KEY"}, is):
		return cobra.ShellCompDirectiveDefault
	case is("DIR"), is("FOLDER"):
		return cobra.ShellCompDirectiveFilterDirs
	}
	return cobra.ShellCompDirectiveNoFileComp
}

// completeSet completes KEY= of --set.
func completeSet(*cobra.Command, []string, string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, k := range host.ConfigKeys("") {
		if !strings.HasPrefix(k.Key, "$") {
			all = append(all, cobra.CompletionWithDesc(k.Key+"=", k.Doc))
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeRuns completes the ids of runs, newest first, each with how it ended and what
// it was about; only those that which takes, when it is not nil.
func completeRuns(a *app, which func(host.RunLine) bool) cobra.CompletionFunc {
	return completeWith(a, func(repo *host.Repo, prefix string) (all []string) {
		for _, r := range repo.RecentRuns() {
			if strings.HasPrefix(r.RunID, prefix) && (which == nil || which(r)) {
				all = append(all, cobra.CompletionWithDesc(r.RunID, aboutRun(r)))
			}
		}
		return all
	})
}

// aboutRun is a run in few words.
func aboutRun(r host.RunLine) string {
	about := cmp.Or(string(r.Code), "no verdict")
	if r.Workflow != "tick" && r.Workflow != "task" {
		about = r.Workflow + " " + about
	}
	if what := strings.TrimSpace(r.TaskID + " " + r.Intent); what != "" {
		about += " " + shorten(what, 50)
	}
	return about
}

// completeWork completes what `relay show`, `relay diff` and `relay cost` take.
func completeWork(a *app) cobra.CompletionFunc {
	runs, cycles, tasks := completeRuns(a, nil), completeCycles(a), completeTasks(a, false)
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		all, how := runs(cmd, args, prefix)
		for _, more := range []cobra.CompletionFunc{cycles, tasks} {
			some, _ := more(cmd, args, prefix)
			all = append(all, some...)
		}
		return all, how
	}
}

// completeCycles completes short ids of cycles.
func completeCycles(a *app) cobra.CompletionFunc {
	return completeWith(a, func(r *host.Repo, prefix string) []string { return r.CycleIDs(prefix) })
}

// completeServices completes ids of services.
func completeServices(a *app) cobra.CompletionFunc {
	return completeWith(a, cycles.ServiceIDs)
}

func completeWith(a *app, list func(*host.Repo, string) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		repo, err := a.open()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list(repo, prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeTasks completes task ids: one, or all that are wanted when many says so.
func completeTasks(a *app, many bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		repo, err := a.open()
		if err != nil || len(args) > 0 && !many {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		res, err := pipelines.Tasks(cmd.Context(), repo)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []cobra.Completion
		for _, t := range res.Tasks {
			if !slices.Contains(args, t.ID) {
				ids = append(ids, cobra.CompletionWithDesc(t.ID, shorten(t.Title, 40)))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}
