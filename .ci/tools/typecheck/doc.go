// Command typecheck reads the packages of a module as another system's compiler would, and prints
// what does not fit. What the module stands on is read without the bodies of its functions, so that
// nothing has to be compiled for that system: a tenth of what go vet takes in an empty cache.
//
//	GOOS=darwin GOARCH=arm64 typecheck ./...
//
// It generates no code and links nothing: make release does, for each platform.
//
// Caller: .ci/lint.
package main
