// Command relay-plugin-external is the builder that is not a model: it runs a
// program of the user's, the driver, which reads the task from a file and writes
// its result to another. `cursor` is the older name of the same thing.
//
// The driver is an argv, never a line for a shell. Its contract (arguments,
// environment, files, exit codes) is in docs/plugin-authors/external-driver.md.
// This plugin ends the driver and all that it started, makes sure that a result is
// of this run, and does not look at what the driver did to the tree: the host does.
package main
