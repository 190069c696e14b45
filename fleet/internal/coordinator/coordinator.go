package coordinator

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/paxiom/relay/fleet/internal/blob"
	"github.com/paxiom/relay/fleet/internal/job"
)

// Names by which the engine knows it.
const (
	Type   = "relay.documents"
	id     = "relay-documents"
	swap   = "swap"
	digest = "digest"
)

// Swap puts New in the place of Old, or of nothing where that is "". All are digests.
type Swap struct {
	Name string `json:"name"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new"`
}

var errChanged = temporal.NewNonRetryableApplicationError("it was changed", "CHANGED", nil)

// Documents keeps the digest of each document. It never ends.
func Documents(ctx workflow.Context, docs map[string]string) error {
	if docs == nil {
		docs = map[string]string{}
	}
	unchanged := func(s Swap) error {
		if docs[s.Name] != s.Old {
			return errChanged
		}
		return nil
	}
	err := workflow.SetQueryHandler(ctx, digest, func(name string) (string, error) { return docs[name], nil })
	if err != nil {
		return err
	}
	// A refused update is in no history. Two can pass the look before the first is done.
	err = workflow.SetUpdateHandlerWithOptions(ctx, swap, func(_ workflow.Context, s Swap) error {
		if err := unchanged(s); err != nil {
			return err
		}
		docs[s.Name] = s.New
		return nil
	}, workflow.UpdateHandlerOptions{Validator: unchanged})
	if err != nil {
		return err
	}
	err = workflow.Await(ctx, func() bool {
		return workflow.GetInfo(ctx).GetContinueAsNewSuggested() && workflow.AllHandlersFinished(ctx)
	})
	if err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, Type, docs)
}

// Serve passes on the documents by a socket until ctx ends.
func Serve(ctx context.Context, socket string, c client.Client, blobs blob.Store) error {
	if err := errors.Join(os.MkdirAll(filepath.Dir(socket), 0o700), os.RemoveAll(socket)); err != nil {
		return err
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		return errors.Join(err, l.Close())
	}
	server := &http.Server{Handler: &handler{c, blobs}, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	go func() { _ = server.Serve(l) }()
	return nil
}

type handler struct {
	client.Client
	blobs blob.Store
}

// limit is how long the engine may take.
const limit = 15 * time.Second

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	name := job.Digest([]byte(strings.TrimPrefix(r.URL.Path, "/")))[:20]
	var body []byte
	var err error
	tag, status := "", http.StatusOK
	if r.Method == http.MethodPut {
		if body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, blob.Max)); err == nil {
			status, err = h.put(ctx, Swap{Name: name, Old: r.Header.Get("If-Match")}, body)
		}
		body = nil
	} else if tag, err = h.digest(ctx, name); err == nil && tag == "" {
		status = http.StatusNotFound
	} else if err == nil {
		body, err = h.blobs.Get(tag)
	}
	if err != nil {
		status, body = http.StatusServiceUnavailable, nil
	}
	w.Header().Set("ETag", tag)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func (h *handler) digest(ctx context.Context, name string) (tag string, err error) {
	v, err := h.QueryWorkflow(ctx, id, "", digest, name)
	if none := (*serviceerror.NotFound)(nil); errors.As(err, &none) {
		return "", nil
	}
	if err == nil {
		err = v.Get(&tag)
	}
	return tag, err
}

func (h *handler) put(ctx context.Context, s Swap, body []byte) (status int, err error) {
	if s.New, err = h.blobs.Put(body); err != nil {
		return 0, err
	}
	start := h.NewWithStartWorkflowOperation(client.StartWorkflowOptions{ID: id, TaskQueue: job.Workflows, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING}, Type, map[string]string(nil))
	u, err := h.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{UpdateName: swap, Args: []any{s}, WaitForStage: client.WorkflowUpdateStageCompleted}})
	if err == nil {
		err = u.Get(ctx, nil)
	}
	if app := (*temporal.ApplicationError)(nil); errors.As(err, &app) && app.Type() == "CHANGED" {
		return http.StatusPreconditionFailed, nil
	}
	return http.StatusNoContent, err
}
