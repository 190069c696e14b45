package catalog

import (
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/launch"
)

// What a developer brings stands in for whatever else has its name, and is held to what it
// declares; a process that waits is held by nothing and gets nothing.
func TestBroughtStandsIn(t *testing.T) {
	c := &Catalog{entries: []Entry{{Name: "foo", Source: "builtin/foo", State: OK, Kinds: []Kind{Builder}}, {Name: "zoo", State: OK}}}
	pin := Pin{Source: "local/foo", Version: "1.0.0", Protocol: 1, Kinds: []Kind{Builder}, Hashes: map[string]string{Platform: "sha256:" + strings.Repeat("a", 64)},
		Declared: Rights{Env: []string{"KEY!"}, Hosts: []string{"api.example"}}}
	c.Put(Brought("foo", pin, "/dev/folder", "--dev foo=x"))
	e, err := c.Find("foo", Builder)
	if err != nil || e.Unpinned != "--dev foo=x" || e.Builtin() || e.Pin == nil || len(e.Hosts) != 1 || len(e.Env) != 1 || !e.Env[0].Secret || !strings.HasPrefix(e.Path, "/dev/folder/local/foo/") {
		t.Errorf("%+v %v", e, err)
	}
	if pin.Granted != nil {
		t.Error("the caller's pin was granted something")
	}
	var states []string
	for _, have := range c.entries {
		states = append(states, have.Name+" "+string(have.State))
	}
	if got := strings.Join(states, ", "); got != "foo ok, foo shadowed, zoo ok" {
		t.Error(got)
	}
	c.Put(Waiting(Entry{Name: "foo", Version: "2.0.0", Kinds: []Kind{Builder}, Env: []EnvVar{{Name: "KEY"}}}, launch.Attached{Pid: 7}, "--reattach foo"))
	e, err = c.Find("foo", Builder)
	if err != nil || e.Version != "2.0.0" || e.Attach == nil || len(e.Env) > 0 || e.Pin != nil || e.Builtin() || !strings.Contains(e.Reinstall(), "--debug") {
		t.Errorf("%+v %v", e, err)
	}
	for _, e := range c.List() {
		if e.Name == "foo" && e.Unpinned == "--reattach foo" && e.State != OK {
			t.Errorf("listed as %+v", e)
		}
	}
}
