package main

import (
	"context"

	"github.com/paxiom/relay/sdk"
)

func main() {
	sdk.Serve(sdk.Info{Name: "echo", Version: version}, sdk.Provider{Complete: complete})
}

var version = "0.1.0"

func complete(ctx context.Context, r *sdk.CompleteRequest, out sdk.Events) (*sdk.Completion, error) {
	if r.Text() == "" {
		return nil, sdk.Fail(sdk.BadRequest, "the prompt is empty", sdk.Fix("pass a prompt"))
	}
	out.Text(r.Text()) // streamed
	return &sdk.Completion{Text: r.Text()}, nil
}
