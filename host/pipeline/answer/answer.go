package answer

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/schemas"
)

// Plan is how a task is to be done.
type Plan struct {
	Approach string   `json:"approach"`
	Steps    []Step   `json:"steps"` // none: nothing has to be changed
	Checks   []string `json:"checks"`
	Risks    []string `json:"risks"`
	Question string   `json:"question"` // what a person has to decide first; "" when nothing
}

// Step is one change of a plan.
type Step struct {
	Do    string   `json:"do"`
	Files []string `json:"files"`
}

// Review is what a reviewer found.
type Review struct {
	Summary  string    `json:"summary"`
	Findings []Finding `json:"findings"`
}

// Finding is one flaw that a reviewer claims.
type Finding struct {
	Severity string `json:"severity"` // critical, major, minor
	File     string `json:"file"`
	Line     int    `json:"line"`
	Claim    string `json:"claim"`    // what is wrong
	Evidence string `json:"evidence"` // a quote of the file
}

// Same reports whether two findings are about the same flaw: the same place and words,
// or the same words at a place that moved.
func (f Finding) Same(o Finding) bool {
	return f.File == o.File && (squeeze(f.Claim) == squeeze(o.Claim) || f.Line == o.Line && f.Line > 0 && squeeze(f.Evidence) == squeeze(o.Evidence))
}

// Cleanup is what the builder that ended a task says of its work.
type Cleanup struct {
	Summary  string    `json:"summary"`
	Memory   string    `json:"memory"`
	Findings []Outcome `json:"findings"`
	Notes    []string  `json:"notes"`
}

// Outcome is what became of a finding.
type Outcome struct {
	ID      string `json:"id"`      // of the finding
	Outcome string `json:"outcome"` // fixed, refuted
	Why     string `json:"why"`
}

// Open gives those of the ids that have no outcome.
func (c *Cleanup) Open(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(c.Findings, func(o Outcome) bool { return o.ID == id })
	})
}

// ReadPlan reads the answer of a planner.
func ReadPlan(text []byte) (*Plan, error) { return read[Plan](schemas.PipelinePlan, text) }

// ReadReview reads the answer of a reviewer.
func ReadReview(text []byte) (*Review, error) { return read[Review](schemas.PipelineReview, text) }

// ReadCleanup reads what a builder says of its cleanup.
func ReadCleanup(text []byte) (*Cleanup, error) { return read[Cleanup](schemas.PipelineCleanup, text) }

// read takes the one JSON object of a text: the whole text, or what stands in the one
// code fence of it, since some models can't leave that away.
func read[T any](schema string, text []byte) (*T, error) {
	text = bytes.TrimSpace(text)
	b := unfence(text)
	switch {
	case len(text) == 0:
		return nil, errors.New("the answer is empty")
	case len(b) == 0:
		return nil, errors.New("the answer is a code fence with nothing in it")
	}
	if _, err := strictjson.Decode(b, strictjson.MaxBytes); err != nil {
		return nil, fmt.Errorf("the answer is not a JSON object: %w", err)
	}
	if err := schemas.Validate(schema, b); err != nil {
		return nil, fmt.Errorf("the answer does not keep the schema: %w", err)
	}
	v := new(T)
	if err := strictjson.Unmarshal(b, v); err != nil {
		return nil, err
	}
	return v, nil
}

// unfence takes a code fence off that holds the whole text.
func unfence(b []byte) []byte {
	first, rest, ok := bytes.Cut(b, []byte("\n"))
	if !ok || !bytes.HasPrefix(first, []byte("```")) || !bytes.HasSuffix(rest, []byte("```")) {
		return b
	}
	return bytes.TrimSpace(bytes.TrimSuffix(rest, []byte("```")))
}

// squeeze makes every run of white space one space.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
