// Package beneath opens the files of a repository, which strangers may have written: a
// file lies below the root, no component of its path is a symbolic link, it is a regular
// file, and no more of it is read than its reader has room for.
//
// A repository can track a link to a private key or to /proc/self/environ, a file of any
// size, and, unpacked from an archive, a pipe that nobody writes to. Whatever relay reads
// of it on the host is therefore read by way of this package; a test in internal/arch holds
// that.
//
// It does not decide what may be read, and it writes nothing.
//
// Callers: host and its rooms.
package beneath
