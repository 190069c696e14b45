// Package socket connects a host to the one socket that its plugin may listen on.
//
// A plugin says on its first line where it listens, and what it says is not believed:
// a host that dials an address of a plugin's choosing connects from outside of every
// box, to a server elsewhere, to another program of the user, and looks names up on the
// way. So a host makes an empty [Folder] for each start. The plugin names a socket in
// it, and nothing else is ever connected: not by another network, another path or a
// link. What was checked is what is connected, whatever happens to the name meanwhile,
// and the process that listens must be one of the plugin's own.
//
// It starts nothing, resolves no names and knows nothing of what is said over the
// connection.
//
// Callers: host/internal/launch, sdk/plugintest.
package socket
