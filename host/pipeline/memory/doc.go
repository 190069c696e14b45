// Package memory is what one task of a pipeline leaves behind for the next:
// pipeline/context.json in the workspace, a short record of each finished task and a
// rolling summary.
//
// The file is committed with the work, so two branches may each have added to it:
// [Merge] joins them, and [Read] undoes the marks that git leaves when it could not.
// Its words come from models: they are data, cut to size, and never decide anything.
//
// It does not run tasks and does not commit; host/pipeline does.
package memory
