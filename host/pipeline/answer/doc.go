// Package answer reads what the models of a pipeline answer: plans, findings, outcomes,
// verdicts on acceptance criteria, task lists. Each has a schema; a text that does not
// keep it is an error whose words are fit to be shown to the model.
//
// A verdict is worth what its evidence is: [Criteria.Settle] looks up every quote where
// it is said to stand.
//
// It asks no model, runs no command, and does not decide whether a task is done:
// host/pipeline does, its caller.
package answer
