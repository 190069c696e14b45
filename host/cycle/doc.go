// Package cycle is the audit cycle: models audit, a person approves the plan, one
// model revises, tests run, a person accepts.
//
// It is a workflow over host/durable whose states and transitions stand in one table.
// Each transition is in state.json before it acts. The two gates are waits of the
// engine: only an approval that was given on this machine, for exactly the plan, tree
// and audits that are there now, lets a cycle pass one.
//
// A cycle has a git work tree of its own, on a branch of its own; the operator's
// checkout is never touched. What a model answers goes through host/attempt like
// every other change. A paid answer is stored before it is used, so none is bought twice.
//
// It does not merge, does not decide for the operator, opens no editor, and prints
// nothing.
//
// Caller: host.
package cycle
