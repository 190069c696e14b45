package job

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// Names by which the engine knows what there is.
const (
	RepositoryType = "relay.repository"
	RunType        = "relay.run"
	TickType       = "relay.tick"
	// Workflows is the queue of all workflows. Every worker takes from it, so that a run can be stopped, and the next one
	// of its branch begin, while no worker has the label that it waits for.
	Workflows = "relay-documents"
	// Pool is the queue of workers without a label.
	Pool = "relay"
)

// The kinds of what can be asked for, each a command of relay.
const (
	KindRun      = "run"
	KindLoop     = "loop"
	KindAudit    = "audit"
	KindPipeline = "pipeline"
	// KindTask is a task of a pipeline, which a worker makes and leaves in git.
	KindTask = "task"
)

// The steps of a pipeline.
const (
	Look = "look" // which tasks can be made now
	Join = "join" // a task's result joins the branch
)

// MaxTasks is how many tasks of a pipeline are made at a time.
const MaxTasks = 32

// Spec is what a run is about. It lies in a blob.
type Spec struct {
	Kind   string `json:"kind"`
	Remote string `json:"remote"`
	Ref    string `json:"ref"` // a branch
	Key    string `json:"key"`
	Label  string `json:"label,omitempty"` // of the workers that make it
	Goal   string `json:"goal,omitempty"`  // of a run or a loop
	Task   []byte `json:"task,omitempty"`  // of a run
	// A loop's.
	Mode       string    `json:"mode,omitempty"`
	MaxTicks   int       `json:"max_ticks,omitempty"`
	Until      time.Time `json:"until,omitzero"`
	MaxCostUSD float64   `json:"max_cost_usd,omitempty"`
	// An audit's.
	Service string `json:"service,omitempty"`
	// A pipeline's.
	Only     string `json:"only,omitempty"` // a task's own, too
	Parallel int    `json:"parallel,omitempty"`
}

// Job is a run as the history has it.
type Job struct {
	Spec  string `json:"spec"` // digest of the Spec
	Repo  string `json:"repo"` // digest of repository and branch
	ID    string `json:"id"`   // of the run's workflow
	Kind  string `json:"kind"`
	Queue string `json:"queue,omitempty"` // of a label; "" is the pool
	// Mirror is the digest of the repository, of which a worker may have one branch or another.
	Mirror string `json:"mirror,omitempty"`
}

// Mirrors is the queue of a label's workers that have a repository.
func Mirrors(label, mirror string) string { return label + "/" + mirror }

// Mirror names a repository.
func Mirror(remote string) string { return short("mirror", remote) }

// What became of a run's repository.
const (
	Here  = "here"  // the worker that made the run had it
	Busy  = "busy"  // another worker had it, and no slot
	Other = "other" // another worker had it, of another version
	None  = "none"  // no worker that had it answered
)

// Step is one command of relay for a run: the first, or the one after an answer.
type Step struct {
	Job
	N       int    `json:"n,omitempty"`     // answers before it
	Of      string `json:"of,omitempty"`    // what asked, as relay names it: a run, a cycle or a task
	Ticks   int    `json:"ticks,omitempty"` // that its loops have made before
	Answer  Answer `json:"answer,omitzero"`
	Cold    string `json:"cold,omitempty"`    // why no worker that has the repository makes it
	Again   bool   `json:"again,omitempty"`   // one has begun it
	Version string `json:"version,omitempty"` // of the worker that asks for it
	Do      string `json:"do,omitempty"`      // of a pipeline
	Task    string `json:"task,omitempty"`    // digest of the Spec of the task that joins
	Wait    bool   `json:"wait,omitempty"`    // for a slot, however long
}

// Result is how a run ended, or how far it came when it asks.
type Result struct {
	Code     string `json:"code"`
	ExitCode int    `json:"exit_code"`
	Run      string `json:"run,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Report   string `json:"report,omitempty"` // digest
	Earlier  bool   `json:"earlier,omitempty"`
	MS       int64  `json:"ms"`
	Ticks    int    `json:"ticks,omitempty"` // that its loops have made
	Spend    Spend  `json:"spend,omitzero"`
	// Ask is what the operator has to say before it continues, on the worker that has its state.
	Ask    *Ask   `json:"ask,omitempty"`
	Worker string `json:"worker,omitempty"` // its own queue
	Mirror string `json:"mirror,omitempty"` // whether it had the repository
	Busy   bool   `json:"busy,omitempty"`   // nothing was made: it has no slot
	// Tasks can be made now, Most of them at a time.
	Tasks []Job `json:"tasks,omitempty"`
	Most  int   `json:"most,omitempty"`
}

// Spend is what calls of models have cost, as relay's books on the worker have it.
type Spend struct {
	Calls    int   `json:"calls,omitempty"`
	MicroUSD int64 `json:"microusd,omitempty"`
	Unknown  int   `json:"unknown,omitempty"` // calls of unknown cost
}

// Add adds what other calls have cost.
func (s *Spend) Add(o Spend) {
	s.Calls, s.MicroUSD, s.Unknown = s.Calls+o.Calls, s.MicroUSD+o.MicroUSD, s.Unknown+o.Unknown
}

// String says it to a person.
func (s Spend) String() string {
	text := fmt.Sprintf("%d calls, $%.4f", s.Calls, float64(s.MicroUSD)/1e6)
	if s.Unknown > 0 {
		text += fmt.Sprintf(", %d of unknown cost", s.Unknown)
	}
	return text
}

// Ask is a question or a gate as the history has it.
type Ask struct {
	Question string `json:"question"`          // digest of the Question
	Of       string `json:"of"`                // as Step.Of
	Choices  int    `json:"choices,omitempty"` // how many
	Only     bool   `json:"only,omitempty"`    // one of them, and no words
}

// Question is what is asked. It lies in a blob.
type Question struct {
	Prompt  string   `json:"prompt"`
	Choices []string `json:"choices,omitempty"`
}

// Answer is what the operator says to one question.
type Answer struct {
	Question string `json:"question"`
	Choice   int    `json:"choice,omitempty"` // from 1; 0 for words
	Text     string `json:"text,omitempty"`   // digest of the words
}

// The states of a run that has not ended.
const (
	Queued  = "queued"
	Running = "running"
	Waiting = "waiting"
)

// Memo is what the engine shows of a run in a list, also while no worker is there.
type Memo struct {
	Spec   string `json:"spec"` // digest
	State  string `json:"state"`
	Ask    *Ask   `json:"ask,omitempty"`
	Report string `json:"report,omitempty"` // digest, of what asks
	Failed string `json:"failed,omitempty"` // why the first attempt did, as the engine says it
	Tasks  int    `json:"tasks,omitempty"`  // of a pipeline that are under way
}

// MemoKey is where the memo is.
const MemoKey = "relay"

// New names the workflows of a spec.
func New(s Spec, digest, queue string) Job {
	repo := short("repo", s.Remote, s.Ref)
	if s.Kind == KindTask { // tasks of a branch are made side by side, also on one worker
		repo = short("task", s.Remote, s.Ref, s.Only)
	}
	return Job{Spec: digest, Repo: repo, ID: "relay-run-" + short("run", s.Remote, s.Ref, s.Key), Kind: s.Kind, Queue: queue, Mirror: Mirror(s.Remote)}
}

// RepositoryID is the id of the workflow that lets a branch's runs begin one by one.
func (j Job) RepositoryID() string { return "relay-repository-" + j.Repo }

func short(parts ...string) string {
	b, _ := json.Marshal(parts) // strings have JSON
	return Digest(b)[:20]
}

// Digest is the SHA-256 of a text.
func Digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// MaxPayload is the largest payload that is sent, in bytes.
const MaxPayload = 16 << 10

// Converter is the engine's own with that limit.
func Converter() converter.DataConverter { return bounded{converter.GetDefaultDataConverter()} }

type bounded struct{ converter.DataConverter }

func (b bounded) ToPayload(v any) (*commonpb.Payload, error) {
	p, err := b.DataConverter.ToPayload(v)
	if err == nil && len(p.GetData()) > MaxPayload {
		return nil, fmt.Errorf("%d bytes are more than the %d that a workflow's history takes; large things belong into blobs", len(p.GetData()), MaxPayload)
	}
	return p, err
}

func (b bounded) ToPayloads(v ...any) (*commonpb.Payloads, error) {
	all := &commonpb.Payloads{}
	for _, one := range v {
		p, err := b.ToPayload(one)
		if err != nil {
			return nil, err
		}
		all.Payloads = append(all.Payloads, p)
	}
	return all, nil
}
