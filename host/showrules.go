package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/host/pipeline/answer"
	"github.com/paxiom/relay/judge"
)

// RuleLook is one rule that a change is held to, and what came of it.
type RuleLook struct {
	Code  Code             `json:"code"`  // that a run has when this is what ends it; "" where you decide about it
	Rule  string           `json:"rule"`  // in a sentence
	State RuleState        `json:"state"` // see the constants
	Hits  []report.RuleHit `json:"hits,omitempty"`
}

// RuleState is what came of a rule.
type RuleState string

// The states. The first rule that is broken decides; others can be broken, too.
const (
	RuleHeld       RuleState = "held"
	RuleDecided    RuleState = "decided"
	RuleBroken     RuleState = "broken"
	RuleNotReached RuleState = "not reached"
)

// lookAt is a rule with the stage in which it is looked at. Kind is the only kind of task
// that it is for; "" is any.
type lookAt struct {
	code  judge.Code
	stage string
	kind  judge.TaskKind
	rule  string
}

// The stages of all workflows. A workflow that does not have one has none of its rules.
const (
	stageGate     = "GATE"        // of a cycle: the plan's approval
	stagePlan     = "ORCHESTRATE" // of a tick
	stageBuild    = "BUILD"
	stageJudge    = "JUDGE"
	stageAnswer   = "ANSWER"   // what the builder says, once it is known what it did
	stageVerify   = "VERIFY"   // of a tick
	stageValidate = "VALIDATE" // of a task: its validation command
	stageCriteria = "CRITERIA" // of a task
	stageHidden   = "HIDDEN"   // where there are hidden checks
	stagePolicy   = "POLICY"   // where there is a policy as code
	stageTests    = "TESTS"    // of a cycle
)

// lawbook is what a change has to pass, in the order in which it decides. The judge looks
// at all of its rules whichever is broken first, the others end the run.
var lawbook = []lookAt{
	{"", stageGate, "", "plan, branch and audits are those that you approved"},
	{judge.StopVerifyTainted, stagePlan, "", "the task's checks are known, and their parameters allowed"},
	{judge.StopBuilderTimeout, stageBuild, "", "the builder ended within its time"},
	{judge.StopRunnerOwned, stageJudge, "", "relay's own files and git's folder are as they were"},
	{judge.StopForbidden, stageJudge, "", "no forbidden path, name or kind of file"},
	{judge.StopOutsideAllowed, stageJudge, "", "every path is in its scope"},
	{judge.StopNewFile, stageJudge, "", "no new file, unless that is allowed"},
	{judge.StopLockfile, stageJudge, "", "no lockfile, unless that is allowed"},
	{judge.StopDiffTooLarge, stageJudge, "", "no more files and lines than are allowed"},
	{judge.StopQuestionChanged, stageJudge, judge.Question, "a question changes nothing"},
	{judge.StopVerifyOnlyChanged, stageJudge, judge.VerifyOnly, "a task that verifies changes nothing"},
	{judge.StopHeadMoved, stageJudge, "", "HEAD, refs and these files were not changed by anybody else"},
	{judge.StopSecret, stageJudge, "", "no value of a credential that no box shows"},
	{judge.StopBuilderOutputInvalid, stageAnswer, "", "the builder's answer has its form"},
	{judge.StopVerifyFailedFast, stageVerify, "", "the fast checks pass"},
	{judge.StopVerifyFailedSlow, stageVerify, "", "the slow checks pass"},
	{judge.StopTestsMissing, stageVerify, "", "the tests that ran before ran again, and passed"},
	{judge.StopOldTestsFail, stageVerify, "", "the checks pass with the tests of the base, too"},
	{judge.StopVerifyFailedSlow, stageValidate, "", "the validation command passes"},
	{judge.StopTestsMissing, stageValidate, "", "the tests that ran before ran again, and passed"},
	{judge.StopOldTestsFail, stageValidate, "", "the validation command passes with the tests of the base, too"},
	{judge.StopHiddenFailed, stageHidden, "", "the hidden checks pass"},
	{judge.StopVerifyFailedSlow, stageCriteria, "", "every acceptance criterion is met"},
	{judge.StopPolicyForbidden, stagePolicy, "", "no rule of the policy forbids it"},
	{"", stagePolicy, "", "no rule of the policy asks you about it"},
	{"", stageTests, "", "the service's tests pass"},
}

// section is how far a change came through the stages of its workflow, and what was found
// broken there: the same of a tick, of an attempt at a task and of a revision.
type section struct {
	code   judge.Code
	kind   string
	stages map[string]bool // those that the workflow has; true: it came there
	hits   map[string][]report.RuleHit
}

// found notes what broke the rules of a stage.
func (p *section) found(stage string, hits ...report.RuleHit) {
	if p.hits == nil {
		p.hits = map[string][]report.RuleHit{}
	}
	p.hits[stage] = append(p.hits[stage], hits...)
}

// broke are the hits of one rule.
func (p *section) broke(l lookAt) (hits []report.RuleHit) {
	for _, h := range p.hits[l.stage] {
		if h.Code == string(l.code) {
			hits = append(hits, h)
		}
	}
	return hits
}

// looks tells rule by rule how a change came to its verdict; nil where nothing was built,
// and for an end that no rule is about.
func (p *section) looks() []RuleLook {
	if p == nil {
		return nil
	}
	law := slices.DeleteFunc(slices.Clone(lawbook), func(l lookAt) bool {
		_, has := p.stages[l.stage]
		return !has || l.kind != "" && string(l.kind) != p.kind
	})
	broken := p.decided(law)
	if !p.stages[stageBuild] && broken < 0 || p.code != judge.Success && broken < 0 && !p.stages[stageJudge] {
		return nil
	}
	var all []RuleLook
	for i, l := range law {
		look := RuleLook{Code: l.code, Rule: l.rule, State: RuleHeld, Hits: p.broke(l)}
		switch {
		case i == broken:
			look.State = RuleDecided
		case len(look.Hits) > 0:
			look.State = RuleBroken
		case !p.stages[l.stage] || broken >= 0 && i > broken && l.stage == law[broken].stage && (l.stage != stageJudge || l.code == judge.StopSecret): // looked for in what else may land
			look.State = RuleNotReached
		}
		all = append(all, look)
	}
	return all
}

// decided is the rule that ended it, -1 for none: the one of its code, of several that
// have the same the one that was broken; where it ended well the first that you decide
// about.
func (p *section) decided(law []lookAt) int {
	first := -1
	for i, l := range law {
		switch {
		case l.code != p.code && (l.code != "" || p.code != judge.Success):
		case len(p.broke(l)) > 0:
			return i
		case first < 0 && l.code != "":
			first = i
		}
	}
	return first
}

// ofRun is the section of a tick.
func ofRun(r *Report) *section {
	if r == nil {
		return nil
	}
	p := &section{code: r.Code, kind: r.Task.TaskKind, stages: map[string]bool{}}
	for _, stage := range []string{stagePlan, stageBuild, stageJudge, stageVerify} {
		p.stages[stage] = slices.ContainsFunc(r.States, func(s report.StateTime) bool { return s.State == stage })
	}
	p.stages[stageAnswer] = r.Code == judge.StopBuilderOutputInvalid || r.BuilderOutputValid != nil
	if v := r.BuilderOutputValid; v != nil && !*v && r.Code != judge.StopBuilderOutputInvalid {
		delete(p.stages, stageAnswer) // builder.claude_code.strict_builder_json is off
	}
	p.found(stageJudge, r.Rules...)
	p.checked(&r.Verification)
	p.policed(r.Policy, r.Code == judge.Success || r.Code == judge.StopPolicyForbidden)
	return p
}

// policed is what the policy as code found; there: the change came to it.
func (p *section) policed(of *report.Policy, there bool) {
	if of == nil {
		return
	}
	p.stages[stagePolicy] = there
	for _, h := range of.Hits {
		hit := report.RuleHit{Path: h.At, Rule: h.Rule + ": " + h.Message}
		switch {
		case h.Effect != "ask":
			hit.Code = string(judge.StopPolicyForbidden)
		case h.Approved:
			continue
		}
		p.found(stagePolicy, hit)
	}
}

// checked is what checks found.
func (p *section) checked(of *report.Verification) {
	if of.Hidden != "" {
		p.stages[stageHidden] = true
	}
	codes := map[string]judge.Code{"fast": judge.StopVerifyFailedFast, "slow": judge.StopVerifyFailedSlow}
	for _, v := range of.Runs {
		if code := codes[v.Phase]; code != "" && (v.ExitCode != 0 || v.TimedOut) && v.Finding != "failed_before" && v.Finding != "flaky" {
			p.found(stageVerify, failed(code, "the check "+v.TemplateID, v.ExitCode, v.TimedOut))
		} else if v.Tests != nil && code != "" {
			for _, why := range v.Tests.Problems {
				p.found(stageVerify, report.RuleHit{Code: string(code), Path: v.TemplateID, Rule: why})
			}
			for _, name := range v.Tests.Missing {
				if of.MissingAgreed {
					break
				}
				p.found(stageVerify, report.RuleHit{Code: string(judge.StopTestsMissing), Path: v.TemplateID, Rule: name})
			}
		}
	}
}

// failed is a command that did not pass, as a broken rule.
func failed(code judge.Code, what string, exit int, late bool) report.RuleHit {
	if late {
		return report.RuleHit{Code: string(code), Rule: what + " ran out of time"}
	}
	if exit < 0 {
		return report.RuleHit{Code: string(code), Rule: what + " was ended by a signal or a limit"}
	}
	return report.RuleHit{Code: string(code), Rule: fmt.Sprintf("%s failed with exit status %d", what, exit)}
}

// ofTask is the section of an attempt at a task that has ended.
func ofTask(t *TaskAttempt) *section {
	if t == nil || t.Code == "" {
		return nil
	}
	p := &section{code: t.Code, stages: map[string]bool{stageBuild: len(t.Sessions) > 0 || t.Judged != nil, stageJudge: t.Judged != nil,
		stageAnswer: t.Judged != nil && t.Judged.Code == judge.Success || t.Code == judge.StopBuilderOutputInvalid}}
	if t.Judged != nil {
		p.found(stageJudge, t.Judged.Rules...)
	}
	if what, _, _ := strings.Cut(t.Conflict, "\n"); what != "" && t.Code == judge.StopHeadMoved {
		p.found(stageJudge, report.RuleHit{Code: string(t.Code), Rule: what})
	}
	if len(t.Task.Validation.Command) > 0 {
		p.stages[stageValidate] = len(t.Checks) > 0
	}
	for i, c := range t.Checks {
		last := i == len(t.Checks)-1 // earlier ones were mended
		switch {
		case c.Hidden != "":
			p.stages[stageHidden] = true
		case !last || c.OK:
		case c.Code == judge.StopTestsMissing || c.Code == judge.StopOldTestsFail:
			p.found(stageValidate, report.RuleHit{Code: string(c.Code), Rule: c.Name() + ": " + c.Outcome})
		default:
			p.found(stageValidate, failed(judge.StopVerifyFailedSlow, c.Name(), c.ExitCode, c.TimedOut))
		}
	}
	if len(t.Task.AcceptanceCriteria) > 0 {
		p.stages[stageCriteria] = len(t.Criteria) > 0
	}
	p.policed(t.Policy, t.Code == judge.Success || t.Code == judge.StopPolicyForbidden)
	for i, c := range t.Criteria {
		if c.Verdict.Verdict == answer.No {
			p.found(stageCriteria, report.RuleHit{Code: string(judge.StopVerifyFailedSlow), Rule: fmt.Sprintf("criterion %d is not met: %s", i+1, c.Text)})
		}
	}
	return p
}

// ofCycle is the section of a cycle's revision, the last one; of one that did not come to
// its end, what is wrong with the cycle.
func ofCycle(c *Cycle) *section {
	p := &section{stages: map[string]bool{stageGate: true, stageBuild: true, stageJudge: false}}
	switch f := c.Revision; {
	case f != nil:
		p.code, p.stages[stageJudge], p.stages[stageAnswer] = cmp.Or(f.Code, judge.Success), f.Code != "", f.Code == judge.Success
		p.found(stageJudge, f.Rules...)
		if v := f.Verification; v != nil {
			p.stages[stageVerify] = true
			p.checked(v)
		}
	case c.Problem != nil:
		p.code, p.stages[stageAnswer] = c.Problem.Code, c.Problem.Code == judge.StopBuilderOutputInvalid
	default:
		return nil
	}
	if f := c.Revision; f != nil {
		p.policed(f.Policy, f.Code == judge.Success || f.Code == judge.StopPolicyForbidden)
	}
	if len(c.ConfigSnapshot.Cycle.TestCommand) > 0 {
		p.stages[stageTests] = c.Tests != nil
	}
	if t := c.Tests; t != nil && !t.Passed {
		p.found(stageTests, report.RuleHit{Rule: t.Text()})
	}
	return p
}

// RulesOf tells rule by rule how an attempt at a task came to its end.
func RulesOf(t *TaskAttempt) []RuleLook { return ofTask(t).looks() }

// rulesOfRun are those of a run of the history, whichever workflow made it.
func (o *Opened) rulesOfRun(m RunLine, r *Report) []RuleLook {
	attempts, _ := pipeline.Attempts(o.WS, m.TaskID) // without its trail a task has its report
	for _, t := range attempts {
		if t.RunID == m.RunID {
			return RulesOf(t)
		}
	}
	return ofRun(r).looks()
}
