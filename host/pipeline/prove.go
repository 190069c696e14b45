package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/durable"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/pipeline/answer"
	"github.com/paxiom/relay/host/pipeline/prd"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/schemas"
)

// proved is what the criteria step records.
type proved struct {
	Criteria []Criterion `json:"criteria"`
}

// prove holds the change to each acceptance criterion: by a provider that wrote none of
// it, whose evidence is looked up. What it is unsure of the operator decides.
func (a *taskRun) prove(f durable.Flow) error {
	if len(a.record.Task.AcceptanceCriteria) == 0 {
		return nil
	}
	r, err := do(a, f, "criteria", func(ctx context.Context, _ durable.Attempt) (proved, error) { return a.askCriteria(ctx) })
	if err != nil {
		return err
	}
	a.record.Criteria = r.Criteria
	unmet, unsure := sortCriteria(r.Criteria)
	a.left(fmt.Sprintf("%d of %d acceptance criteria are met", len(r.Criteria)-len(unmet)-len(unsure), len(r.Criteria)), len(unmet) > 0)
	if len(unmet) > 0 {
		return a.giveUp(f, a.unmet(unmet))
	}
	if len(unsure) == 0 {
		return nil
	}
	if err := a.keep(f, "keep"); err != nil {
		return err
	}
	q := Question{Name: "criteria", Kind: "criteria", Criteria: unsure, Text: "is it met? " + a.doubts(unsure)}
	d, err := a.consult(f, q)
	if err != nil {
		return err
	}
	a.record.Decisions = append(a.record.Decisions, d)
	for _, n := range unsure {
		c := &a.record.Criteria[n-1]
		c.ByOperator, c.Verdict.Verdict = true, answer.No
		if d.Yes {
			c.Verdict.Verdict = answer.Yes
		}
	}
	if !d.Yes {
		p := a.unmet(unsure)
		p.Salvage = change.KeptRef(a.record.RunID)
		return p
	}
	return a.rebase(f, "rebase")
}

// keep makes the commits of the change and puts them under a ref, while the operator is
// asked and the branch moves on.
func (a *taskRun) keep(f durable.Flow, name string) error {
	tip, err := do(a, f, name, func(ctx context.Context, at durable.Attempt) (string, error) {
		if tip := a.keptBefore(ctx); at.Again && tip != "" {
			return tip, a.throwAway()
		}
		if err := a.stand(ctx); err != nil {
			return "", err
		}
		tip, err := a.Change.Keep(ctx, a.message())
		if err != nil {
			return "", pluginenv.BoxFault(err)
		}
		return tip, a.throwAway()
	})
	a.record.Kept = tip
	return err
}

// keptBefore is what a keep that was cut off has kept already, maybe without its box; ""
// when there is nothing on top of where the attempt began.
func (a *taskRun) keptBefore(ctx context.Context) string {
	tip := change.Kept(ctx, a.At.Git, a.record.RunID)
	if tip == "" || tip == a.record.Base {
		return ""
	}
	if _, err := a.At.Git.Run(ctx, nil, "merge-base", "--is-ancestor", a.record.Base, tip); err != nil {
		return ""
	}
	return tip
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// rebase makes the kept commits again in a fresh box on the present tip of the branch, and
// tries the result. Commits that meet a conflict send the task back.
func (a *taskRun) rebase(f durable.Flow, name string) error {
	b, err := do(a, f, name, func(ctx context.Context, at durable.Attempt) (beginning, error) {
		b, err := a.begin(ctx, at)
		if err != nil {
			return b, err
		}
		if err := a.throwAway(); err != nil { // of a try that was cut off
			return b, diag.Internal(err)
		}
		if err := a.Begin(ctx, a.changeOptions(b.Base, b.Branch)); err != nil {
			return b, err
		}
		why, err := a.Change.Replay(ctx, a.record.Base, a.record.Kept)
		if err != nil {
			return b, pluginenv.BoxFault(err)
		}
		if why != "" {
			return b, lost("its commits meet later work: " + firstLine(why))
		}
		if _, err := a.look(ctx); err != nil {
			return b, err
		}
		return b, a.Change.Sync()
	})
	if err != nil {
		return err
	}
	a.record.Base, a.record.Branch = b.Base, b.Branch
	if a.record.Policy == nil {
		a.record.Policy = b.Policy
	}
	c, err := a.validate(f, len(a.record.Checks)+1)
	if err == nil && !c.OK {
		p := a.problem(c, ", on top of later work")
		p.Salvage, p.Fix = change.KeptRef(a.record.RunID), "`relay task retry "+a.record.TaskID+"`"
		return p
	}
	return err
}

func sortCriteria(all []Criterion) (unmet, unsure []int) {
	for i, c := range all {
		switch c.Verdict.Verdict {
		case answer.Yes:
		case answer.No:
			unmet = append(unmet, i+1)
		default:
			unsure = append(unsure, i+1)
		}
	}
	return unmet, unsure
}

// doubts names criteria with why nobody is sure of them.
func (a *taskRun) doubts(numbers []int) string {
	var parts []string
	for _, n := range numbers {
		c := a.record.Criteria[n-1]
		why := cmp.Or(c.Doubt, c.Why)
		parts = append(parts, fmt.Sprintf("%d. %s (%s)", n, oneLine(c.Text), oneLine(why)))
	}
	return format.Clip(strings.Join(parts, "; "), 2000)
}

// giveUp ends the task; what was built is kept where the operator can get at it.
func (a *taskRun) giveUp(f durable.Flow, p *Problem) error {
	_, err := do(a, f, "give-up", func(ctx context.Context, _ durable.Attempt) (bool, error) {
		if err := a.stand(ctx); err != nil {
			return false, err
		}
		return true, a.reject(ctx, p)
	})
	return err
}

func (a *taskRun) unmet(numbers []int) *Problem {
	return &Problem{Code: judge.StopVerifyFailedSlow, What: fmt.Sprintf("%d of %d acceptance criteria are not met", len(numbers), len(a.record.Criteria)),
		Why: a.doubts(numbers), Fix: "`relay task show " + a.record.TaskID + "`, then `relay task retry " + a.record.TaskID + "`"}
}

// maxTried bounds the commands that are run because evidence names them.
const maxTried = 5

func (a *taskRun) askCriteria(ctx context.Context) (proved, error) {
	diff, code, err := a.shown(ctx)
	if err != nil {
		return proved{}, err
	}
	var c *answer.Criteria
	got, err := a.ask(ctx, asking{role: roleCriteria, id: "criteria", schema: schemas.Bytes(schemas.PipelineCriteria),
		told: func(c prompts.Call) (prompts.Data, error) {
			return prompts.CriteriaData{Task: a.told(), Diff: diff, Code: code, Outputs: a.outputs(), ResultSchema: schemas.Bytes(schemas.PipelineCriteria), Call: c}, nil
		},
		read: func(text []byte) (err error) { c, err = answer.ReadCriteria(text); return err }})
	if err != nil {
		return proved{}, err
	}
	a.sameHands(got.Provider)
	w := answer.Witness{File: a.builtFile, Output: map[string]string{}}
	for _, o := range a.outputs() {
		w.Output[o.Command] = o.Text
	}
	if err := a.tryNamed(ctx, c, w.Output); err != nil {
		return proved{}, err
	}
	out := proved{}
	for i, v := range c.Settle(len(a.record.Task.AcceptanceCriteria), w) {
		v.Why = format.Clip(v.Why, 400)
		for j := range v.Evidence {
			v.Evidence[j].Quote = format.Clip(v.Evidence[j].Quote, 300)
		}
		v.Evidence = v.Evidence[:min(len(v.Evidence), 4)]
		out.Criteria = append(out.Criteria, Criterion{Text: format.Clip(a.record.Task.AcceptanceCriteria[i], 500), Provider: got.Provider, Verdict: v})
	}
	return out, nil
}

// tryNamed runs commands that evidence names and that nobody has run yet, each in a fresh
// box with the change. One that carries its own output in its words, or that fails, proves
// nothing and is left out.
func (a *taskRun) tryNamed(ctx context.Context, c *answer.Criteria, outputs map[string]string) error {
	n := 0
	for _, v := range c.Criteria {
		for _, e := range v.Evidence {
			if _, ran := outputs[e.Command]; e.Kind != "command" || ran || n == maxTried {
				continue
			}
			argv, err := prd.Split(e.Command)
			if err != nil || len(prd.Command(argv).Steps()) != 1 || carries(argv, e.Quote) {
				continue
			}
			n++
			check, text, err := a.try(ctx, fmt.Sprintf("evidence-%d", n), required{argv: argv})
			if err != nil {
				return err
			}
			if check.OK {
				outputs[e.Command] = text
			}
		}
	}
	return nil
}

// carries reports whether a command has the words of a quote itself, however they are cut
// and put together, or is one that prints nothing but its arguments.
func carries(argv []string, quote string) bool {
	bare := func(s string) string {
		return strings.Map(func(c rune) rune {
			if unicode.IsLetter(c) || unicode.IsDigit(c) {
				return c
			}
			return -1
		}, s)
	}
	whole, quote := strings.Join(argv, " "), strings.TrimSpace(quote)
	return strings.Contains(whole, quote) || bare(quote) != "" && strings.Contains(bare(whole), bare(quote)) ||
		len(argv) > 0 && slices.Contains([]string{"echo", "printf", "yes"}, path.Base(argv[0]))
}

// sameHands notes that the criteria were checked by the vendor whose builder wrote the
// code: where there is no other, that is better than nobody.
func (a *taskRun) sameHands(provider string) {
	for _, s := range a.record.Sessions {
		if pluginenv.Vendor(s.Builder) == pluginenv.Vendor(provider) {
			a.note(fmt.Sprintf("the criteria were checked by %s, whose builder %s worked on the code", provider, s.Builder))
			return
		}
	}
}
