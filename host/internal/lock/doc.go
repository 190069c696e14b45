// Package lock lets one workflow at a time work in one workspace.
//
// The kernel's lock on the open file (flock) is the truth: it goes when its holder
// does, however that ends. What lock.json says is information for people, and a
// second opinion about holders that the kernel's lock can't show, such as another
// program that only writes the file, or another machine on a shared file system.
//
// It does not wait in line and does not know what its holder does.
//
// Callers: the workflows take it, host reads it for status and doctor.
package lock
