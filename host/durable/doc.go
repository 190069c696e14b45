// Package durable is the seam under all workflows: code that survives a crash, a
// reboot and a week of waiting without doing anything twice that costs money or
// changes a repository.
//
// A [Workflow] is ordinary, deterministic Go code that asks for [Step]s
// (work with an effect), [Flow.Wait]s (a gate or an answer), [Flow.SleepUntil],
// [Flow.Now] and [Flow.Progress]. When relay starts again the code
// runs from its first line; what is recorded is handed back instead of done again.
//
// A step's result is small: hashes, ids, counts. It never holds a secret, a prompt,
// a transcript or a diff; those live in files that the result names. Every step has
// an idempotency key that it puts into what it leaves behind (a commit trailer, a
// file name), because a step that was under way at a crash is asked for once more.
//
// [Files] keeps runs in folders. The fleet has Temporal above whole commands of relay,
// which keep their own runs here.
//
// It does not know what a tick, a cycle or a task is, does not retry (the workflow
// decides), and does not print.
package durable
