// Package httpapi is what the vendors' HTTP APIs have in common: how long they ask
// to wait, what a broken connection means, and a limit on their silence.
//
// It sends nothing and knows no vendor. Callers: the transports api of the plugins
// claude, codex and gemini.
package httpapi
