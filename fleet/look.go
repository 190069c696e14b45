package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/paxiom/relay/fleet/internal/job"
)

func memoOf(m *commonpb.Memo) (v job.Memo) {
	if p := m.GetFields()[job.MemoKey]; p != nil {
		_ = job.Converter().FromPayload(p, &v) // what is no memo of ours says nothing
	}
	return v
}

func question(e *engine, a *job.Ask) (*job.Question, error) {
	b, err := e.store().Get(a.Question)
	q := &job.Question{}
	if err == nil {
		err = json.Unmarshal(b, q)
	}
	if err != nil {
		return nil, unread("the question", err)
	}
	return q, nil
}

// unread is an error about a blob that is not here, or has another key.
func unread(what string, err error) error {
	if !strings.Contains(err.Error(), "(fix: ") {
		err = fmt.Errorf("%w (fix: name the folder that the workers share with --blobs)", err)
	}
	return fmt.Errorf("%s can't be read: %w", what, err)
}

// asks is a question for a terminal: its first line unless all of it is wanted, the choices, and what to type.
func asks(id string, a *job.Ask, q *job.Question, whole bool) string {
	prompt, rest, more := strings.Cut(q.Prompt, "\n")
	text := "    " + visible(prompt) + "\n"
	if whole && more {
		text += "\n" + visible(rest) + "\n\n"
	} else if more {
		text += "    (relay fleet report " + id + " shows all of it)\n"
	}
	for i, c := range q.Choices {
		text += fmt.Sprintf("    %d. %s\n", i+1, visible(c))
	}
	word := "TEXT"
	if a.Choices > 0 {
		word = "NUMBER"
	}
	return text + "    next: relay fleet answer " + id + " " + word + "\n"
}

// visible is a text without what would move a terminal: models wrote parts of it.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' { // as ssh ends its lines
			return -1
		} else if unicode.IsGraphic(r) && !unicode.Is(unicode.Bidi_Control, r) || r == '\n' || r == '\t' {
			return r
		}
		return '\uFFFD'
	}, s)
}

func newAnswerCmd(e *engine) *cobra.Command {
	return &cobra.Command{Use: "answer ID ANSWER", Short: "Answer what a run asks; a number is one of its choices", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, text := args[0], strings.TrimSpace(args[1])
			c, err := e.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			d, err := c.DescribeWorkflowExecution(cmd.Context(), id, "")
			m := memoOf(d.GetWorkflowExecutionInfo().GetMemo())
			switch {
			case err == nil && d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
				return fmt.Errorf("%s has ended (fix: `relay fleet report %s`)", id, id)
			case err != nil || m.Ask == nil:
				return fmt.Errorf("%q asks nothing (fix: `relay fleet status` shows what waits)", id)
			}
			q, err := question(e, m.Ask)
			if err != nil {
				return err
			}
			a := job.Answer{Question: m.Ask.Question}
			if n, err := strconv.Atoi(text); err == nil && len(q.Choices) > 0 {
				a.Choice = n
			} else if i := slices.Index(q.Choices, text); i >= 0 {
				a.Choice = i + 1
			} else if m.Ask.Only || text == "" {
				return fmt.Errorf("%q is no choice of %s: it is one of %s (fix: `relay fleet status`)", text, id, strings.Join(q.Choices, ", "))
			} else if a.Text, err = e.store().Put([]byte(text)); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), 20*time.Second)
			defer cancel()
			h, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{WorkflowID: id, UpdateName: job.AnswerUpdate, Args: []any{a}, WaitForStage: client.WorkflowUpdateStageCompleted})
			if err == nil {
				err = h.Get(ctx, nil)
			}
			gone, app := (*serviceerror.NotFound)(nil), (*temporal.ApplicationError)(nil)
			switch {
			case err == nil:
				return e.print("answer", map[string]any{"id": id}, id+" continues\nnext: relay fleet status\n")
			case errors.As(err, &gone):
				return fmt.Errorf("%s has ended (fix: `relay fleet report %s`)", id, id)
			case errors.As(err, &app):
				return fmt.Errorf("%s does not take the answer: %s (fix: `relay fleet status`)", id, app.Message())
			case ctx.Err() != nil:
				return errors.New("no worker takes the answer; it may be taken when one is back (fix: `relay fleet worker`, then `relay fleet status`)")
			}
			return err
		}}
}

func newStopCmd(e *engine) *cobra.Command {
	return &cobra.Command{Use: "stop ID", Short: "End a run and all its processes", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := e.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			if err := c.CancelWorkflow(cmd.Context(), args[0], ""); err != nil {
				if gone := (*serviceerror.NotFound)(nil); errors.As(err, &gone) {
					return fmt.Errorf("no run %q is under way (fix: `relay fleet status`)", args[0])
				}
				return err
			}
			return e.print("stop", map[string]any{"id": args[0]}, "asked to end "+args[0]+"\n")
		}}
}

func newReportCmd(e *engine) *cobra.Command {
	since := ""
	cmd := &cobra.Command{Use: "report [ID]", Short: "What landed, stopped and waits, over all repositories; or what relay said of one run", Args: cobra.MaximumNArgs(1),
		Long:    "Without an ID: the runs of the last while, grouped by how they ended, and what they cost. Ends with exit\ncode 1 while something waits for you. With one: what relay said of it, or why there is no result.",
		Example: "relay fleet report --since 7d\nrelay fleet report relay-run-0a1b2c3d4e5f6a7b8c9d",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return morning(cmd.Context(), e, since)
			}
			c, err := e.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			d, err := c.DescribeWorkflowExecution(cmd.Context(), args[0], "")
			if err != nil {
				return fmt.Errorf("there is no run %q (fix: `relay fleet status`)", args[0])
			}
			m := memoOf(d.GetWorkflowExecutionInfo().GetMemo())
			digest := m.Report
			if d.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
				if n, why := attempt(d, m); m.Ask == nil && n > 1 {
					if b, err := e.store().Get(strings.TrimPrefix(why, "blob ")); err == nil {
						why = string(b)
					}
					return fmt.Errorf("%s has no result yet: attempt %d is under way or waits, and the one before ended so: %s (fix: `relay fleet stop %s` if it can't get further)", args[0], n, visible(why), args[0])
				} else if m.Ask == nil {
					return fmt.Errorf("%s has no result yet: it is %s (fix: `relay fleet status`)", args[0], m.State)
				}
				if !e.json {
					q, err := question(e, m.Ask)
					if err == nil {
						_, err = fmt.Print(asks(args[0], m.Ask, q, true))
					}
					return err
				}
			} else if digest, err = ended(cmd.Context(), c, args[0]); temporal.IsCanceledError(err) {
				return fmt.Errorf("%s has no result: it was stopped (fix: submit it again; the same key will do)", args[0])
			} else if err != nil {
				return fmt.Errorf("%s has no result: %w (fix: `relay fleet status`)", args[0], err)
			}
			b, err := e.store().Get(digest)
			if err != nil {
				return unread("its report", err)
			}
			if e.json && !json.Valid(b) {
				return e.print("report", map[string]any{"id": args[0], "error": string(b)}, "")
			} else if e.json {
				fmt.Println(string(b))
				return nil
			}
			fmt.Print(told(args[0], b))
			return nil
		}}
	sinceFlag(cmd, &since, "12h")
	return cmd
}

func newCostCmd(e *engine) *cobra.Command {
	return &cobra.Command{Use: "cost", Short: "What the runs have cost, over all repositories, by the workers' books", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := runs(cmd.Context(), e, "")
			if err != nil {
				return err
			}
			type line struct {
				ID string `json:"id"`
				job.Spend
			}
			lines, total, text := []line{}, job.Spend{}, ""
			for _, s := range all {
				if s.Result != nil && s.Result.Spend.Calls > 0 {
					lines, text = append(lines, line{s.ID, s.Result.Spend}), text+s.ID+"  "+s.Result.Spend.String()+"\n"
					total.Add(s.Result.Spend)
				}
			}
			return e.print("cost", map[string]any{"lines": lines, "total": total}, text+"total  "+total.String()+"\n")
		}}
}

// ended is the blob with what a run said, or why it failed.
func ended(ctx context.Context, c client.Client, id string) (string, error) {
	var res job.Result
	err := c.GetWorkflow(ctx, id, "").Get(ctx, &res)
	if app := (*temporal.ApplicationError)(nil); errors.As(err, &app) {
		digest, _ := strings.CutPrefix(app.Message(), "blob ")
		return digest, nil
	}
	return res.Report, err
}

func newDoctorCmd(e *engine) *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Whether the server, the folder of blobs and relay can be used", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var lines []string
			ok := true
			say := func(what string, err error) {
				mark := "ok   "
				if err != nil {
					ok, mark, what = false, "error", what+": "+err.Error()
				}
				lines = append(lines, mark+" "+what)
			}
			c, err := e.dial(cmd.Context())
			say("the server at "+e.address, err)
			if err == nil {
				defer c.Close()
				_, err = c.WorkflowService().DescribeNamespace(cmd.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: e.namespace})
				if none := (*serviceerror.NamespaceNotFound)(nil); errors.As(err, &none) {
					err = errors.New("the server has none of that name (fix: --namespace names another)")
				}
				say("the namespace "+e.namespace, err)
				if err != nil {
					// nothing else can be asked there
				} else if v, err := versionsOf(cmd.Context(), e, c); err != nil {
					say("the versions of workers", err)
				} else {
					v.checks(cmd.Context(), e, c, say)
				}
			}
			digest, err := e.store().Put([]byte("relay fleet doctor\n"))
			if err == nil {
				_, err = e.store().Get(digest)
			}
			say("blobs in "+e.blobs, err)
			relay, err := findRelay("")
			say("the program relay "+relay, err)
			if err := e.print("doctor", map[string]any{"ok": ok, "checks": lines}, strings.Join(lines, "\n")+"\n"); err != nil || ok {
				return err
			}
			return errors.New("something is missing (fix: as the lines above say, then `relay fleet doctor`)")
		}}
}
