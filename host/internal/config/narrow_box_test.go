package config

import (
	"slices"
	"strings"
	"testing"
)

// A repository can close the network and tighten the limits, and not the other way
// round.
func TestNarrowingOfBoxes(t *testing.T) {
	for _, c := range []struct{ name, user, repo, network, hosts string }{
		{"closer", `{"builder":"hosts","hosts":["a.org","b.org"]}`, `{"builder":"none","hosts":["a.org"]}`, "none needed auto", "a.org"},
		{"wider", `{"builder":"hosts","provider":"none","hosts":["a.org"]}`, `{"builder":"full","provider":"hosts","hosts":["a.org","evil.org"]}`, "hosts none auto", "a.org"},
		{"wider than a list", `{"builder":"hosts","provider":"hosts","hosts":["a.org"]}`, `{"builder":"needed","provider":"needed"}`, "hosts hosts auto", "a.org"},
		{"checks as wide as the builder", `{"builder":"full","verification":"needed"}`, `{"verification":"auto"}`, "full needed needed", ""},
		{"checks wider", `{"builder":"hosts","verification":"none"}`, `{"verification":"full"}`, "hosts needed none", ""},
		{"checks of the same", `{"builder":"hosts","verification":"auto"}`, `{"verification":"hosts"}`, "hosts needed auto", ""},
		{"nothing of the user's", `{}`, `{"builder":"hosts","hosts":["a.org"]}`, "hosts needed auto", "a.org"},
	} {
		l := load(t, map[string]string{"user/config.json": `{"box":{"network":` + c.user + `}}`, "relay.config.json": `{"box":{"network":` + c.repo + `}}`})
		n := l.Config.Box.Network
		if got := strings.Join([]string{n.Builder, n.Provider, n.Verification}, " "); got != c.network || strings.Join(n.Hosts, " ") != c.hosts {
			t.Errorf("%s: %s, hosts %q", c.name, got, n.Hosts)
		}
	}
	l := load(t, map[string]string{"user/config.json": `{"box":{"limits":{"processes":100,"disk_mb":50}}}`, "relay.config.json": `{"box":{"limits":{"processes":0,"disk_mb":20,"memory_mb":70}}}`})
	if got := l.Config.Box.Limits; got.Processes != 100 || got.DiskMB != 20 || got.MemoryMB != 70 || got.FileMB != 20000 {
		t.Errorf("%+v", got)
	}
}

// What a repository opens needs a person's yes.
func TestGrantsOfBoxes(t *testing.T) {
	for text, want := range map[string][]string{
		`{}`: nil,
		`{"network":{"builder":"none","provider":"hosts"}}`:         nil,
		`{"network":{"hosts":["a.org"],"verification":"full"}}`:     {"box.network.hosts", "box.network.verification"},
		`{"network":{"builder":"full","provider":"needed"}}`:        {"box.network.builder"},
		`{"limits":{"processes":0}}`:                                {"box.limits"},
		`{"limits":{"memory_mb":100}}`:                              {"box.limits"},
		`{"limits":{"processes":4096}}`:                             nil,
		`{"limits":{"processes":10,"disk_mb":1,"open_files":5}}`:    nil,
		`{"limits":{"processes":10,"disk_mb":1e6,"cpu_seconds":5}}`: {"box.limits"},
	} {
		l := load(t, map[string]string{"relay.config.json": `{"box":` + text + `}`})
		var got []string
		for _, g := range l.Grants() {
			got = append(got, g.Key)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestHostsAreChecked(t *testing.T) {
	for _, host := range []string{"https://a.org", "a.org/path", "*", "a b", "a.org:0", ""} {
		_, err := Load(setup(t, map[string]string{"relay.config.json": `{"box":{"network":{"hosts":["` + host + `"]}}}`}))
		refused(t, err, "box.network.hosts")
	}
}
