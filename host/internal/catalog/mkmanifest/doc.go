// Command mkmanifest prints what relay is linked with to know its plugins: for every
// relay-plugin-NAME in the given folders (or each given file) its hash and what it says with --info. It
// is part of the build; see the flags that it prints the value for:
//
//	go build -ldflags "-X github.com/paxiom/relay/host/internal/catalog.manifest=$(go run ./host/internal/catalog/mkmanifest bin)" ./cmd/relay
//
// It does not build, install or trust: the build that calls it does.
//
// Callers: the build program behind the Makefile.
package main
