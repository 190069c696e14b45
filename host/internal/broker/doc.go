// Package broker lends plugins keys that are worth nothing.
//
// A plugin that asks a vendor for models, and an agent with a shell inside its box,
// needs a key and a server. With a broker it gets a random key, made for one start of
// one plugin, and a loopback address; the broker takes what comes there with such a
// key to the vendor's own server, with the real key and TLS, and streams the answer
// back as it comes. The real key stays in relay's own process.
//
// Auditors should read vendor.go (where a key may go: one server, the paths of its
// models), forward.go (what is sent there) and answer.go (what comes back: no key, no
// redirect).
//
// It does not count or limit requests: any holder of the worthless key can ask the
// vendor's models while it is lent. It does not find keys (package keys), knows no
// logins of subscriptions and no clouds, and makes no network (package judge/box).
//
// Callers: package confine for the sockets, package pluginhost for the keys.
package broker
