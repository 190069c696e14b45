package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/paxiom/relay/fleet/internal/job"
)

var (
	keyPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	refPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$`)
)

func newSubmitCmd(e *engine) *cobra.Command {
	cmd := &cobra.Command{Use: "submit", Short: "Ask for a run"}
	var s job.Spec
	var task, label string
	run := &cobra.Command{
		Use:     "run",
		Short:   "Ask for one run of relay on a branch of a repository",
		Example: "relay fleet submit run --repo https://example.org/parser.git --ref main --goal \"accept empty input\" --key parser-1",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.Kind = "run"
			if err := check(&s, task); err != nil {
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
			j := job.New(s, digest, queueOf(label))
			_, err = c.SignalWithStartWorkflow(cmd.Context(), j.RepositoryID(), job.Signal(), j,
				client.StartWorkflowOptions{ID: j.RepositoryID(), TaskQueue: j.Queue}, job.RepositoryType)
			if err != nil {
				return fmt.Errorf("the server does not take it: %w (fix: `relay fleet doctor`)", err)
			}
			return e.print("submit", map[string]any{"id": j.ID, "key": s.Key}, fmt.Sprintf("%s asked for, with the key %s\nnext: relay fleet status\n", j.ID, s.Key))
		},
	}
	run.Flags().StringVar(&s.Remote, "repo", "", "the repository's `URL`, as git takes it")
	run.Flags().StringVar(&s.Ref, "ref", "main", "the branch that it is built on and lands on")
	run.Flags().StringVar(&s.Goal, "goal", "", "what you want: `TEXT` in your own words")
	run.Flags().StringVar(&task, "task", "", "take the task from `FILE` and make no planning call")
	run.Flags().StringVar(&s.Key, "key", "", "the run's `KEY`: asked for again with it, it is not made again; made of the rest where there is none")
	run.Flags().StringVar(&label, "label", "", "have a worker with `LABEL` make it")
	cmd.AddCommand(run)
	return cmd
}

// check completes a spec, or says what is wrong with it before anything is sent.
func check(s *job.Spec, task string) (err error) {
	if task != "" {
		if s.Task, err = os.ReadFile(task); err != nil {
			return fmt.Errorf("the task can't be read: %w (fix: `ls -l FILE`)", err)
		}
	}
	switch {
	case s.Remote == "" || strings.HasPrefix(s.Remote, "-"):
		return errors.New("it is not said which repository (fix: name it with --repo URL)")
	case !refPattern.MatchString(s.Ref) || strings.Contains(s.Ref, ".."):
		return fmt.Errorf("%q is no name of a branch (fix: `git branch` shows those that there are)", s.Ref)
	case s.Goal == "" && s.Task == nil:
		return errors.New("it is not said what to do (fix: name it with --goal TEXT or --task FILE)")
	}
	if s.Key == "" {
		b, _ := json.Marshal(s)
		s.Key = "fleet-" + job.Digest(b)[:20]
	}
	if !keyPattern.MatchString(s.Key) {
		return fmt.Errorf("%q is no key: it has up to 100 letters, digits, dots, dashes and underscores (fix: --key nightly-1, for example)", s.Key)
	}
	return nil
}
