// The program relay-fleet-server is a Temporal server for one machine, with its state in one
// SQLite file: for trying the fleet, and for its tests. It listens on loopback only. A fleet
// that matters has a Temporal cluster.
//
// It is a module of its own, since those who have a cluster need none of its two hundred
// dependencies.
package main
