// Package blob is a folder of texts, each under the SHA-256 of its bytes. What must not be in
// a workflow's history lies here: goals, tasks, addresses of repositories and the texts of
// errors. The history has the digests.
//
// Workers on several machines share the folder. It removes nothing.
package blob
