package drift

import (
	"slices"
	"testing"
	"time"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/testdata/e2e"
	"github.com/paxiom/relay/testdata/fakemodel"
)

// Loud runs the case "text" without what keeps the program from asking other hosts, which
// loud takes away, and fails when the model server, which is its proxy, does not see that:
// then a test in which nobody was seen would show nothing.
func Loud(t *testing.T, p Program, loud func(*sdk.CLI)) {
	path, cases := p.Find(t), Cases(t)
	c := cases[slices.IndexFunc(cases, func(c Case) bool { return c.Name == "text" })]
	script, err := fakemodel.Parse([]byte(`{"`+p.API+`":`+string(c.Turns)+`}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	model := fakemodel.New(script)
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	for name, value := range e2e.Env(t, model) {
		t.Setenv(name, value)
	}
	for name, value := range p.Env {
		t.Setenv(name, value)
	}
	cli := p.Prepare(t, c, path, t.TempDir(), t.TempDir(), model.URL())
	loud(&cli)
	cli.Idle, cli.Timeout = 0, 2*time.Minute
	if _, err := sdk.RunCLI(t.Context(), cli); err != nil {
		t.Fatal(err)
	}
	if len(model.Outside()) == 0 {
		t.Error("it asks other hosts when it may, and that was not seen")
	}
}
