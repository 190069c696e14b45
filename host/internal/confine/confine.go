package confine

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/broker"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/netproxy"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// Role is whom a box is for.
type Role string

// The roles.
const (
	Builder      Role = "builder"
	Provider     Role = "provider"
	Verification Role = "verification"
)

// The networks.
const (
	full   = "full"
	needed = "needed"
	hosts  = "hosts"
	none   = "none"
)

// Plan is what the boxes of one role may use. It serves any number of them.
type Plan struct {
	role    Role
	network string
	output  int64 // bytes
	confine box.Confine
	proxy   *netproxy.Proxy // nil without listed hosts
	broker  *broker.Broker  // nil for plugins that have their keys themselves
	held    *catalog.Entry  // the plugin that is held to its grants; nil for others

	open atomic.Bool // the means could not narrow the network

	mu   sync.Mutex
	last *box.Process
}

// For works out the plan of a role. needs are the hosts that it needs for its work, for
// the network "needed". notice, which may be nil, is told of each host that is refused,
// once.
func For(c config.Box, role Role, needs []string, notice func(netproxy.Refusal)) (*Plan, error) {
	p := &Plan{role: role, network: network(c.Network, role), output: mb(c.Limits.OutputMB)}
	l := c.Limits
	p.confine.Limits = box.Limits{Processes: l.Processes, Memory: mb(l.MemoryMB), CPUs: l.CPUs, CPUTime: time.Duration(l.CPUSeconds) * time.Second,
		OpenFiles: l.OpenFiles, File: mb(l.FileMB), Disk: mb(l.DiskMB)}
	if l.MemoryMB == 0 {
		p.confine.Limits.Memory = machineMemory("MemTotal:") / 4 * 3
	}
	p.confine.Limits.FreeMemory = min(keptMemory, machineMemory("MemTotal:")/20, (machineMemory("MemAvailable:")+machineMemory("SwapFree:"))/2)
	p.confine.OwnNetwork = p.network != full
	names := c.Network.Hosts
	switch {
	case p.network == needed && role == Verification:
		names = needs
	case p.network == needed:
		names = slices.Concat(needs, names)
	case p.network != hosts:
		return p, nil
	}
	list, err := netproxy.ParseHosts(names)
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedMissingConfig, "box.network.hosts can't be used", "`relay config show box.network`")
	}
	p.proxy = netproxy.New(list, notice)
	p.confine.Listen = p.proxy.Listen()
	return p, nil
}

// network is what a role reaches. A check runs what the builder wrote: with all of the
// network it could send what the builder could not.
func network(n config.Network, role Role) string {
	switch role {
	case Provider:
		return n.Provider
	case Verification:
		switch {
		case n.Verification != "auto":
			return n.Verification
		case n.Builder == hosts: // which are not listed for what the builder wrote
			return none
		}
		return n.Builder
	}
	return n.Builder
}

func mb(n int) int64 { return int64(n) * 1_000_000 }

// keptMemory is what is left to others of the machine's memory: a twentieth of a small one,
// and never more than half of what is free at the start.
const keptMemory = 256 << 20

// machineMemory is one figure about the memory of this machine in bytes, 0 when it is unknown.
func machineMemory(name string) int64 {
	text, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}

// Start starts a process in a box with what the plan gives it; a nil plan takes
// nothing away.
func (p *Plan) Start(b *box.Box, proc box.Proc) (*box.Process, error) {
	if p == nil {
		return b.Start(proc)
	}
	proc.Confine = p.confineBy(b.Means())
	if p.proxy != nil && proc.Confine.OwnNetwork {
		proc.Env = append(without(proc.Env, p.proxy.Env()), p.proxy.Env()...)
	}
	run, err := b.Start(proc)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.mu.Lock()
	p.last = run
	p.mu.Unlock()
	sockets := run.Listeners()
	defer closeAll(sockets)
	p.open.Store(p.confine.OwnNetwork && !proc.Confine.OwnNetwork)
	serve := proc.Confine.OwnNetwork && len(sockets) > 0 // there are none when it has ended already
	if p.broker != nil && p.network != full && serve {
		err = p.broker.Serve(ctx, sockets[len(sockets)-1])
		sockets = sockets[:len(sockets)-1]
	}
	if p.proxy != nil && err == nil && serve {
		err = p.proxy.Serve(ctx, sockets)
	}
	go func() { run.Wait(); cancel() }()
	if err != nil {
		run.Kill()
		run.Wait()
		return nil, fmt.Errorf("serve the network of a box: %w", err)
	}
	return run, nil
}

// closeAll closes sockets that are served by now: each server has a copy of its own.
func closeAll(sockets []*os.File) {
	for _, s := range sockets {
		s.Close()
	}
}

// without takes the entries out of env that others replace.
func without(env, others []string) []string {
	names := map[string]bool{}
	for _, kv := range others {
		name, _, _ := strings.Cut(kv, "=")
		names[name] = true
	}
	var out []string
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !names[name] {
			out = append(out, kv)
		}
	}
	return out
}

// Output is how much a process may print, in bytes; 0 is any amount. The reader
// ends the process by [box.Process.Exceed].
func (p *Plan) Output() int64 {
	if p == nil {
		return 0
	}
	return p.output
}

// Serve lets the boxes of the plan reach a broker: on the loopback interface of their own
// network, or on this machine's when they have none of their own.
func (p *Plan) Serve(b *broker.Broker) error {
	p.broker = b
	if p.network == full {
		return b.Listen()
	}
	for port := brokerPort; ; port++ { // in the box, where nobody else is
		at := "127.0.0.1:" + strconv.Itoa(port)
		if !slices.Contains(p.confine.Listen, at) {
			p.confine.Listen = append(p.confine.Listen, at)
			b.At(at)
			return nil
		}
	}
}

const brokerPort = 3129

// Brokered says that the boxes of the plan have a broker in place of keys.
func (p *Plan) Brokered() bool { return p != nil && p.broker != nil }

// confineBy is what holds by one means. What a role needs is worked out by relay and not
// asked for by anybody: where it can't be had, the network is open, and Gaps says so.
func (p *Plan) confineBy(means string) box.Confine {
	c := p.confine
	if means != box.Overlay && p.network == needed && p.held == nil {
		c.OwnNetwork, c.Listen = false, nil
	}
	return c
}

// Reach is the network of the role, and the hosts in it.
func (p *Plan) Reach() (network string, hosts []string) {
	if p.proxy != nil {
		for _, h := range p.proxy.Hosts() { // one that is needed may be listed, too
			if !slices.Contains(hosts, h.Entry()) {
				hosts = append(hosts, h.Entry())
			}
		}
	}
	return p.network, hosts
}

// Gaps says, in one sentence each, what the plan leaves open by a means.
func (p *Plan) Gaps(means string) []string {
	c := p.confineBy(means)
	gaps := c.Gaps()
	if c.OwnNetwork != p.confine.OwnNetwork {
		gaps = append(gaps, "box.network."+string(p.role)+" is "+needed+", and the means "+means+" can't narrow a network.")
	}
	if p.broker != nil {
		gaps = append(gaps, "Whatever runs beside the plugin can ask the vendor's models through the broker, until the plugin ends.")
	}
	return gaps
}

// Report is the network of the role for the report, with what was refused since the
// report before; nil when it is the full one.
func (p *Plan) Report() *report.Network {
	if p == nil || p.network == full || p.open.Load() {
		return nil
	}
	n := &report.Network{Role: string(p.role), Mode: p.network}
	if p.proxy != nil {
		n.Refused = p.proxy.Refusals()
	}
	return n
}

// Tell passes what was refused since the previous report to keep, if anything was.
func (p *Plan) Tell(keep func(report.Network)) {
	if keep == nil {
		return
	}
	if n := p.Report(); n != nil && len(n.Refused) > 0 {
		keep(*n)
	}
}

// keys are the configuration's names of the limits.
var keys = map[string]string{
	box.LimitProcesses: "processes", box.LimitMemory: "memory_mb", box.LimitCPUTime: "cpu_seconds",
	box.LimitFile: "file_mb", box.LimitDisk: "disk_mb", box.LimitOutput: "output_mb",
}

// Exceeded is the verdict when the last box of the plan was ended for a limit; nil
// when it was not. who is the plugin or the check.
func (p *Plan) Exceeded(who string) *diag.Error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil || p.last.Exceeded() == nil {
		return nil
	}
	if p.held != nil {
		if f := p.ungranted(p.last.Exceeded()); f != nil {
			return f
		}
	}
	return Fault(who, p.last.Exceeded())
}

// Error says in words that a box was ended for a limit.
func Fault(who string, e *box.Exceeded) *diag.Error {
	f := &diag.Error{Code: judge.StopInterrupted, What: who + " took more of the machine than its box may", Err: e,
		Why: e.Error() + "; it was ended with all that it had started",
		Fix: "`df -h` shows the disks; make room, then `relay run`"}
	if e.Limit == box.LimitFreeMemory {
		f.Fix = "`free -h` shows the machine's memory; end what takes it, or give boxes less by box.limits.memory_mb, then `relay run`"
	}
	if key := keys[e.Limit]; key != "" {
		f.Fix = "`relay config show box.limits`; if it needs that much, raise box.limits." + key
	}
	return f
}
