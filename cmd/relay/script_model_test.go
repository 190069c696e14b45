package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/paxiom/relay/testdata/fakemodel"
)

// cmdModel starts a model server on loopback that answers from model.json, and names its
// address in MODEL.
func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	script, err := fakemodel.Load(ts.MkAbs("model.json"), nil)
	ts.Check(err)
	server := fakemodel.New(script)
	ts.Check(server.Start("127.0.0.1:0"))
	ts.Defer(func() {
		if err := server.Close(); err != nil && !os.IsNotExist(err) {
			ts.Logf("the model server: %v", err)
		}
	})
	ts.Setenv("MODEL", server.Addr())
}
