// Command relay-plugin-gemini-cli is the builder that lets Gemini CLI do a task: it
// reads, edits and runs commands in the workspace.
//
// Gemini CLI has no fence of its own around the model's commands; relay's box is the
// fence. Of the user's and the repository's settings, hooks, servers, skills and
// extensions nothing is loaded, and the model's commands do not see the API key.
package main
