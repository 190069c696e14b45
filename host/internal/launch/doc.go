// Package launch starts one plugin process and ends it again, whatever it does.
//
// It opens the file, refuses it unless its hash is the pinned one, and executes the
// very file that was hashed. It gives the process a group of its own, a standard
// input that ends when relay ends, a private folder for sockets, an allow-listed
// environment and limits; it keeps the tail of what the process says on standard
// error for every error text. Ending is bounded in time: a plugin that is stopped,
// deadlocked or has left children behind holds nobody up.
//
// It does not know which plugins exist or which hash is right (package catalog),
// does not speak the plugin protocol (package pluginhost), and does not contain what
// a plugin may write (package box, by way of [Starter]). Without a box, a descendant
// that has both a session of its own and an environment of its own making is not
// found when the plugin ends.
//
// It connects to the socket that the plugin made in a folder of its own (package
// sdk/socket), never to an address because a plugin announced it.
//
// Callers: package pluginhost.
package launch
