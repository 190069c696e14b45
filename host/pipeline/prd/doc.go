// Package prd is the task list of a pipeline: the file prd.json, read strictly,
// checked as a graph, and edited so that whatever relay does not know stays as it is.
//
// A [List] is one reading of the file and never changes. A [File] reads it again
// whenever it changed on disk, since the operator may edit it while a pipeline runs,
// and makes each edit on the newest bytes.
//
// It does not run anything, asks no model, knows no git, and does not decide whether a
// task was done: that is host/pipeline, its caller besides the commands.
package prd
