package main

import (
	_ "embed"

	"github.com/paxiom/relay/plugins/internal/outschema"
)

// review is the transport for reviewers: the program reads the repository in a
// read-only run, and its answer is held to a schema. The program has a review of its
// own (`codex exec review`), which turns what the model found into prose, drops its
// verdict and counts no tokens.
const review = "review"

//go:embed review.schema.json
var reviewText []byte

// reviewSchema holds the answer of a review for which the request has no schema.
var reviewSchema = func() *outschema.Schema {
	s, err := outschema.Compile(reviewText)
	if err != nil {
		panic(err) // it is ours
	}
	return s
}()
