package confine

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/judge/box"
)

// A check runs what the builder wrote, so by default it has all of the network only
// where the builder has.
func TestNetworkOfRoles(t *testing.T) {
	for _, c := range []struct{ builder, provider, verification, want string }{
		{"full", "full", "auto", "full full full"},
		{"hosts", "full", "auto", "hosts full none"},
		{"none", "hosts", "auto", "none hosts none"},
		{"none", "none", "hosts", "none none hosts"},
		{"full", "full", "none", "full full none"},
		{"needed", "needed", "auto", "needed needed needed"},
		{"needed", "full", "none", "needed full none"},
	} {
		conf := config.Box{Network: config.Network{Builder: c.builder, Provider: c.provider, Verification: c.verification, Hosts: []string{"api.example.org", "127.0.0.1:8080"}}}
		var got []string
		for _, role := range []Role{Builder, Provider, Verification} {
			p, err := For(conf, role, []string{"registry.example.org", "127.0.0.1:8081"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p.network)
			if p.confine.OwnNetwork != (p.network != full) || (len(p.confine.Listen) > 1) != (p.network == hosts || p.network == needed) || (p.Report() == nil) != (p.network == full) {
				t.Errorf("%s: %+v", role, p.confine)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestLimits(t *testing.T) {
	p, err := For(config.Box{Limits: config.BoxLimits{Processes: 10, FileMB: 2, DiskMB: 3, OutputMB: 4, CPUSeconds: 5, CPUs: 6, OpenFiles: 7}, Network: config.Network{Builder: full}}, Builder, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := p.confine.Limits
	if l.Processes != 10 || l.File != 2e6 || l.Disk != 3e6 || p.Output() != 4e6 || l.CPUTime.Seconds() != 5 || l.CPUs != 6 || l.OpenFiles != 7 {
		t.Errorf("%+v", l)
	}
	if l.Memory != machineMemory("MemTotal:")/4*3 || l.Memory == 0 {
		t.Errorf("without a limit of its own a box has three quarters of the machine: %d", l.Memory)
	}
}

// Where the means can't narrow a network, what nobody asked for is left out, and said;
// what the operator asked for stays, so that such a box is refused.
func TestNetworkByMeans(t *testing.T) {
	for network, narrowed := range map[string]bool{"needed": false, "hosts": true, "none": true, "full": false} {
		p, err := For(config.Box{Network: config.Network{Builder: network}}, Builder, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, means := range []string{box.Landlock, box.Copy} {
			if got := p.confineBy(means).OwnNetwork; got != narrowed {
				t.Errorf("%s by %s: %v", network, means, got)
			}
			if said := strings.Contains(strings.Join(p.Gaps(means), " "), "can't narrow a network"); said != (network == "needed") {
				t.Errorf("%s by %s: %q", network, means, p.Gaps(means))
			}
		}
		if got := p.confineBy(box.Overlay).OwnNetwork; got != (network != "full") {
			t.Errorf("%s by the overlay: %v", network, got)
		}
	}
}

// A check has the registries, and nothing that is listed for builders.
func TestNeeded(t *testing.T) {
	conf := config.Box{Network: config.Network{Builder: "needed", Provider: "needed", Verification: "auto", Hosts: []string{"api.example.org"}}}
	for role, want := range map[Role]string{Builder: "needed registry.example.org api.example.org", Verification: "needed registry.example.org"} {
		p, err := For(conf, role, []string{"registry.example.org"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		network, hosts := p.Reach()
		if got := network + " " + strings.Join(hosts, " "); got != want {
			t.Errorf("%s: %q", role, got)
		}
	}
}

// Every limit has a key in the configuration that the advice can name.
func TestFaultsNameTheKey(t *testing.T) {
	for _, limit := range []string{box.LimitProcesses, box.LimitMemory, box.LimitCPUTime, box.LimitFile, box.LimitDisk, box.LimitOutput} {
		if f := Fault("the builder x", &box.Exceeded{Limit: limit, Got: 2, Max: 1}); keys[limit] == "" || !strings.Contains(f.Fix, "box.limits."+keys[limit]) {
			t.Errorf("%s: %s", limit, f.Fix)
		}
	}
	if f := Fault("the builder x", &box.Exceeded{Limit: box.LimitFreeDisk}); !strings.Contains(f.Fix, "df -h") {
		t.Error(f.Fix)
	}
	if f := Fault("the builder x", &box.Exceeded{Limit: box.LimitFreeMemory}); !strings.Contains(f.Fix, "free -h") {
		t.Error(f.Fix)
	}
}

// The last part of the machine's memory is left to others, whatever the configuration says.
func TestMemoryIsLeft(t *testing.T) {
	p, err := For(config.Box{Limits: config.BoxLimits{MemoryMB: 1 << 30}}, Builder, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if l := p.confine.Limits; l.FreeMemory <= 0 || l.FreeMemory > keptMemory || l.FreeMemory > machineMemory("MemTotal:")/20 {
		t.Errorf("%+v", l)
	}
}
