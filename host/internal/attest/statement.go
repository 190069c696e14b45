package attest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// Names of the formats.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://slsa.dev/verification_summary/v1"
	// Extension is the field of the predicate that relay's own facts are in.
	Extension  = "https://github.com/paxiom/relay/attestation/v1"
	verifierID = "https://github.com/paxiom/relay"
	// level says that relay judged the change; it claims no level of SLSA.
	level  = "ORG_SOURCE_RELAY_JUDGED"
	passed = "PASSED"
)

// maxListed is how many touched paths a statement lists; its digest covers all of them.
const maxListed = 500

// Statement is what is signed: an in-toto Statement v1 about commits and a tree.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is one commit, or the tree of the last one.
type Subject struct {
	Name   string            `json:"name"` // commit or tree
	Digest map[string]string `json:"digest"`
}

// Predicate is a SLSA verification summary v1.2 and relay's facts.
type Predicate struct {
	Verifier struct {
		ID      string            `json:"id"`
		Version map[string]string `json:"version"`
	} `json:"verifier"`
	TimeVerified string `json:"timeVerified"`
	ResourceURI  string `json:"resourceUri"`
	Policy       struct {
		URI    string            `json:"uri"`
		Digest map[string]string `json:"digest"`
	} `json:"policy"`
	VerificationResult string   `json:"verificationResult"`
	VerifiedLevels     []string `json:"verifiedLevels"`
	SLSAVersion        string   `json:"slsaVersion"`
	Relay              Change   `json:"https://github.com/paxiom/relay/attestation/v1"`
}

// Change is what relay knows of the change; schemas/attestation.schema.json describes it.
type Change struct {
	Summary   []string     `json:"summary"` // what the note says to people
	Workflow  string       `json:"workflow"`
	Run       string       `json:"run"` // as in the commit's trailer Relay-Run or Relay-Step
	Base      string       `json:"base"`
	Task      TaskRef      `json:"task"`
	Ceiling   Digest       `json:"ceiling"`
	Policy    Policy       `json:"policy"`
	Touched   Touched      `json:"touched"`
	Code      judge.Code   `json:"code"`
	Evidence  string       `json:"evidence"`
	Checks    []CheckFacts `json:"checks"`
	Hidden    Hidden       `json:"hidden"`
	Relay     Digest       `json:"relay"`
	Plugins   []Plugin     `json:"plugins"`
	Isolation Isolation    `json:"isolation"`
	Approvals []Approval   `json:"approvals"`
	Unknown   []string     `json:"unknown"`
}

// Digest is the SHA-256 of something that is not told; "" when that is not known.
type Digest struct {
	SHA256 string `json:"sha256"`
}

// TaskRef names the task.
type TaskRef struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
}

// Policy is the law that the change was judged by. Text is JSON in a string, so that its
// digest needs no canonical form.
type Policy struct {
	Text   string `json:"text"`
	SHA256 string `json:"sha256"`
}

// Touched is what differs between the base and the last commit: lines of
// `git diff-tree -r --raw --no-abbrev --no-renames`. SHA256 is of all lines, each with its
// line break; Lines are the first ones.
type Touched struct {
	Count  int      `json:"count"`
	SHA256 string   `json:"sha256"`
	Lines  []string `json:"lines"`
}

// CheckFacts is one check. Tests is the digest of the sorted names of those that passed.
type CheckFacts struct {
	ID      string `json:"id"`
	Argv    string `json:"argv_sha256"`
	Exit    int    `json:"exit_code"`
	Finding string `json:"finding,omitempty"`
	Passed  int    `json:"tests_passed"`
	New     int    `json:"tests_new"`
	Missing int    `json:"tests_missing"`
	Probes  int    `json:"probes"`
	Tests   string `json:"tests_sha256,omitempty"`
}

// Hidden are the hidden checks by name; Said is how many passed.
type Hidden struct {
	Names []string `json:"names"`
	Said  string   `json:"said,omitempty"`
}

// Plugin is one that took part, with what it said of its model and what it cost.
type Plugin struct {
	Role    string   `json:"role"`
	Name    string   `json:"name"`
	Version string   `json:"version,omitempty"`
	SHA256  string   `json:"sha256,omitempty"`
	Model   string   `json:"model,omitempty"` // as reported
	Calls   int      `json:"calls"`
	CostUSD *float64 `json:"cost_usd"` // null: unknown
}

// Isolation is the containment in force and what it does not cover.
type Isolation struct {
	Means string   `json:"means"` // overlay, landlock or copy
	Gaps  []string `json:"gaps"`
}

// Approval is an operator's yes. It is bound to the task, or plan, of the statement and to
// its base. Key is of who gave it; null where nothing but this machine's seal says so.
type Approval struct {
	Kind string  `json:"kind"` // what was approved
	At   string  `json:"at"`
	Task string  `json:"task_sha256"` // of the task, or plan
	Base string  `json:"base"`        // the commit it was given for
	Key  *string `json:"key"`
	// Signed is what that key has signed: an [Approved] in a DSSE envelope.
	Signed string `json:"signed,omitempty"`
	// Here: it was given to this process, at a terminal or on its command line. The key signs it
	// when it is known what it was a yes to.
	Here bool `json:"-"`
}

// KeyOrNone is the key, "" where there is none.
func (a *Approval) KeyOrNone() string {
	if a == nil || a.Key == nil {
		return ""
	}
	return *a.Key
}

// Facts is what a workflow tells of a change that has landed.
type Facts struct {
	Workflow, Run string
	TaskID        string
	Task          []byte // the task, or the approved plan
	Base, Commit  string // what landed on top of what
	Ceiling       *judge.Ceiling
	Request       *judge.Request
	Rules         string // digest of the user's and the repository's rules; "" for none
	Code          judge.Code
	Evidence      string // in place of what the checks say
	Verification  report.Verification
	Results       []verify.Result
	Hidden        []string
	Plugins       []Plugin
	Box           *report.BoxReport
	Approvals     []Approval
	Unknown       []string
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// askers are who may have written a task.
var askers = map[judge.Asker]string{judge.Model: "model", judge.Approved: "model, approved by the operator", judge.Operator: "operator"}

// law is what the digest of the policy is of.
type law struct {
	Kind            judge.TaskKind `json:"kind,omitempty"`
	By              string         `json:"by"`
	Allowed         []string       `json:"allowed"`
	Forbidden       []string       `json:"forbidden"`
	NewFiles        bool           `json:"new_files"`
	LockfileChanges bool           `json:"lockfile_changes"`
	MaxFiles        int            `json:"max_files"`
	MaxLines        int            `json:"max_lines"`
	Ceiling         string         `json:"ceiling_sha256"`
	Rules           string         `json:"rules_sha256"`
}

// statement is the statement about a change, and what git says of it.
func (f *Facts) statement(found chain, version, executable, format string, now time.Time) *Statement {
	s := &Statement{Type: statementType, PredicateType: predicateType}
	for _, c := range found.commits {
		s.Subject = append(s.Subject, Subject{"commit", map[string]string{"gitCommit": c}})
	}
	s.Subject = append(s.Subject, Subject{"tree", map[string]string{"gitTree": found.tree}})
	p := &s.Predicate
	p.Verifier.ID, p.Verifier.Version = verifierID, map[string]string{"relay": version}
	p.TimeVerified = now.UTC().Format(Time)
	p.ResourceURI = "gitoid:commit:" + format + ":" + found.head()
	p.VerificationResult, p.VerifiedLevels, p.SLSAVersion = passed, []string{level}, "1.2"
	p.Relay = f.change(found, executable)
	p.Policy.URI, p.Policy.Digest = Extension+"#policy", map[string]string{"sha256": p.Relay.Policy.SHA256}
	p.Relay.Summary = p.Relay.said(p.TimeVerified)
	return s
}

func (f *Facts) change(found chain, executable string) Change {
	c := Change{Workflow: f.Workflow, Run: f.Run, Base: found.base, Task: TaskRef{f.TaskID, digestOf(f.Task)}, Code: f.Code,
		Evidence: cmp.Or(f.Evidence, f.Verification.Evidence()), Checks: []CheckFacts{}, Hidden: Hidden{Names: append([]string{}, sorted(f.Hidden)...), Said: f.Verification.Hidden},
		Relay: Digest{executable}, Plugins: append([]Plugin{}, f.Plugins...), Isolation: Isolation{Gaps: []string{}},
		Approvals: append([]Approval{}, f.Approvals...), Unknown: append([]string{}, f.Unknown...)}
	l := law{Rules: f.Rules, Allowed: []string{}, Forbidden: []string{}}
	if f.Ceiling != nil {
		c.Ceiling.SHA256 = sum(JSON(f.Ceiling))
		l.Ceiling = c.Ceiling.SHA256
	}
	if r := f.Request; r != nil {
		l.Kind, l.By, l.NewFiles, l.LockfileChanges, l.MaxFiles, l.MaxLines = r.Kind, askers[r.By], r.NewFiles, r.LockfileChanges, r.MaxFiles, r.MaxLines
		l.Allowed, l.Forbidden = append(l.Allowed, r.Allowed...), append(l.Forbidden, r.Forbidden...)
	}
	c.Policy.Text = string(JSON(l))
	c.Policy.SHA256 = sum([]byte(c.Policy.Text))
	c.Touched = touchedOf(found.touched)
	for i := range c.Approvals {
		c.Approvals[i].bind(&c)
	}
	if f.Box != nil {
		c.Isolation = Isolation{f.Box.Means, append([]string{}, f.Box.Gaps...)}
	}
	for i, r := range f.Verification.Runs {
		c.Checks = append(c.Checks, f.check(i, r))
	}
	c.unknown()
	return c
}

func (f *Facts) check(i int, r report.VerifyRun) CheckFacts {
	out := CheckFacts{ID: r.TemplateID, Argv: sum(JSON(append([]string{r.Cmd}, r.Args...))), Exit: r.ExitCode, Finding: r.Finding}
	if t := r.Tests; t != nil {
		out.Passed, out.New, out.Missing, out.Probes = t.Passed, t.New, len(t.Missing), t.Probes
	}
	if i < len(f.Results) && f.Results[i].Report != nil && f.Results[i].Command.ID == r.TemplateID {
		var names []string
		for name, t := range f.Results[i].Report.Tests {
			if t.Status == "pass" {
				names = append(names, name)
			}
		}
		out.Tests = sum([]byte(strings.Join(sorted(names), "\n")))
	}
	return out
}

// unknown adds what a reader could take for known.
func (c *Change) unknown() {
	say := func(what string) {
		if !slices.Contains(c.Unknown, what) { // a plugin may have several roles
			c.Unknown = append(c.Unknown, what)
		}
	}
	for _, p := range c.Plugins {
		if p.SHA256 == "" {
			say("the file of the plugin " + p.Name + ": nothing pins it")
		}
		if p.CostUSD == nil && p.Calls > 0 {
			say("what the calls of " + p.Name + " cost")
		}
		if p.Model == "" {
			say("the model of " + p.Name)
		}
	}
	if c.Ceiling.SHA256 == "" {
		say("the ceiling")
	}
	if c.Relay.SHA256 == "" {
		say("the digest of relay's program file")
	}
	for _, k := range c.Checks {
		if k.Passed > 0 && k.Tests == "" {
			say("the names of the tests of " + k.ID)
		}
	}
	for _, a := range c.Approvals {
		if a.Key == nil {
			say("who approved the " + a.Kind + ": the machine's seal can't be checked elsewhere")
		}
	}
	say("whether the models are what they are called")
}

// said is the part of the note that people read.
func (c *Change) said(at string) []string {
	lines := []string{
		fmt.Sprintf("relay: %s of %s: %s", c.Workflow, at, c.Code),
		"evidence: " + line(c.Evidence),
		fmt.Sprintf("touched: %s, %s given", format.Count(c.Touched.Count, "path"), format.Count(len(c.Approvals), "approval")),
	}
	for _, p := range c.Plugins {
		cost := "cost unknown"
		if p.CostUSD != nil {
			cost = format.Dollars(p.CostUSD)
		}
		lines = append(lines, fmt.Sprintf("%s: %s, model %s, %s, %s", p.Role, line(p.Name), line(cmp.Or(p.Model, "unknown")), format.Count(p.Calls, "call"), cost))
	}
	lines = append(lines, "box: "+line(cmp.Or(c.Isolation.Means, "unknown")), "check it: relay verify, with the signers that you trust")
	var narrow []string
	for _, l := range lines {
		narrow = append(narrow, narrowed(l)...)
	}
	return narrow
}

// narrowed breaks a line where git log, which indents notes by four, would leave 80 columns.
func narrowed(l string) (lines []string) {
	const columns = 76
	rest := []rune(l)
	for len(rest) > columns {
		at := columns
		for i := columns; i > columns/2; i-- {
			if rest[i] == ' ' {
				at = i
				break
			}
		}
		lines = append(lines, string(rest[:at]))
		rest = []rune("  " + strings.TrimLeft(string(rest[at:]), " "))
	}
	return append(lines, string(rest))
}

// line keeps a stranger's text on its line.
func line(s string) string { return format.Clip(report.Safe(s), 200) }

func touchedOf(lines []string) Touched {
	return Touched{len(lines), sum([]byte(strings.Join(append(lines[:len(lines):len(lines)], ""), "\n"))), append([]string{}, lines[:min(len(lines), maxListed)]...)}
}

func digestOf(b []byte) string {
	if b == nil {
		return ""
	}
	return sum(b)
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(append([]string{}, s...))) }

// JSON is the JSON of a value that has one.
func JSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("attest: " + err.Error())
	}
	return b
}
