package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/patch"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/pipeline/answer"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/schemas"
)

// reviewed is what a review step records.
type reviewed struct {
	Review Review    `json:"review"`
	Fresh  []Finding `json:"fresh"`
}

// review has the whole change reviewed by somebody who can only read. What an earlier
// round has found and refuted is not found again.
func (a *taskRun) review(f durable.Flow, round int) (Review, error) {
	name := fmt.Sprintf("review-%d", round)
	r, err := do(a, f, name, func(ctx context.Context, _ durable.Attempt) (reviewed, error) { return a.askReview(ctx, name, round) })
	if err != nil {
		return r.Review, err
	}
	a.record.Reviews, a.record.Findings = append(a.record.Reviews, r.Review), append(a.record.Findings, r.Fresh...)
	a.leave(fmt.Sprintf("%s: %s, %d of them new", r.Review.Provider, format.Count(r.Review.Found, "finding"), r.Review.New))
	return r.Review, nil
}

func (a *taskRun) askReview(ctx context.Context, name string, round int) (reviewed, error) {
	diff, code, err := a.shown(ctx)
	if err != nil {
		return reviewed{}, err
	}
	plan, err := a.planText()
	if err != nil {
		return reviewed{}, err
	}
	var found *answer.Review
	got, err := a.ask(ctx, asking{role: roleReview, id: name, schema: schemas.Bytes(schemas.PipelineReview),
		told: func(c prompts.Call) (prompts.Data, error) {
			return prompts.ReviewData{Task: a.told(), Plan: plan, Round: round, Diff: diff, Code: code, Outputs: append(a.outputs(), a.aboutTests()...),
				Findings: a.findings(func(Finding) bool { return true }), ResultSchema: schemas.Bytes(schemas.PipelineReview), Call: c}, nil
		},
		read: func(text []byte) (err error) { found, err = answer.ReadReview(text); return err }})
	if err != nil {
		return reviewed{}, err
	}
	out := reviewed{Review: Review{Round: round, Provider: got.Provider, Model: got.Model, Summary: found.Summary, Diff: hashOf([]byte(diff)), Found: len(found.Findings)}}
	for _, fd := range found.Findings {
		if i := slices.IndexFunc(a.record.Findings, func(o Finding) bool { return o.Same(fd) }); i >= 0 && a.record.Findings[i].Outcome == "refuted" {
			a.note(fmt.Sprintf("the review repeats %s, which was refuted: %s", a.record.Findings[i].ID, a.record.Findings[i].Why))
			continue
		}
		fd.Claim, fd.Evidence = format.Clip(fd.Claim, 600), format.Clip(fd.Evidence, 600) // the whole of it is with the answer
		out.Fresh = append(out.Fresh, Finding{ID: fmt.Sprintf("F%d", len(a.record.Findings)+len(out.Fresh)+1), Round: round, Finding: fd})
	}
	out.Review.New = len(out.Fresh)
	now := *a.record
	now.Reviews, now.Findings = append(slices.Clone(a.record.Reviews), out.Review), append(slices.Clone(a.record.Findings), out.Fresh...)
	return out, a.keepReview(&now)
}

// shown gives the change for those who only read it: as a patch, and the changed files
// with their lines numbered.
func (a *taskRun) shown(ctx context.Context) (diff, code string, err error) {
	if _, err := a.open(ctx); err != nil {
		return "", "", err
	}
	if _, err := a.look(ctx); err != nil {
		return "", "", err
	}
	patch, err := patch.Bytes(a.Change.Left)
	if err != nil {
		return "", "", diag.Internal(err)
	}
	var b strings.Builder
	for _, ch := range a.Change.Touched().Changes {
		if ch.Ignored || ch.Kind == judge.Deleted || !ch.NewMode.IsRegular() || b.Len() > maxCode {
			continue
		}
		text, ok := a.builtFile(ch.Path)
		if !ok || strings.ContainsRune(text, 0) {
			continue
		}
		fmt.Fprintf(&b, "=== %s\n", ch.Path)
		for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			fmt.Fprintf(&b, "%5d  %s\n", n+1, strings.TrimRight(line, "\r"))
		}
	}
	return string(patch), b.String(), nil
}

// maxCode bounds the changed files that a prompt shows, in bytes.
const maxCode = 400_000

// builtFile reads a file as it would land: of the box where the change has it, of the
// checkout otherwise.
func (a *taskRun) builtFile(path string) (string, bool) {
	const most = 4 << 20
	for _, ch := range a.Change.Touched().Changes {
		if ch.Path != path {
			continue
		}
		if ch.Kind == judge.Deleted || !ch.NewMode.IsRegular() {
			return "", false
		}
		r, err := a.Change.Box().Open(path)
		if err != nil {
			return "", false
		}
		defer r.Close()
		b, err := io.ReadAll(io.LimitReader(r, most))
		return string(b), err == nil
	}
	b, err := a.At.Git.Run(context.Background(), nil, "cat-file", "blob", a.record.Base+":"+path)
	return string(b[:min(len(b), most)]), err == nil
}

// findings are those that match, as a prompt tells them.
func (a *taskRun) findings(match func(Finding) bool) []prompts.Finding {
	var out []prompts.Finding
	for _, f := range a.record.Findings {
		if match(f) {
			out = append(out, prompts.Finding{ID: f.ID, Severity: f.Severity, File: f.File, Line: f.Line, Claim: f.Claim, Evidence: f.Evidence, Outcome: f.Outcome, Why: f.Why})
		}
	}
	return out
}

func open(f Finding) bool { return f.Outcome == "" }

// cleanup has the findings dealt with and the work committed. Each finding gets an
// outcome.
func (a *taskRun) cleanup(f durable.Flow, round int, failed Check) error {
	cfg := a.p.env.Config.Pipeline
	limit := a.p.o.Session
	if limit <= 0 {
		limit = time.Duration(cfg.Cleanup.SessionMinutes) * time.Minute
	}
	err := a.build(f, building{role: roleCleanup, round: round, limit: limit, schema: schemas.Bytes(schemas.PipelineCleanup),
		told: func(r *prompts.Resume, c prompts.Call) (prompts.Data, error) {
			plan, err := a.planText()
			if err != nil {
				return nil, err
			}
			past, err := a.memory()
			if err != nil {
				return nil, err
			}
			var outputs []prompts.Output
			if !failed.OK {
				outputs = a.outputs()
			}
			return prompts.CleanupData{Task: a.told(), Plan: plan, Findings: a.findings(open), Outputs: outputs, Memory: past.Summary, Resume: r,
				ResultSchema: schemas.Bytes(schemas.PipelineCleanup), Call: c}, nil
		},
		read: a.readCleanup,
		left: func() string {
			var ids []string
			for _, fd := range a.findings(open) {
				ids = append(ids, fd.ID)
			}
			text := "a last commit feat: complete " + oneLine(a.record.Task.Title)
			if len(ids) > 0 {
				text = "an outcome for each of " + strings.Join(ids, ", ") + "; " + text
			}
			return text
		}})
	if err != nil {
		return err
	}
	return a.keepReview(a.record)
}

// readCleanup reads what a builder says of its cleanup. A finding that it gives no outcome
// for is open.
func (a *taskRun) readCleanup(raw []byte, s *Session) (left string, invalid error) {
	c, err := answer.ReadCleanup(raw)
	if err != nil {
		return "", err
	}
	s.Summary, s.Memory = format.Clip(c.Summary, 1000), format.Clip(c.Memory, 500)
	var ids []string
	for _, fd := range a.findings(open) {
		ids = append(ids, fd.ID)
	}
	for _, o := range c.Findings {
		if slices.Contains(ids, o.ID) {
			o.Why = format.Clip(o.Why, 400)
			s.Outcomes = append(s.Outcomes, o)
		}
	}
	if none := c.Open(ids); len(none) > 0 {
		return "it gave no outcome for " + strings.Join(none, ", "), nil
	}
	return "", nil
}

// deal gives the findings their outcomes.
func (a *taskRun) deal(s Session) {
	for _, o := range s.Outcomes {
		for i := range a.record.Findings {
			if fd := &a.record.Findings[i]; fd.ID == o.ID && fd.Outcome == "" {
				fd.Outcome, fd.Why = o.Outcome, o.Why
			}
		}
	}
	if s.Memory != "" {
		a.record.Memory = s.Memory
	}
}

// keepReview writes plans/<id>_review.md and .json: all rounds with their findings and
// outcomes.
func (a *taskRun) keepReview(t *Record) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Review of %s\n", report.Text(t.TaskID))
	for _, r := range t.Reviews {
		fmt.Fprintf(&b, "\n## Round %d, by %s\n\n%s\n", r.Round, report.Text(r.Provider), report.Text(r.Summary))
		for _, fd := range t.Findings {
			if fd.Round != r.Round {
				continue
			}
			outcome := "open"
			if fd.Outcome != "" {
				outcome = fd.Outcome + ": " + fd.Why
			}
			fmt.Fprintf(&b, "\n### %s: %s, %s:%d\n\n- claim: %s\n- evidence: %s\n- outcome: %s\n", fd.ID, report.Text(fd.Severity), report.Text(fd.File), fd.Line,
				report.Text(fd.Claim), report.Text(fd.Evidence), report.Text(outcome))
		}
	}
	raw, err := json.MarshalIndent(map[string]any{"schema_version": 1, "task_id": t.TaskID, "attempt": t.Attempt, "reviews": t.Reviews, "findings": t.Findings}, "", "  ")
	if err != nil {
		return diag.Internal(err)
	}
	if err := a.keepText(t.TaskID+"_review.json", append(raw, '\n')); err != nil {
		return err
	}
	return a.keepText(t.TaskID+"_review.md", b.Bytes())
}
