// Package modproxy is a proxy of Go modules with a checksum database of its own, on
// loopback: all that the go command needs for modules that nobody has published. Modules
// are published from folders; whatever else is asked for comes out of the module cache of
// this machine, vouched for by a go.sum.
//
// It is for tests only, and no more than the go command needs of it. What is published a
// second time under one version is served, while the database keeps the sums of the
// first: that is how it tampers.
package modproxy
