// Package arch holds the tests that keep the structure as DESIGN drew it: who may
// import whom, that every package says what it is for, and how long files are.
//
// It has no code of its own. Callers: none; `go test ./internal/arch`.
package arch
