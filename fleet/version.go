package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/paxiom/relay/fleet/internal/job"
	"github.com/paxiom/relay/fleet/internal/runner"
)

// deployment is what Temporal has the versions of the fleet's workers under.
const deployment = "relay-fleet"

// version is that of this program, where the linker is told one.
var version string

// ownVersion is what a run that begins on this program's workers is pinned to. It names the relay that makes the run, where that is not
// of the same release.
func ownVersion(relay string) string {
	if version == "" {
		if info, ok := debug.ReadBuildInfo(); ok {
			version = info.Main.Version
		}
		if version == "" || version == "(devel)" || strings.HasSuffix(version, "+dirty") { // two such may differ
			version = "devel" + ownDigest()
		}
	}
	if relay == version {
		return version
	}
	return version + "+relay-" + relay
}

// ownDigest is that of this program, which is not taken into memory for it: it is half of what a worker needs.
func ownDigest() string {
	h := sha256.New()
	self, err := os.Executable()
	if err == nil {
		var f *os.File
		if f, err = os.Open(self); err == nil {
			_, err = io.Copy(h, f)
			f.Close()
		}
	}
	if err != nil {
		return ""
	}
	return "-" + hex.EncodeToString(h.Sum(nil))[:12]
}

// versions are those of the fleet's workers.
type versions struct {
	Current string         `json:"current"`
	Workers map[string]int `json:"workers"` // by version
	token   []byte
}

// alive is how long ago a worker that is there has asked for work at most: a poll takes a minute.
const alive = 70 * time.Second

// versionsOf asks the server. It is nil where the server has no versions.
func versionsOf(ctx context.Context, e *engine, c client.Client) (*versions, error) {
	d, err := c.WorkerDeploymentClient().GetHandle(deployment).Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	none, old, denied := (*serviceerror.NotFound)(nil), (*serviceerror.Unimplemented)(nil), (*serviceerror.PermissionDenied)(nil)
	v := &versions{Workers: map[string]int{}}
	switch {
	case errors.As(err, &old), errors.As(err, &denied) && strings.Contains(err.Error(), "disabled"):
		return nil, nil
	case errors.As(err, &none):
		return v, nil
	case err != nil:
		return nil, err
	}
	v.token = d.ConflictToken
	if now := d.Info.RoutingConfig.CurrentVersion; now != nil {
		v.Current = now.BuildID
	}
	for _, one := range d.Info.VersionSummaries {
		v.Workers[one.Version.BuildID] = 0
	}
	there, err := workersOf(ctx, e, c, job.Workflows, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	maps.Copy(v.Workers, there)
	return v, err
}

// workersOf is how many workers of each version take from a queue.
func workersOf(ctx context.Context, e *engine, c client.Client, queue string, kind enumspb.TaskQueueType) (map[string]int, error) {
	q, err := c.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{Namespace: e.namespace,
		TaskQueue: &taskqueuepb.TaskQueue{Name: queue}, TaskQueueType: kind})
	if err != nil {
		return nil, err
	}
	seen, all := map[string]bool{}, map[string]int{}
	for _, p := range q.GetPollers() {
		if o := p.GetDeploymentOptions(); o.GetDeploymentName() == deployment && !seen[p.GetIdentity()] && time.Since(p.GetLastAccessTime().AsTime()) < alive {
			seen[p.GetIdentity()] = true
			all[o.GetBuildId()]++
		}
	}
	return all, nil
}

// deploymentOptions make workers known by their version. With versions nil there is none: the server is older.
func deploymentOptions(v *versions, own string) worker.DeploymentOptions {
	if v == nil {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{UseVersioning: true, Version: worker.WorkerDeploymentVersion{DeploymentName: deployment, BuildID: own}}
}

// setCurrent has runs that begin from now on made by workers of a version.
func setCurrent(ctx context.Context, c client.Client, to string, token []byte) error {
	_, err := c.WorkerDeploymentClient().GetHandle(deployment).SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: to,
		ConflictToken: token, IgnoreMissingTaskQueues: true}) // a label may be of one version alone
	return err
}

// begin makes this worker's version current if there is none yet, or in any case: then it also goes on with what no other
// worker does. The server needs a moment to know it.
func begin(ctx context.Context, e *engine, c client.Client, own string, always bool) error {
	for end := time.Now().Add(30 * time.Second); ; {
		v, err := versionsOf(ctx, e, c)
		known := false
		if v != nil { // the server may be away for a moment
			_, known = v.Workers[own]
		}
		if known {
			if v.Current != own && (v.Current == "" || always) {
				err = setCurrent(ctx, c, own, v.token)
			}
			if err == nil && always {
				var stuck []string
				if stuck, err = v.stuck(ctx, e); err == nil {
					err = move(ctx, c, stuck)
				}
			}
			if err == nil {
				return nil
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		} else if time.Now().After(end) {
			if err == nil {
				err = errors.New("it doesn't know it")
			}
			return fmt.Errorf("the server doesn't make version %s current: %w (fix: `relay fleet doctor`)", own, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// serves is the version that goes on with what is pinned to one, or to none; "" where any does.
func (v *versions) serves(pinned string) string {
	if v == nil {
		return ""
	}
	return cmp.Or(pinned, v.Current)
}

// pinned is the version that a run is pinned to; "" where it has none.
func pinned(attributes map[string]*commonpb.Payload) (version string) {
	var behavior, at string
	_ = job.Converter().FromPayload(attributes["TemporalWorkflowVersioningBehavior"], &behavior)
	_ = job.Converter().FromPayload(attributes["TemporalWorkerDeploymentVersion"], &at)
	if behavior != "Pinned" {
		return ""
	}
	return strings.TrimPrefix(at, deployment+":")
}

// move has runs go on with the current version, whichever they are pinned to.
func move(ctx context.Context, c client.Client, ids []string) error {
	for _, id := range ids {
		_, err := c.UpdateWorkflowExecutionOptions(ctx, client.UpdateWorkflowExecutionOptionsRequest{WorkflowId: id,
			WorkflowExecutionOptionsChanges: client.WorkflowExecutionOptionsChanges{VersioningOverride: &client.VersioningOverrideChange{Value: &client.AutoUpgradeVersioningOverride{}}}})
		if gone := (*serviceerror.NotFound)(nil); err != nil && !errors.As(err, &gone) {
			return fmt.Errorf("%s isn't moved: %w (fix: the same command again)", id, err)
		}
	}
	return nil
}

func newUseCmd(e *engine) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:   "use [VERSION]",
		Short: "Have what is submitted from now on made by workers of a version",
		Long: "Runs that were submitted before are finished by workers of the version that was current then. Without VERSION it is\n" +
			"that of this program and of the relay beside it.",
		Example: "relay fleet use\nrelay fleet use v1.2.0 --move",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			to := strings.Join(args, "")
			if to == "" {
				program, err := findRelay("")
				if err != nil {
					return err
				}
				relay, err := runner.RelayVersion(program)
				if err != nil {
					return err
				}
				to = ownVersion(relay)
			}
			c, err := e.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			v, err := versionsOf(cmd.Context(), e, c)
			switch {
			case err != nil:
				return err
			case v == nil:
				return errors.New("this server has no versions of workers (fix: " + newer + ")")
			case v.Workers[to] == 0:
				return fmt.Errorf("no worker has version %s; the versions of those that are there: %s (fix: start one of %s: `relay fleet worker`)", to, v, to)
			}
			if err := setCurrent(cmd.Context(), c, to, v.token); err != nil {
				return fmt.Errorf("the server doesn't make version %s current: %w (fix: `relay fleet doctor`)", to, err)
			}
			v.Current = to
			stuck, err := v.stuck(cmd.Context(), e)
			if err != nil {
				return err
			}
			text := "what is submitted from now on is made by version " + to + "\n"
			if all {
				if err := move(cmd.Context(), c, stuck); err != nil {
					return err
				}
				text += fmt.Sprintf("moved to it, since no worker has their version: %d\n", len(stuck))
			} else if len(stuck) > 0 {
				text += fmt.Sprintf("waiting for a version that no worker has: %d\nnext: relay fleet use %s --move\n", len(stuck), to)
			}
			return e.print("use", map[string]any{"current": to, "waiting": stuck, "moved": all}, text)
		}}
	cmd.Flags().BoolVar(&all, "move", false, "also what was submitted before, if no worker has its version")
	return cmd
}

// newer is what to do about a server without versions.
const newer = "use Temporal's server 1.29.1 or later, with system.enableDeploymentVersions"

// String is the versions that have workers.
func (v *versions) String() string {
	var there []string
	for version, n := range v.Workers {
		if n > 0 {
			there = append(there, version)
		}
	}
	slices.Sort(there)
	if len(there) == 0 {
		return "none"
	}
	return strings.Join(there, ", ")
}

// stuck are the runs that wait for a version that no worker has.
func (v *versions) stuck(ctx context.Context, e *engine) ([]string, error) {
	all, err := runs(ctx, e, "1s")
	ids := []string{}
	for _, s := range all {
		if s.Stuck {
			ids = append(ids, s.ID)
		}
	}
	return ids, err
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// checks are the doctor's lines on versions.
func (v *versions) checks(ctx context.Context, e *engine, c client.Client, say func(string, error)) {
	if v == nil {
		say("the server has no versions of workers: two can't run side by side ("+newer+")", nil)
		return
	}
	all, err := runs(ctx, e, "1s")
	if err != nil {
		say("the runs", err)
		return
	}
	open, dark := map[string]int{}, 0
	labels := map[[2]string]int{}
	for _, s := range all {
		if open[s.Version]++; s.About == nil {
			dark++
		} else if s.About.Label != "" {
			labels[[2]string{s.About.Label, s.Version}]++
		}
	}
	for of, n := range labels {
		there, err := workersOf(ctx, e, c, queueOf(of[0]), enumspb.TASK_QUEUE_TYPE_ACTIVITY)
		if err == nil && there[of[1]] == 0 {
			err = fmt.Errorf("no worker of version %s has it, and %s waiting (fix: `relay fleet worker --label %s` with that version, or `relay fleet stop`)", of[1], count(n, "run"), of[0])
		}
		if err != nil {
			say("the label "+of[0], err)
		}
	}
	if dark > 0 {
		say("what is under way", fmt.Errorf("the blobs of %s can't be read here (fix: --blobs and --blobs-key as where it was submitted)", count(dark, "run")))
	}
	for _, version := range slices.Sorted(maps.Keys(v.Workers)) {
		n, what := v.Workers[version], "version "+version
		if version == v.Current {
			what += " (current)"
		}
		text := fmt.Sprintf("%s: %s, %s", what, count(n, "worker"), count(open[version], "run"))
		switch {
		case n == 0 && version == v.Current:
			say(what, fmt.Errorf("no worker has it, so that nothing that is submitted begins (fix: start one, or `relay fleet use` one of %s)", v))
		case n == 0 && open[version] > 0:
			say(what, fmt.Errorf("no worker has it, and it has %s (fix: start one, or `relay fleet use %s --move`)", count(open[version], "run"), v.Current))
		case n > 0 && version != v.Current && open[version] == 0 && v.Workers[v.Current] > 0:
			say(text+": its workers can be ended", nil)
		case n > 0:
			say(text, nil)
		}
	}
}
