package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/paxiom/relay/fleet/internal/job"
)

// seen is a run as the engine knows it.
type seen struct {
	ID      string      `json:"id"`
	State   string      `json:"state"`
	Started time.Time   `json:"started"`
	Result  *job.Result `json:"result,omitempty"`
	Error   string      `json:"error,omitempty"` // a blob
}

func newStatusCmd(e *engine) *cobra.Command {
	return &cobra.Command{Use: "status", Short: "The runs that were asked for, the newest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := e.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			list, err := c.ListWorkflow(cmd.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowType = '" + job.RunType + "'", PageSize: 100})
			if err != nil {
				return err
			}
			all, text := []seen{}, ""
			for _, x := range list.GetExecutions() {
				s := seen{ID: x.GetExecution().GetWorkflowId(), State: strings.ToLower(x.GetStatus().String()), Started: x.GetStartTime().AsTime()}
				line := s.State
				if s.State != "running" {
					var res job.Result
					if err := c.GetWorkflow(cmd.Context(), s.ID, x.GetExecution().GetRunId()).Get(cmd.Context(), &res); err == nil {
						s.Result, line = &res, res.Code
					} else if app := (*temporal.ApplicationError)(nil); errors.As(err, &app) {
						s.Error = app.Message()
						line += " " + s.Error
					}
				}
				all, text = append(all, s), text+fmt.Sprintf("%s  %s  %s\n", s.Started.Local().Format(time.DateTime), s.ID, line)
			}
			if text == "" {
				text = "no runs yet\nnext: relay fleet submit run --repo URL --goal TEXT\n"
			}
			return e.print("status", map[string]any{"runs": all}, text)
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
	return &cobra.Command{Use: "report ID", Short: "What relay said of a run, or why there is no result", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := e.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			var res job.Result
			digest := ""
			err = c.GetWorkflow(cmd.Context(), args[0], "").Get(cmd.Context(), &res)
			if app := (*temporal.ApplicationError)(nil); errors.As(err, &app) {
				digest, _ = strings.CutPrefix(app.Message(), "blob ")
			} else if err != nil {
				return fmt.Errorf("%s has no result: %w (fix: `relay fleet status`)", args[0], err)
			} else {
				digest = res.Report
			}
			b, err := e.store().Get(digest)
			if err != nil {
				return fmt.Errorf("its report can't be read: %w (fix: name the folder that the workers share with --blobs)", err)
			}
			fmt.Println(string(b))
			return nil
		}}
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
				say("the namespace "+e.namespace, err)
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
			return errors.New("something is missing: see above")
		}}
}
