// Package hosttest is what the tests of the workflows stand on: a repository with a home
// and real plugins ([World]), and the test binary as a relay of its own that is killed
// wherever a crash must be survivable ([Main], [World.Child]).
//
// It knows no workflow and asserts nothing about one; no program contains it.
//
// Callers: tests of host/tick, host/cycle and host/pipeline.
package hosttest
