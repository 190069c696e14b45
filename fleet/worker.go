package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"github.com/paxiom/relay/fleet/internal/coordinator"
	"github.com/paxiom/relay/fleet/internal/job"
	"github.com/paxiom/relay/fleet/internal/runner"
)

// workerOptions are what a worker is told on its command line.
type workerOptions struct {
	label, relay, signers string
	slots                 int
	env                   []string
}

func (o *workerOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.label, "label", "", "take the runs that ask for `LABEL`")
	f.IntVar(&o.slots, "slots", 1, "make `N` runs at a time")
	f.StringVar(&o.relay, "relay", "", "start the program `FILE` instead of the relay beside this one")
	f.StringVar(&o.signers, "signers", "", "believe results of other workers by the keys in `FILE`")
	f.StringArrayVar(&o.env, "env", nil, "give relay the variable `NAME` of this worker's environment, such as a key of a provider")
}

func newWorkerCmd(e *engine) *cobra.Command {
	o := &workerOptions{}
	cmd := &cobra.Command{
		Use:     "worker",
		Short:   "Make runs on this machine until it is ended",
		Example: "relay fleet worker --slots 4\nrelay fleet worker --label gpu --slots 1",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runWorker(cmd.Context(), e, o, false) },
	}
	o.flags(cmd)
	return cmd
}

// runWorker makes runs until ctx ends. Its version is made current if there is none, or in any case.
func runWorker(ctx context.Context, e *engine, o *workerOptions, current bool) error {
	if o.slots < 1 {
		return errors.New("a worker has at least one slot (fix: `relay fleet worker --slots 1`)")
	}
	program, err := findRelay(o.relay)
	if err != nil {
		return err
	}
	if o.signers != "" {
		if o.signers, err = filepath.Abs(o.signers); err != nil { // relay is started elsewhere
			return err
		}
	}
	if err := checkLabel(o.label); err != nil {
		return err
	}
	queue, slots := queueOf(o.label), runner.NewSlots(o.slots)
	e.patient = true
	c, err := e.dial(ctx, grpc.WithChainUnaryInterceptor(slots.CallOff(queue)))
	if err != nil {
		return err
	}
	defer c.Close()
	v, err := versionsOf(ctx, e, c)
	if err != nil {
		return err
	}
	relay, err := runner.RelayVersion(program)
	if err != nil {
		return err
	}
	version := ownVersion(relay)
	name, err := ownName()
	if err != nil {
		return err
	}
	place := dataDir("") // no box reaches a socket there, nor in the folder that is for sockets
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		place = filepath.Join(run, "relay-fleet")
	}
	place = filepath.Join(place, strconv.Itoa(os.Getpid())) // two workers of a machine have the same name
	defer os.RemoveAll(place)
	own, socket := job.Pool+"@"+name, filepath.Join(place, "sock")
	r := &runner.Worker{Relay: program, Dir: dataDir("checkouts"), Signers: o.signers, Queue: own, Label: queue, Env: o.env, Blobs: e.store(), Coordinator: socket,
		Patience: 500 * time.Millisecond, Slots: slots, RelayVersion: relay}
	if v != nil {
		r.Version = version
	}
	workflows := worker.New(c, job.Workflows, worker.Options{LocalActivityWorkerOnly: true, DeploymentOptions: deploymentOptions(v, version)})
	workflows.RegisterWorkflowWithOptions(coordinator.Documents, workflow.RegisterOptions{Name: coordinator.Type, VersioningBehavior: workflow.VersioningBehaviorAutoUpgrade})
	register(workflows)
	if err := workflows.Start(); err != nil {
		return err
	}
	defer workflows.Stop()
	if err := coordinator.Serve(ctx, socket, c, e.store()); err != nil {
		return fmt.Errorf("the socket for relay can't be made: %w (fix: a shorter XDG_RUNTIME_DIR, or `ls -l %s`)", err, filepath.Dir(socket))
	}
	q := &queues{Client: c, tick: r.Tick, all: map[string]worker.Worker{}}
	defer q.stop()
	// Runs that were asked for before workflows had a queue of their own are there, too.
	options, err := bySlots(slots)
	if err != nil {
		return err
	}
	options.DeploymentOptions = deploymentOptions(v, version)
	if err := q.take(queue, options, register); err != nil {
		return err
	}
	if v != nil {
		if err := begin(ctx, e, c, version, current); err != nil {
			return err
		}
	}
	// What asked the operator continues here, where its state is, and nowhere else.
	if err := q.take(own, worker.Options{DisableWorkflowWorker: true}); err != nil {
		return err
	}
	r.Here = func(remote string) { q.mirror(queue, remote) }
	for _, remote := range r.Remotes(ctx) {
		r.Here(remote)
	}
	fmt.Fprintf(os.Stderr, "version %s: waiting for runs of the queue %s, %d at a time\n", version, queue, o.slots)
	<-ctx.Done()
	return nil
}

func register(w worker.Worker) {
	w.RegisterWorkflowWithOptions(job.Repository, workflow.RegisterOptions{Name: job.RepositoryType, VersioningBehavior: workflow.VersioningBehaviorAutoUpgrade})
	w.RegisterWorkflowWithOptions(job.Run, workflow.RegisterOptions{Name: job.RunType, VersioningBehavior: workflow.VersioningBehaviorPinned})
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9.-]`)

// ownName is that of the worker with this machine's checkouts.
func ownName() (string, error) {
	file := dataDir("worker")
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		host, _ := os.Hostname()
		host = notInNames.ReplaceAllString(host, "")
		b = []byte(host[:min(len(host), 40)] + "-" + rand.Text()[:6])
		if err = os.MkdirAll(filepath.Dir(file), 0o700); err == nil {
			err = os.WriteFile(file, b, 0o600)
		}
	}
	return string(b), err
}

func queueOf(label string) string {
	if label == "" {
		return job.Pool
	}
	return job.Pool + "-" + label
}

var labelPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

func checkLabel(label string) error {
	if label != "" && !labelPattern.MatchString(label) {
		return fmt.Errorf("%q is no label: it has up to 40 letters, digits, dots, dashes and underscores (fix: --label gpu, for example)", label)
	}
	return nil
}

// findRelay looks where relay is installed: beside this program, or in bin beside libexec.
func findRelay(named string) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", err
	}
	for _, place := range []string{"relay", "../../bin/relay"} {
		at := filepath.Join(filepath.Dir(self), place)
		if _, err := exec.LookPath(at); err == nil {
			return at, nil
		}
	}
	return "", fmt.Errorf("there is no relay beside %s (fix: install relay there, or `relay fleet worker --relay FILE`)", self)
}
