// Package digest is what a person wants to know after a night: what landed, what
// stopped and why, what it cost against which caps, what waits for them, and, before all
// that, what can't be trusted yet.
//
// It renders as Markdown and as one self-contained page of HTML with plots. Everything
// that a model, a builder or a file name could have written is escaped in both.
//
// It gathers nothing (host does) and decides nothing.
//
// Caller: host.
package digest
