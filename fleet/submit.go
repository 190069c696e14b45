package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/paxiom/relay/fleet/internal/job"
)

var (
	keyPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$`) // relay's own, with room for what its ticks and answers add
	refPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$`)
)

func newSubmitCmd(e *engine) *cobra.Command {
	cmd := &cobra.Command{Use: "submit", Short: "Ask for a run, a loop, an audit or a pipeline"}
	for _, kind := range []struct {
		name, short, example string
		flags                func(*cobra.Command, *job.Spec, *asked)
	}{
		{job.KindRun, "one run of relay", `--goal "accept empty input" --key parser-1`, func(c *cobra.Command, s *job.Spec, a *asked) {
			c.Flags().StringVar(&s.Goal, "goal", "", "what you want: `TEXT` in your own words")
			c.Flags().StringVar(&a.task, "task", "", "take the task from `FILE` and make no planning call")
		}},
		{job.KindLoop, "run after run", `--goal "make the tests pass" --mode milestone --max-ticks 10`, func(c *cobra.Command, s *job.Spec, a *asked) {
			c.Flags().StringVar(&s.Goal, "goal", "", "what you want: `TEXT` in your own words")
			c.Flags().StringVar(&s.Mode, "mode", "milestone", "`MODE`: task, milestone or autonomous")
			c.Flags().IntVar(&s.MaxTicks, "max-ticks", 0, "make at most `N` ticks")
			c.Flags().StringVar(&a.until, "until", "", "begin no tick after `TIME`: \"2026-01-31 07:00\", or RFC 3339")
			c.Flags().Float64Var(&s.MaxCostUSD, "max-cost-usd", 0, "begin no tick that could bring the loop over `X` dollars on its worker")
		}},
		{job.KindAudit, "an audit cycle, whose gates wait for you", `--service A-202`, func(c *cobra.Command, s *job.Spec, _ *asked) {
			c.Flags().StringVar(&s.Service, "service", "", "audit this `SERVICE`")
		}},
		{job.KindPipeline, "the tasks of prd.json", `--parallel 2`, func(c *cobra.Command, s *job.Spec, _ *asked) {
			c.Flags().StringVar(&s.Only, "only", "", "work on this `TASK` alone")
			c.Flags().IntVar(&s.Parallel, "parallel", 0, "make at most `N` tasks at a time")
		}},
	} {
		s, a := &job.Spec{Kind: kind.name}, &asked{}
		c := &cobra.Command{Use: kind.name, Short: "Ask for " + kind.short + " on a branch of a repository", Args: cobra.NoArgs,
			Example: "relay fleet submit " + kind.name + " --repo https://example.org/parser.git --ref main " + kind.example,
			RunE:    func(cmd *cobra.Command, _ []string) error { return submit(cmd, e, s, a) }}
		c.Flags().StringVar(&s.Remote, "repo", "", "the repository's `URL`, as git takes it")
		c.Flags().StringVar(&s.Ref, "ref", "main", "the branch that it is built on and lands on")
		kind.flags(c, s, a)
		c.Flags().StringVar(&s.Key, "key", "", "its `KEY`: asked for again with it, it is not made again; made of the rest where there is none")
		c.Flags().StringVar(&s.Label, "label", "", "have a worker with `LABEL` make it")
		cmd.AddCommand(c)
	}
	return cmd
}

// asked is what of a command line is no part of the spec as it is.
type asked struct {
	task, until string
}

// submit starts the run's workflow, which waits for its turn, and puts it into its
// repository's queue. A submit that is cut off between the two is done again by the same command.
func submit(cmd *cobra.Command, e *engine, s *job.Spec, a *asked) error {
	if err := check(s, a); err != nil {
		return err
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	c, err := e.dial(cmd.Context())
	if err != nil {
		return err
	}
	defer c.Close()
	digest, err := e.store().Put(raw)
	if err != nil {
		return err
	}
	j := job.New(*s, digest, queueOf(s.Label))
	_, err = c.ExecuteWorkflow(cmd.Context(), client.StartWorkflowOptions{ID: j.ID, TaskQueue: job.Workflows, WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY, Memo: map[string]any{job.MemoKey: job.Memo{Spec: digest, State: job.Queued}}}, job.RunType, j)
	text := "%s asked for, with the key %s\nnext: relay fleet status\n"
	if there := (*serviceerror.WorkflowExecutionAlreadyStarted)(nil); errors.As(err, &there) {
		d, derr := c.DescribeWorkflowExecution(cmd.Context(), j.ID, "")
		if derr == nil && memoOf(d.GetWorkflowExecutionInfo().GetMemo()).Spec != digest {
			return fmt.Errorf("the key %s is taken: %s has it, for another goal or other limits (fix: give this one its own key; `relay fleet report %s` has the other)", s.Key, j.ID, j.ID)
		}
		text, err = "%s was asked for before, with the key %s; nothing is made again\nnext: relay fleet status\n", derr
	}
	if err == nil {
		_, err = c.SignalWithStartWorkflow(cmd.Context(), j.RepositoryID(), job.QueueSignal, j.ID, client.StartWorkflowOptions{ID: j.RepositoryID(), TaskQueue: job.Workflows}, job.RepositoryType, []string(nil))
	}
	if err != nil {
		return fmt.Errorf("the server does not take it: %w (fix: `relay fleet doctor`)", err)
	}
	return e.print("submit", map[string]any{"id": j.ID, "key": s.Key}, fmt.Sprintf(text, j.ID, s.Key))
}

// modes are those of a loop.
var modes = []string{"task", "milestone", "autonomous"}

// farAway is a repository as git takes it that is not a folder of this machine.
var farAway = regexp.MustCompile(`^([a-z][a-z0-9+]*://|[^/:]+:[^:])`)

// checkRemote has a folder of this machine named so that it is found from elsewhere on it.
func checkRemote(s *job.Spec) error {
	if s.Remote == "" || strings.HasPrefix(s.Remote, "-") {
		return errors.New("it is not said which repository (fix: name it with --repo URL)")
	}
	if farAway.MatchString(s.Remote) {
		return nil
	}
	if info, err := os.Stat(s.Remote); err != nil || !info.IsDir() {
		return fmt.Errorf("%q is neither a URL nor a folder here (fix: --repo https://example.org/parser.git, or file:///srv/parser.git for a folder of the workers)", s.Remote)
	}
	abs, err := filepath.Abs(s.Remote)
	s.Remote = abs
	head, none := os.ReadFile(filepath.Join(abs, ".git", "HEAD"))
	if none == nil && strings.TrimSpace(string(head)) == "ref: refs/heads/"+s.Ref {
		if deny, _ := exec.Command("git", "-C", abs, "config", "receive.denyCurrentBranch").Output(); strings.TrimSpace(string(deny)) != "updateInstead" {
			return fmt.Errorf("what is made can't be pushed to %s: its branch %s is checked out there (fix: `git clone --bare %s FOLDER` and --repo FOLDER, or another --ref)", abs, s.Ref, abs)
		}
	}
	return err
}

// check completes a spec, or says what is wrong with it before anything is sent.
func check(s *job.Spec, a *asked) (err error) {
	if a.task != "" {
		if s.Task, err = os.ReadFile(a.task); err != nil {
			return fmt.Errorf("the task can't be read: %w (fix: `ls -l FILE`)", err)
		}
	}
	if a.until != "" {
		if s.Until, err = time.ParseInLocation("2006-01-02 15:04", a.until, time.Local); err != nil {
			s.Until, err = time.Parse(time.RFC3339, a.until)
		}
		if err != nil {
			return fmt.Errorf("%q is not a time (fix: --until \"2026-01-31 07:00\", for example)", a.until)
		}
		s.Until = s.Until.UTC()
	}
	if err := checkLabel(s.Label); err != nil {
		return err
	}
	if err := checkRemote(s); err != nil {
		return err
	}
	switch {
	case !refPattern.MatchString(s.Ref) || strings.Contains(s.Ref, ".."):
		return fmt.Errorf("%q is not a valid branch name (fix: `git branch` shows those that there are)", s.Ref)
	case s.Kind == job.KindRun && s.Goal == "" && s.Task == nil:
		return errors.New("it is not said what to do (fix: name it with --goal TEXT or --task FILE)")
	case s.Kind == job.KindLoop && !slices.Contains(modes, s.Mode):
		return fmt.Errorf("%q is no mode of a loop: it is one of %s (fix: --mode milestone, for example)", s.Mode, strings.Join(modes, ", "))
	case s.Kind == job.KindLoop && s.Goal == "":
		return errors.New("it is not said what to do (fix: name it with --goal TEXT)")
	case s.Kind == job.KindAudit && s.Service == "":
		return errors.New("it is not said which service (fix: name it with --service SERVICE)")
	case s.MaxTicks < 0 || s.MaxCostUSD < 0 || s.Parallel < 0:
		return fmt.Errorf("a limit is more than 0 (fix: `relay fleet submit %s --help`)", s.Kind)
	}
	if s.Key == "" {
		b, _ := json.Marshal(s)
		s.Key = "fleet-" + job.Digest(b)[:20]
	}
	if !keyPattern.MatchString(s.Key) {
		return fmt.Errorf("%q is no key: it has up to 80 letters, digits, dots, dashes and underscores (fix: --key nightly-1, for example)", s.Key)
	}
	return nil
}
