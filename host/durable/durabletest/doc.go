// Package durabletest is the conformance suite of package durable: one list of rules
// that every engine passes.
//
// It does not test a workflow; it tests that workflows can trust an engine.
//
// Callers: the tests of each engine.
package durabletest
