package main

import (
	"testing"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

var cases = []plugintest.Case{
	{Name: "echo", Complete: &sdk.CompleteRequest{Contents: []sdk.Content{{Text: "hello"}}}, WantText: "hello"},
	{Name: "empty", Complete: &sdk.CompleteRequest{}, WantReason: sdk.BadRequest},
}

func TestInProcess(t *testing.T) {
	plugintest.Run(t, plugintest.Config{Cases: cases, Serve: plugintest.Fresh(sdk.Info{Name: "echo", Version: version},
		func() sdk.Part { return sdk.Provider{Complete: complete} })})
}

func TestBinary(t *testing.T) {
	plugintest.Run(t, plugintest.Config{Cases: cases, Binary: plugintest.Build(t, ".")})
}
