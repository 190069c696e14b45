// Command gen compiles relay's .proto files without protoc and runs the pinned
// Go generators (the tools of this module's go.mod) on them.
//
//	go run . PROTO_ROOT OUT_DIR
//
// It does not freeze anything (a test of sdk does). Caller: make generate.
package main
