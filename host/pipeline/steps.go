package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline/answer"
	"github.com/paxiom/relay/host/pipeline/memory"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/schemas"
)

// AgentsFile tells agents about the project.
const AgentsFile = "AGENTS.md"

// told is the task as every step is told it.
func (a *taskRun) told() prompts.PipelineTask {
	t, s := a.record.Task, a.request()
	return prompts.PipelineTask{ProductName: a.p.env.Config.ProductName, ID: t.ID, Title: t.Title, Description: t.Description, Notes: a.p.ownNotes(&t), Criteria: t.AcceptanceCriteria,
		Validation: t.Validation.Command, Agents: a.agents(), Earlier: a.earlier(),
		Allowed: s.Allowed, Forbidden: s.Forbidden, AllowNewFiles: s.NewFiles, AllowLockfileChanges: s.LockfileChanges, MaxFiles: s.MaxFiles, MaxLines: s.MaxLines}
}

// earlier is what became of the attempt before, and what the operator has said since.
func (a *taskRun) earlier() string {
	var b strings.Builder
	if before, err := a.before(); err == nil && before != nil && before.Code != "" && before.Code != judge.Success {
		fmt.Fprintf(&b, "An earlier attempt ended with %s: %s. %s\n", before.Code, before.Summary, before.Why)
	}
	if before, err := a.before(); err == nil && before != nil && before.Conflict != "" {
		fmt.Fprintf(&b, "What an earlier attempt built did not go together with what landed meanwhile:\n%s\n", before.Conflict)
	}
	for _, d := range a.record.Decisions {
		fmt.Fprintf(&b, "It was asked: %s\nThe operator answered: %s\n", d.Question, d.Text)
	}
	return b.String()
}

// before is the attempt before this one; nil when it is the first.
func (a *taskRun) before() (*Record, error) {
	all, err := Attempts(a.p.env.WS, a.record.TaskID)
	for i, t := range all {
		if t.Attempt == a.record.Attempt && i+1 < len(all) {
			return all[i+1], err
		}
	}
	return nil, err
}

// maxAgents is the longest AGENTS.md that is read, in bytes.
const maxAgents = 1 << 20

// agents is AGENTS.md as the commit has it on which the task is built, or while it is planned the newest, whatever the operator is
// writing into his own; "" where it has none.
func (a *taskRun) agents() string {
	b, err := a.At.Git.Run(context.Background(), nil, "cat-file", "blob", cmp.Or(a.record.Base, "HEAD")+":"+AgentsFile)
	if err != nil || len(b) > maxAgents {
		return ""
	}
	return string(b)
}

func (a *taskRun) memory() (*memory.Context, error) { return memory.Read(a.p.dir(memoryFile)) }

// words are the texts of a call of a role, by the operator's own templates where there are any.
func (a *taskRun) words(role, retry string, data func(prompts.Call) (prompts.Data, error)) (system, user string, err error) {
	ws := a.p.env.WS
	o, err := prompts.RoleOverride(func(rel string, max int64) ([]byte, error) { return beneath.ReadFile(ws.Root(), rel, max) }, ws.Rel()+"/prompts", role)
	if err != nil {
		return "", "", err
	}
	d, err := data(prompts.Call{RetryReason: retry, Override: o})
	if err != nil {
		return "", "", err
	}
	return prompts.Render(d)
}

// plan has the task planned. A question that the planner has is the operator's to answer.
func (a *taskRun) plan(f durable.Flow) error {
	for n := 1; ; n++ {
		facts, err := do(a, f, fmt.Sprintf("plan-%d", n), func(ctx context.Context, _ durable.Attempt) (PlanFacts, error) {
			return a.askPlan(ctx, n)
		})
		if err != nil {
			return err
		}
		a.record.Plan = &facts
		if facts.Question == "" {
			a.leave(fmt.Sprintf("%s: a plan for %s", facts.Provider, format.Count(len(facts.Files), "file")))
			return nil
		}
		a.leave(facts.Provider + " asks: " + facts.Question)
		if n == maxQuestions {
			return &Problem{Code: judge.BlockedOrchestrator, What: "the planner keeps asking", Why: facts.Question, Fix: "say it in the description of the task in " + TasksFile + ", then `relay task retry " + a.record.TaskID + "`"}
		}
		d, err := a.consult(f, Question{Name: fmt.Sprintf("question-%d", n), Kind: "plan", Text: facts.Question})
		if err != nil {
			return err
		}
		a.record.Decisions = append(a.record.Decisions, d)
	}
}

// maxQuestions is how often a planner may ask.
const maxQuestions = 3

func (a *taskRun) askPlan(ctx context.Context, n int) (PlanFacts, error) {
	past, err := a.memory()
	if err != nil {
		return PlanFacts{}, err
	}
	remembered, err := workspace.ReadFile(a.p.dir(memoryFile), memory.MaxBytes*3)
	if err != nil || len(past.Tasks) == 0 {
		remembered = nil
	}
	at, err := a.standing(ctx)
	if err != nil {
		return PlanFacts{}, err
	}
	files, err := a.At.Git.Run(ctx, nil, "-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "--full-tree", at.Base)
	if err != nil {
		return PlanFacts{}, diag.Internal(err)
	}
	done, err := a.show(ctx, at)
	if err != nil {
		return PlanFacts{}, err
	}
	defer done()
	var p *answer.Plan
	got, err := a.ask(ctx, asking{role: rolePlan, id: fmt.Sprintf("plan-%d", n), schema: schemas.Bytes(schemas.PipelinePlan),
		told: func(c prompts.Call) (prompts.Data, error) {
			return prompts.PlanData{Task: a.told(), Memory: string(remembered), Files: string(files), ResultSchema: schemas.Bytes(schemas.PipelinePlan), Call: c}, nil
		},
		read: func(text []byte) (err error) { p, err = answer.ReadPlan(text); return err }})
	if err != nil {
		return PlanFacts{}, err
	}
	text := []byte(report.SafeLines(p.Text()))
	facts := PlanFacts{Provider: got.Provider, Model: got.Model, SHA256: hashOf(text), Question: p.Question, File: a.p.env.WS.Rel() + "/" + rootDir + "/" + plansDir + "/" + a.record.TaskID + "_plan.md"}
	for _, s := range p.Steps {
		for _, file := range s.Files {
			if len(facts.Files) < maxPaths {
				facts.Files = append(facts.Files, file)
			}
		}
	}
	return facts, a.keepText(a.record.TaskID+"_plan.md", text)
}

// keepText writes a text for people, and for the steps after.
func (a *taskRun) keepText(name string, text []byte) error {
	if err := a.p.env.WS.MkdirAll(a.p.dir(plansDir)); err != nil {
		return err
	}
	return workspace.WriteFile(a.p.dir(plansDir, name), text)
}

// planText is the plan as it was made.
func (a *taskRun) planText() (string, error) {
	b, err := workspace.ReadFile(a.p.dir(plansDir, a.record.TaskID+"_plan.md"), 1<<20)
	if err != nil {
		return "", diag.Wrap(err, judge.BlockedCrashRecovery, "the plan of "+a.record.TaskID+" can't be read", "`relay task retry "+a.record.TaskID+"` starts over")
	}
	return string(b), nil
}

// code has the plan carried out.
func (a *taskRun) code(f durable.Flow) error {
	cfg := a.p.env.Config.Pipeline
	return a.build(f, building{role: roleCode, round: 1, limit: time.Duration(cfg.Code.SessionMinutes) * time.Minute, schema: schemas.Bytes(schemas.BuilderResult),
		told: func(r *prompts.Resume, c prompts.Call) (prompts.Data, error) {
			plan, err := a.planText()
			return prompts.CodeData{Task: a.told(), Plan: plan, Resume: r, ResultSchema: schemas.Bytes(schemas.BuilderResult), Call: c}, err
		},
		read: func(raw []byte, s *Session) (string, error) { // what it says is shown, and decides nothing
			tree, _ := strictjson.Decode(raw, 256<<10)
			said, _ := tree.(map[string]any)
			summary, _ := said["summary"].(string)
			s.Summary = format.Clip(summary, 1000)
			return "", nil
		},
		left: func() string {
			if files := a.untouched(); len(files) > 0 {
				return "files of the plan that are not changed yet: " + strings.Join(files, ", ")
			}
			return "every file of the plan is changed; compare them with it"
		}})
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
