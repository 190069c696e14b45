package host

import (
	"fmt"
	"slices"

	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
)

// RuleLook is one rule that a change is held to, and what came of it.
type RuleLook struct {
	Code  Code             `json:"code"`  // that a run has when this is what ends it
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

// lookAt is a rule with the state of a tick in which it is looked at. Kind is the only
// kind of task that it is for; "" is any.
type lookAt struct {
	code  judge.Code
	state string
	kind  judge.TaskKind
	rule  string
}

// lawbook is what a tick's change has to pass, in the order in which it decides. The
// judge looks at all of its rules whichever is broken first, the others end the run.
var lawbook = []lookAt{
	{judge.StopVerifyTainted, "ORCHESTRATE", "", "the task's checks are known, and their parameters allowed"},
	{judge.StopBuilderTimeout, "BUILD", "", "the builder ended within its time"},
	{judge.StopBuilderOutputInvalid, "BUILD", "", "the builder's answer has its form"},
	{judge.StopRunnerOwned, "JUDGE", "", "relay's own files and git's folder are as they were"},
	{judge.StopForbidden, "JUDGE", "", "no forbidden path, name or kind of file"},
	{judge.StopOutsideAllowed, "JUDGE", "", "every path is in the task's scope"},
	{judge.StopNewFile, "JUDGE", "", "no new file, unless the task allows it"},
	{judge.StopLockfile, "JUDGE", "", "no lockfile, unless the task allows it"},
	{judge.StopDiffTooLarge, "JUDGE", "", "no more files and lines than the task allows"},
	{judge.StopQuestionChanged, "JUDGE", judge.Question, "a question changes nothing"},
	{judge.StopVerifyOnlyChanged, "JUDGE", judge.VerifyOnly, "a task that verifies changes nothing"},
	{judge.StopHeadMoved, "JUDGE", "", "HEAD, refs and these files were not changed by anybody else"},
	{judge.StopVerifyFailedFast, "VERIFY", "", "the fast checks pass"},
	{judge.StopVerifyFailedSlow, "VERIFY", "", "the slow checks pass"},
}

// looks tells rule by rule how a run came to its verdict; nil for one in which nothing was
// built, and for an end that no rule is about.
func looks(r *Report) []RuleLook {
	at := func(state string) bool {
		return r != nil && slices.ContainsFunc(r.States, func(s report.StateTime) bool { return s.State == state })
	}
	broken := slices.IndexFunc(lawbook, func(l lookAt) bool { return r != nil && l.code == r.Code })
	if !at("BUILD") && broken < 0 || r.Code != judge.Success && broken < 0 && !at("JUDGE") {
		return nil
	}
	var all []RuleLook
	for i, l := range lawbook {
		if l.kind != "" && string(l.kind) != r.Task.TaskKind {
			continue
		}
		look := RuleLook{Code: l.code, Rule: l.rule, State: RuleHeld}
		for _, h := range r.Rules {
			if h.Code == string(l.code) {
				look.Hits = append(look.Hits, h)
			}
		}
		look.Hits = append(look.Hits, checkHits(r, l.code)...)
		switch {
		case i == broken:
			look.State = RuleDecided
		case len(look.Hits) > 0:
			look.State = RuleBroken
		case !at(l.state) || broken >= 0 && i > broken && l.state == lawbook[broken].state && l.state != "JUDGE":
			look.State = RuleNotReached
		}
		all = append(all, look)
	}
	return all
}

// checkHits are the checks that failed, for the rule that they break.
func checkHits(r *Report, code judge.Code) (hits []report.RuleHit) {
	phase := map[judge.Code]string{judge.StopVerifyFailedFast: "fast", judge.StopVerifyFailedSlow: "slow"}[code]
	for _, v := range r.Verification.Runs {
		if v.Phase != phase || phase == "" || v.ExitCode == 0 && !v.TimedOut || v.Finding == "failed_before" || v.Finding == "flaky" {
			continue
		}
		what := fmt.Sprintf("the check %s failed with exit status %d", v.TemplateID, v.ExitCode)
		if v.TimedOut {
			what = "the check " + v.TemplateID + " ran out of time"
		}
		hits = append(hits, report.RuleHit{Code: string(code), Rule: what})
	}
	return hits
}
