// Package judge decides what a change is worth: which paths were touched, which
// rule each of them breaks, and the one verdict that follows.
//
// [Judge] is a pure function: no clock, no file, no network, no model. What it is
// given was read by package box from a place that the builder could not forge.
//
// It does not call git (judge/git), run builders (judge/box) or checks (verify), does not
// write the repository (host/change), and believes nothing that a plugin says.
//
// Callers: judge/box fills the types, host/change asks for the verdict.
package judge
