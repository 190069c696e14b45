// Package task reads the one thing that an orchestrator may say: a task, as strict
// JSON that fits schemas/task.schema.json.
//
// It does not ask a model, does not decide whether to retry, and does not check
// that a verification template exists: an unknown one is STOP_VERIFY_TAINTED
// (package verify), not an invalid task.
//
// Callers: host/tick and the commands that take a task file.
package task
