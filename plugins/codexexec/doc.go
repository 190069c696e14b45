// Command relay-plugin-codex-exec is the builder that lets Codex do a task: it
// reads, edits and runs commands in the workspace.
//
// Codex has a sandbox of its own, which is kept where it works: writing in the
// workspace only, no network. Inside relay's box it often can't be made; the box is
// the fence then, and the build says so. Of the user's and the repository's
// settings, rules, memory, skills and plugins nothing is loaded, and the model's
// commands do not see the API key.
package main
