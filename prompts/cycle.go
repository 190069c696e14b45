package prompts

import (
	"fmt"
	"strings"
)

// Caps of the sections of audit cycles, in characters. What auditors read is bounded
// by the service's own caps, which are errors; these are the last resort.
const (
	capCode       = 24_000_000
	capReferences = 24_000_000
	capSpec       = 2_000_000
	capPlan       = 400_000
	capAudit      = 400_000
	capFindings   = 60_000
	capRevision   = 200_000
	capTests      = 20_000
)

// Service is the service that a cycle is about.
type Service struct {
	ProductName string
	ID, Name    string
	Spec        string
	References  string
}

func (s Service) values() values {
	name := s.ID
	if s.Name != "" {
		name += " (" + s.Name + ")"
	}
	spec := block(s.Spec, capSpec)
	if spec == none {
		spec = "The reference material is the specification."
	}
	return values{"product_name": product(s.ProductName), "service": word(name), "spec": spec, "references": block(s.References, capReferences)}
}

// AuditData is all that an auditor is told.
type AuditData struct {
	Service   Service
	Iteration int
	Code      string // with line numbers
	Earlier   string // findings of earlier iterations, with their ids
	Revision  string // the last revision's diff
	Tests     string // what the tests said after it

	RetryReason string // why the first answer was no audit
	Override    Override
}

// Audit renders the two texts of an audit.
func Audit(d AuditData) (system, user string, err error) {
	return retried("audit", d.Override, auditValues(d), d.RetryReason, fiveSections)
}

func auditValues(d AuditData) values {
	v := d.Service.values()
	v["iteration"] = number(d.Iteration)
	v["code"] = block(d.Code, capCode)
	v["earlier_findings"] = block(d.Earlier, capFindings)
	v["last_revision"] = block(d.Revision, capRevision)
	v["test_output"] = block(d.Tests, capTests)
	return v
}

// NamedAudit is an audit and who made it.
type NamedAudit struct{ Name, Text string }

// RefineData is all that a refiner is told.
type RefineData struct {
	Service     Service
	Audits      []NamedAudit // with the ids of their entries
	RetryReason string
	Override    Override
}

// Refine renders the two texts of a refinement.
func Refine(d RefineData) (system, user string, err error) {
	return retried("refine", d.Override, refineValues(d), d.RetryReason, fiveSections)
}

func refineValues(d RefineData) values {
	v := d.Service.values()
	v["audit_a"], v["audit_b"] = none, none
	var all strings.Builder
	for i, a := range d.Audits {
		text := block(a.Text, capAudit)
		fmt.Fprintf(&all, "## Audit by %s\n%s\n\n", word(a.Name), text)
		if i < 2 {
			v["audit_"+string(rune('a'+i))] = text
		}
	}
	v["audits"] = strings.TrimRight(all.String(), "\n")
	return v
}

// ReviseData is all that whoever revises is told.
type ReviseData struct {
	Service       Service
	Plan          string
	Code          string // without line numbers; not for a builder, which has the files
	Allowed       []string
	Forbidden     []string
	AllowNewFiles bool
	MaxFiles      int
	MaxLines      int
	ResultSchema  []byte // for a builder

	RetryReason string
	Override    Override
}

// Revise renders the two texts for a provider that answers with whole files.
func Revise(d ReviseData) (system, user string, err error) {
	return retried("revise", d.Override, reviseValues(d), d.RetryReason, "all of the files")
}

// ReviseBuilder renders the two texts for a builder.
func ReviseBuilder(d ReviseData) (system, user string, err error) {
	return pair("revise_builder", d.Override, reviseValues(d))
}

func reviseValues(d ReviseData) values {
	v := d.Service.values()
	v["plan"] = block(d.Plan, capPlan)
	v["code"] = block(d.Code, capCode)
	v["allowed_globs"], v["forbidden_globs"] = list(d.Allowed), list(d.Forbidden)
	v["allow_new_files"] = yesNo(d.AllowNewFiles)
	v["max_files"], v["max_lines"] = number(d.MaxFiles), number(d.MaxLines)
	v["result_schema"] = schema(d.ResultSchema)
	return v
}

// What a second answer has to be, as [again] asks for it.
const (
	oneObject    = "one JSON object"
	fiveSections = "the five sections"
)

// retried is pair for a call that may be a second one: reason is why the first answer was
// refused, form what is asked for again.
func retried(role string, o Override, v values, reason, form string) (system, user string, err error) {
	system, user, err = pair(role, o, v)
	return system, again(user, reason, form), err
}

// again is what a second call says about the first answer.
func again(user, reason, what string) string {
	if reason == "" {
		return user
	}
	return user + strings.Join([]string{"",
		"## Your previous answer was refused",
		"",
		"It did not have the form that is asked for. This is the only second chance. The reason:",
		"",
		block(reason, capRetry),
		"",
		"Answer again with " + what + " in exactly that form, and nothing else.",
		""}, "\n")
}
