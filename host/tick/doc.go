// Package tick is one turn of Brain → Hands → Judge: LOCK, PREFLIGHT, ORCHESTRATE,
// BUILD, JUDGE, VERIFY, REPORT, END.
//
// It is a state machine over host/attempt: one model is asked for one task, one
// builder carries it out in a box, and the judge decides whether it lands. Every end
// leaves a report. Which end it is follows the first-match tables of the seed's
// appendix A.
//
// It does not repeat itself (host/loop does), prints nothing, and trusts nothing that
// a plugin says about what it changed.
//
// Callers: host, host/loop.
package tick
