// Package netproxy lets programs that have no network of their own reach the hosts
// that were listed, and no other.
//
// It serves the sockets that listen inside a box's own network (judge/box): one for a
// proxy that knows the method CONNECT and nothing else, and one for each listed
// address of the machine's own loopback, whose bytes are carried over as they are.
// Host names are looked up here, so the programs need no name service either; a name
// that leads to this machine or its own link is refused. Where the user's environment
// names a proxy for the way out, that one is used.
//
// Auditors should read hosts.go (what is allowed), proxy.go (the conversation with the
// program) and dial.go (the way out).
//
// It does not look into what is sent: a listed host can be sent anything, and can be
// asked for another host's content where it serves both. It does not make the network
// of a box and does not know roles or the configuration (package confine).
//
// Callers: package confine.
package netproxy
