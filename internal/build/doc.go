// Command build makes relay and its plugins in one folder, as `make build` and the
// script tests do: every plugins/*/main.go becomes relay-plugin-NAME (NAME is what
// the plugin itself says with --info), and relay is linked with a manifest of
// their hashes, so that it starts those files and no others.
//
//	go run ./internal/build -o bin
//	go run ./internal/build -o dist/arm -target linux/arm64
//
// It does not install, package or sign.
//
// Callers: Makefile, the tests' TestMain functions.
package main
