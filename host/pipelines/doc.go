// Package pipelines is what `relay pipeline` and `relay task` call: they write, import and generate
// the task list, change and answer its tasks, and work through it.
//
// How a task is carried out is host/pipeline; what waits is gathered by host/views.
//
// Caller: cmd/relay.
package pipelines
