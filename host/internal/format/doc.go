// Package format puts numbers and long texts into the sentences that relay writes: how many
// of a thing, what it cost, the beginning of what is too long.
//
// It makes nothing safe to show: what a model or a stranger wrote goes through package
// report or redact as well. What is cut by bytes, or at its beginning, is cut where the
// limit is.
//
// Callers: the workflows, and the writers of reports, digests and logs.
package format
