package main

import (
	"testing"

	"google.golang.org/grpc"

	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/plugintest"
)

var cases = []plugintest.Case{
	{Name: "echo", Complete: &sdk.CompleteRequest{Contents: []sdk.Content{{Text: "hello"}}}, WantText: "hello"},
	{Name: "empty", Complete: &sdk.CompleteRequest{}, WantReason: sdk.BadRequest},
}

func TestInProcess(t *testing.T) {
	plugintest.Run(t, plugintest.Config{Cases: cases, Serve: func() (*grpc.Server, error) {
		return sdk.NewServer(sdk.Info{Name: "echo", Version: version}, sdk.Provider{Complete: complete})
	}})
}

func TestBinary(t *testing.T) {
	plugintest.Run(t, plugintest.Config{Cases: cases, Binary: plugintest.Build(t, ".")})
}
