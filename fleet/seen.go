package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/term"

	"github.com/paxiom/relay/fleet/internal/job"
)

// seen is a run as the engine knows it.
type seen struct {
	ID      string        `json:"id"`
	State   string        `json:"state"`
	Started time.Time     `json:"started"`
	Ended   time.Time     `json:"ended,omitzero"`
	About   *about        `json:"about,omitempty"` // where the blobs are not here, there is none
	Ask     *job.Ask      `json:"ask,omitempty"`
	Asks    *job.Question `json:"asks,omitempty"`
	Result  *job.Result   `json:"result,omitempty"`
	Error   string        `json:"error,omitempty"` // a blob; of one that is under way, why its last attempt failed
	Attempt int32         `json:"attempt,omitempty"`
	Next    time.Time     `json:"again_at,omitzero"` // when it is attempted again
	// Worker makes the run, or made it; Mirror is whether it had the repository.
	Worker string `json:"worker,omitempty"`
	Mirror string `json:"mirror,omitempty"`
	// Version is that of the workers that finish the run; Stuck is whether there is none.
	Version string `json:"version,omitempty"`
	Stuck   bool   `json:"stuck,omitempty"`
	Tasks   int    `json:"tasks,omitempty"` // of a pipeline that are under way
}

// about is what was asked for, without what a URL has of a password.
type about struct {
	Kind  string `json:"kind"`
	Repo  string `json:"repo"`
	Ref   string `json:"ref"`
	Key   string `json:"key"`
	Label string `json:"label,omitempty"`
	Goal  string `json:"goal,omitempty"`
	Task  string `json:"task,omitempty"` // of a pipeline
}

func (e *engine) about(digest string) *about {
	b, err := e.store().Get(digest)
	var s job.Spec
	if err != nil || json.Unmarshal(b, &s) != nil {
		return nil
	}
	if u, err := url.Parse(s.Remote); err == nil && u.User != nil {
		u.User = nil
		s.Remote = u.String()
	}
	return &about{s.Kind, s.Remote, s.Ref, s.Key, s.Label, s.Goal, s.Only}
}

// String is one line for a terminal.
func (s *seen) String() string {
	line := s.State
	if s.Attempt > 1 {
		line += fmt.Sprintf(", attempt %d; `relay fleet report %s` says why", s.Attempt, s.ID)
	}
	if s.Result != nil {
		line = s.Result.Code
	}
	if a := s.About; a != nil {
		line += fmt.Sprintf("  %s %s %s  %s", a.Kind, visible(a.Repo), a.Ref, a.Key)
	}
	if s.Stuck {
		line += "  waits for version " + visible(s.Version) + ", which no worker has; `relay fleet doctor` says what to do"
	} else if s.Worker != "" {
		line += "  on " + visible(s.Worker) + map[string]string{job.Here: ", which had the repository", job.Busy: ", which cloned it: the worker that has it was busy",
			job.Other: ", which cloned it: the worker that has it is of another version", job.None: ", which cloned it: no worker that has it answered"}[s.Mirror]
	} else if s.State == job.Running && s.Tasks > 0 {
		line += fmt.Sprintf("  tasks under way: %d", s.Tasks)
	} else if wait := time.Until(s.Next); s.State == job.Running && wait > 0 {
		line += "  again in " + wait.Round(time.Second).String()
	} else if s.State == job.Running && s.About != nil && s.About.Label != "" {
		line += "  waits for a free worker with the label " + s.About.Label
	} else if s.State == job.Running {
		line += "  waits for a free worker"
	}
	return fmt.Sprintf("%s  %s  %s\n", s.Started.Local().Format(time.DateTime), s.ID, line)
}

// runs are those that have not ended, and those that ended since, the newest first; since "" is ever.
func runs(ctx context.Context, e *engine, since string) ([]seen, error) {
	query := "WorkflowType = '" + job.RunType + "' AND ExecutionStatus != 'ContinuedAsNew'"
	if since != "" {
		age, err := parseAge(since)
		if err != nil {
			return nil, err
		}
		query += " AND (ExecutionStatus = 'Running' OR CloseTime > '" + time.Now().Add(-age).UTC().Format(time.RFC3339) + "')"
	}
	c, err := e.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	v, err := versionsOf(ctx, e, c)
	if err != nil {
		return nil, err
	}
	all, there := []seen{}, map[string]bool{}
	for page := []byte(nil); ; {
		list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: 500, NextPageToken: page})
		if err != nil {
			return nil, err
		}
		for _, x := range list.GetExecutions() {
			id := x.GetExecution().GetWorkflowId()
			if there[id] { // it was asked for again, since it had failed
				continue
			}
			there[id] = true
			m := memoOf(x.GetMemo())
			s := seen{ID: id, State: strings.ToLower(x.GetStatus().String()), Started: x.GetStartTime().AsTime(), About: e.about(m.Spec)}
			if s.State != job.Running {
				s.Ended = x.GetCloseTime().AsTime()
				s.end(ctx, c, x.GetExecution().GetRunId())
			} else if m.State != "" {
				s.Version = pinned(x.GetSearchAttributes().GetIndexedFields())
				if by := v.serves(s.Version); by != "" {
					s.Version, s.Stuck = by, v.Workers[by] == 0
				}
				if m.State == job.Running {
					if d, err := c.DescribeWorkflowExecution(ctx, s.ID, x.GetExecution().GetRunId()); err == nil {
						s.Attempt, s.Error = attempt(d, m)
						s.at(under(d))
						for _, a := range d.GetPendingActivities() {
							if next := a.GetNextAttemptScheduleTime(); next != nil {
								s.Next = next.AsTime()
							}
						}
					}
				}
				if s.State, s.Ask, s.Tasks = m.State, m.Ask, m.Tasks; s.Ask != nil {
					s.Asks, _ = question(e, s.Ask) // where the blobs are not here, the state says enough
				}
			}
			all = append(all, s)
		}
		if page = list.GetNextPageToken(); len(page) == 0 {
			return all, nil
		}
	}
}

// end is how a run ended.
func (s *seen) end(ctx context.Context, c client.Client, run string) {
	var res job.Result
	if err := c.GetWorkflow(ctx, s.ID, run).Get(ctx, &res); err == nil {
		s.Result = &res
		s.at(res)
	} else if app := (*temporal.ApplicationError)(nil); errors.As(err, &app) {
		s.Error = app.Message()
	}
}

// at notes where a run is made.
func (s *seen) at(res job.Result) {
	s.Worker, s.Mirror = strings.TrimPrefix(res.Worker, job.Pool+"@"), res.Mirror
}

// under is what the worker has said of a run that is under way.
func under(d *workflowservice.DescribeWorkflowExecutionResponse) (res job.Result) {
	for _, a := range d.GetPendingActivities() {
		if a.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED { // else it is what the one before said
			_ = job.Converter().FromPayloads(a.GetHeartbeatDetails(), &res)
		}
	}
	return res
}

// attempt is the number of the one under way, and why the one before it failed: a blob, or a few words of the engine.
func attempt(d *workflowservice.DescribeWorkflowExecutionResponse, m job.Memo) (n int32, why string) {
	for _, a := range d.GetPendingActivities() {
		n, why = a.GetAttempt(), a.GetLastFailure().GetMessage()
	}
	if m.Failed != "" {
		n, why = n+1, cmp.Or(why, m.Failed)
	}
	return n, why
}

func sinceFlag(cmd *cobra.Command, since *string, otherwise string) {
	cmd.Flags().StringVar(since, "since", otherwise, "of those that have ended, the runs of the last `DUR`: 12h, 7d")
}

func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 10000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if age, err := time.ParseDuration(text); err == nil && age > 0 {
		return age, nil
	}
	return 0, fmt.Errorf("--since %q is not a time: it is a number with h or d (fix: --since 12h)", text)
}

func newStatusCmd(e *engine) *cobra.Command {
	since := ""
	cmd := &cobra.Command{Use: "status", Short: "The runs that were asked for, the newest first, and what waits for you", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := runs(cmd.Context(), e, since)
			if err != nil {
				return err
			}
			text := ""
			for _, s := range all {
				text += s.String()
				if s.Asks != nil {
					text += asks(s.ID, s.Ask, s.Asks, false)
				}
			}
			if text == "" {
				text = "no runs in the last " + since + "\nnext: relay fleet submit run --repo URL --goal TEXT\n"
			}
			return e.print("status", map[string]any{"runs": all}, text)
		}}
	sinceFlag(cmd, &since, "24h")
	return cmd
}

// errWaits ends a command with exit code 1: something waits for the operator.
var errWaits = errors.New("something waits for you")

// summed are runs by how far they came, over all repositories.
type summed struct {
	Waiting  []seen    `json:"waiting"`
	Landed   []seen    `json:"landed"`
	Stopped  []seen    `json:"stopped"`
	Failed   []seen    `json:"failed"`
	UnderWay []seen    `json:"under_way"`
	Spend    job.Spend `json:"spend"`
}

func sum(all []seen) *summed {
	s := &summed{Waiting: []seen{}, Landed: []seen{}, Stopped: []seen{}, Failed: []seen{}, UnderWay: []seen{}}
	for _, r := range all {
		to := &s.Failed
		switch {
		case r.State == job.Waiting || r.Stuck:
			to = &s.Waiting
		case r.State == job.Queued || r.State == job.Running:
			to = &s.UnderWay
		case r.Result != nil && r.Result.ExitCode == 0:
			to = &s.Landed
		case r.Result != nil:
			to = &s.Stopped
		}
		*to = append(*to, r)
		if r.Result != nil {
			s.Spend.Add(r.Result.Spend)
		}
	}
	return s
}

// String is that for a terminal: what waits first.
func (s *summed) String() string {
	text := ""
	for _, g := range []struct {
		title, next string
		runs        []seen
	}{{"waits for you", "", s.Waiting}, {"failed: no result", "report", s.Failed}, {"stopped", "report", s.Stopped}, {"done", "", s.Landed}, {"under way", "", s.UnderWay}} {
		if len(g.runs) == 0 {
			continue
		}
		text += fmt.Sprintf("%s: %d\n", g.title, len(g.runs))
		for _, r := range g.runs {
			text += "  " + r.String()
			if r.Asks != nil {
				text += asks(r.ID, r.Ask, r.Asks, false)
			} else if g.next != "" {
				text += "    next: relay fleet " + g.next + " " + r.ID + "\n"
			}
		}
	}
	if text == "" {
		return "no runs since then\nnext: relay fleet submit run --repo URL --goal TEXT\n"
	}
	return text + "cost of those that have ended: " + s.Spend.String() + "\n"
}

// morning is the report over all repositories.
func morning(ctx context.Context, e *engine, since string) error {
	all, err := runs(ctx, e, since)
	if err != nil {
		return err
	}
	s := sum(all)
	if err := e.print("report", map[string]any{"since": since, "report": s}, s.String()); err != nil || len(s.Waiting) == 0 {
		return err
	}
	return errWaits
}

// fit is the part of a text that a screen has room for.
func fit(text string, width, height int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if more := len(lines) - height + 1; height > 1 && more > 0 {
		lines = append(lines[:height-1], fmt.Sprintf("and %d lines more: relay fleet report", more))
	}
	for i, l := range lines {
		if r := []rune(l); len(r) > width {
			lines[i] = string(r[:width])
		}
	}
	return strings.Join(lines, "\n")
}

func newWatchCmd(e *engine) *cobra.Command {
	once, since := false, ""
	cmd := &cobra.Command{Use: "watch", Short: "One screen over the runs of all repositories", Args: cobra.NoArgs,
		Example: "relay fleet watch\nrelay fleet watch --once; [ $? -eq 1 ] && echo \"something needs you\"",
		RunE: func(cmd *cobra.Command, _ []string) error {
			fd := int(os.Stdout.Fd())
			if once || e.json || !term.IsTerminal(fd) {
				return morning(cmd.Context(), e, since)
			}
			fmt.Print("\x1b[?1049h")
			defer fmt.Print("\x1b[?1049l")
			for {
				text := ""
				if all, err := runs(cmd.Context(), e, since); err != nil {
					text = "error: " + err.Error() + "\n"
				} else {
					text = sum(all).String()
				}
				if cmd.Context().Err() != nil {
					return nil
				}
				width, height, err := term.GetSize(fd)
				if err != nil {
					width, height = 80, 24
				}
				fmt.Print("\x1b[H\x1b[2J" + fit(time.Now().Format(time.TimeOnly)+"  Ctrl-C ends this\n"+text, width, height))
				select {
				case <-cmd.Context().Done():
					return nil
				case <-time.After(2 * time.Second):
				}
			}
		}}
	cmd.Flags().BoolVar(&once, "once", false, "print it once; exit code 1 when something waits for you")
	sinceFlag(cmd, &since, "12h")
	return cmd
}
