// Package detect looks at a repository and a machine and says what a first
// configuration needs: languages, the commands that test and lint, where sources
// lie, the default branch, and which agent programs are installed.
//
// It reads a few well-known files at the root and starts nothing but git; it
// never runs what it finds. It does not write the configuration and does not know
// plugins.
//
// Callers: host, for init and doctor.
package detect
