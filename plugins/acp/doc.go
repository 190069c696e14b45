// Command relay-plugin-acp is the builder for every agent that speaks the Agent Client
// Protocol: the program that the configuration names is started in the workspace and
// asked once.
//
// What the agent wants of its client is served inside the box only: files of the
// workspace through a root that no link leaves, commands as processes of the box that
// end with the build, permissions by the configured policy and without a person. The
// agent's own settings, servers and memory are its own: relay does not know them and
// can't leave them out.
package main
