// Package judge decides what a change is worth: which paths were touched, which
// rule each of them breaks, and the one verdict that follows.
//
// [Judge] is a pure function: no clock, no file, no network, no model. What it is
// given was read by package box from a place that the builder could not forge.
//
// The package also holds [Git], the one hardened way in which relay calls git: on
// the untouched repository only, never on something a builder could have written.
//
// It does not run builders (judge/box), does not run checks (verify), does not
// write the repository (host/change), and believes nothing that a plugin says.
//
// Callers: judge/box fills the types, host/change asks for the verdict.
package judge
