// Package bench measures what relay promises about itself and prints one table:
// each figure beside its aim, with `git status` of the same repository in the same
// run as the yardstick of the machine.
//
//	go test ./internal/bench -run '^$' -bench Relay -benchtime 1x -timeout 2h -args [-only PARTS] [-quick] [-repo DIR]
//
// It asserts nothing: figures of a busy machine are no test. Everything happens in
// a temporary folder with a home of its own.
//
// Caller: `make bench`.
package bench
