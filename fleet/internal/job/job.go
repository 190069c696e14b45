package job

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Names by which the engine knows what there is.
const (
	RepositoryType = "relay.repository"
	RunType        = "relay.run"
	TickType       = "relay.tick"
	signal         = "run"
	// Pool is the queue of workers without a label.
	Pool = "relay"
)

// Spec is what a run is about. It lies in a blob.
type Spec struct {
	Kind   string `json:"kind"` // run
	Remote string `json:"remote"`
	Ref    string `json:"ref"` // a branch
	Key    string `json:"key"`
	Goal   string `json:"goal,omitempty"`
	Task   []byte `json:"task,omitempty"`
}

// Job is a run as the history has it.
type Job struct {
	Spec  string `json:"spec"`            // digest of the Spec
	Repo  string `json:"repo"`            // digest of repository and branch
	ID    string `json:"id"`              // of the run's workflow
	Queue string `json:"queue,omitempty"` // of a label; "" is the pool
}

// Result is how a run ended.
type Result struct {
	Code     string `json:"code"`
	ExitCode int    `json:"exit_code"`
	Run      string `json:"run,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Report   string `json:"report,omitempty"` // digest
	Earlier  bool   `json:"earlier,omitempty"`
	MS       int64  `json:"ms"`
}

// New names the workflows of a spec.
func New(s Spec, digest, queue string) Job {
	repo := short("repo", s.Remote, s.Ref)
	return Job{Spec: digest, Repo: repo, ID: "relay-run-" + short("run", s.Remote, s.Ref, s.Key), Queue: queue}
}

// RepositoryID is the id of the workflow that makes a repository's runs one by one.
func (j Job) RepositoryID() string { return "relay-repository-" + j.Repo }

func short(parts ...string) string {
	b, _ := json.Marshal(parts) // strings have JSON
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:10])
}

// Digest is the SHA-256 of a text.
func Digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// Signal is the name of the signal that asks a repository's workflow for a run.
func Signal() string { return signal }

// idle is how long a repository's workflow waits for another run before it ends.
const idle = 5 * time.Second

// Repository makes the runs of one repository and branch, one after the other: what lands is
// built on what landed before.
func Repository(ctx workflow.Context) error {
	ch := workflow.GetSignalChannel(ctx, signal)
	for {
		var j Job
		if ok, _ := ch.ReceiveWithTimeout(ctx, idle, &j); !ok {
			if !ch.ReceiveAsync(&j) {
				return nil
			}
		}
		child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: j.ID,
			WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
			ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON})
		// However it ends, it has said so itself; one that was there already is the same run.
		_ = workflow.ExecuteChildWorkflow(child, RunType, j).Get(ctx, nil)
		if err := ctx.Err(); err != nil {
			return err
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() && ch.Len() == 0 {
			return workflow.NewContinueAsNewError(ctx, RepositoryType)
		}
	}
}

// Run makes one run. A worker that is lost is replaced: the run is asked for again with its
// key, so what was made is found and not bought again.
func Run(ctx workflow.Context, j Job) (Result, error) {
	o := workflow.ActivityOptions{TaskQueue: j.Queue, StartToCloseTimeout: 12 * time.Hour, HeartbeatTimeout: 5 * time.Second, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 8}}
	var res Result
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), TickType, j).Get(ctx, &res)
	return res, err
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
