// Package termtest is a real terminal for tests: a tmux server of its own, in which a
// program runs, keys are typed and the screen is looked at.
//
// It keeps no golden screens and knows no program of relay's; its callers do.
package termtest
