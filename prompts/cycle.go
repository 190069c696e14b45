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

	Call
}

func (AuditData) role() string { return "audit" }

func (d AuditData) values() values {
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
	Service Service
	Audits  []NamedAudit // with the ids of their entries
	Call
}

func (RefineData) role() string { return "refine" }

func (d RefineData) values() values {
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

// ReviseData is all that the reviser is told.
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

	Call
}

func (ReviseData) role() string { return "revise" }

// ReviseBuilderData is the same, for a builder.
type ReviseBuilderData struct{ ReviseData }

func (ReviseBuilderData) role() string { return "revise_builder" }

func (d ReviseData) values() values {
	v := d.Service.values()
	v["plan"] = block(d.Plan, capPlan)
	v["code"] = block(d.Code, capCode)
	v["allowed_globs"], v["forbidden_globs"] = list(d.Allowed), list(d.Forbidden)
	v["allow_new_files"] = yesNo(d.AllowNewFiles)
	v["max_files"], v["max_lines"] = number(d.MaxFiles), number(d.MaxLines)
	v["result_schema"] = schema(d.ResultSchema)
	return v
}
