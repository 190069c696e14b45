// Package builderresult makes the result document of builders that are not a
// model: what was done, which files, which commands, what a person should know.
//
// It keeps the document inside the limits of relay's builder_result schema, and
// does not check documents that others made. Callers: the plugins patch and
// external.
package builderresult
