// Package report is the record of one run: REPORT.json, the only truth, and
// REPORT.md, which is rendered from it and from nothing else.
//
// It does not judge and does not decide where files go (workspace).
//
// Callers: the workflows write it, host reads it for status, show and history.
package report
