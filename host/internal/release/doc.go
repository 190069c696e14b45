// Package release takes one version of a plugin from where its publisher put it, and
// says which files it is made of and who signed it.
//
// A release is a folder: a file for each platform, SHA256SUMS over them, and a signature
// of that. The folder can lie on this machine, be packed into an archive, be served by a
// web server, lie in a git repository, or be the layers of a tag in a container registry; a
// single file is a release without sums. What is taken lands in a private folder, under
// limits; nothing is looked up by name afterwards.
// [Pack] makes such a folder. Or it is the source of a Go module, as the module checksum
// database has it, which [Module] has built.
//
// It executes nothing of what it takes, asks the plugin nothing, and decides neither
// whether it may be installed nor what it may do (package host), and it does not write
// the lock file (package catalog).
//
// Callers: package host, for the commands below `relay plugin`.
package release
