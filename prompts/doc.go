// Package prompts turns what relay knows into the texts that models read: the
// orchestrator (which proposes one task) and the builder (which carries it out), in
// audit cycles those who audit, refine and revise, and in pipelines those who plan,
// code, review, clean up, check criteria and make the task list.
//
// Values are data. A value is fenced line by line, so that nothing in a file, a
// report or a model's answer can pass for relay's own words, and it is never
// parsed as a template. Each section has a cap; what was cut is said in its place.
// A template of the operator's own may use the same placeholders and nothing else.
//
// It does not gather the values (the workflows do), does not send anything, and
// knows no provider.
//
// Callers: the workflows.
package prompts
