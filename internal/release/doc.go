// Command release makes what users download, of the last commit of the current branch: for
// each platform an archive and an SBOM of what is in it (CycloneDX, held against its
// schema), for Linux a deb and an rpm (by nfpm, a tool of .ci/tools), with all platforms the
// definitions for a container, Homebrew and Nix, and SHA256SUMS over all of them. An archive has relay, its plugins, man pages
// and completions, as they lie below a prefix.
//
//	go run ./internal/release -o dist
//	go run ./internal/release -o out/release -platforms linux/amd64 -check
//
// The same commit gives the same bytes, whenever and wherever they are made by the same
// Go: everything is built in a fresh clone, without paths, times or names of the machine.
// -check makes all of it a second time, in another folder and from an empty build cache,
// and compares every file.
//
// It does not publish, sign, or tag.
//
// Callers: Makefile, CI.
package main
