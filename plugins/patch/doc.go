// Command relay-plugin-patch is the builder that applies a unified diff: the one
// that a task carries. It works with any model that can write a patch, and needs
// no model itself.
//
// `git apply` does the work, inside the box, with nothing configured that runs a
// program. The patch applies as a whole or not at all: no fuzz, no merging. A line
// number that is off is tolerated when the lines themselves match, and is noted.
// What the patch did to the tree is judged by the host like any other build; this
// plugin only refuses early what can never be right.
package main
