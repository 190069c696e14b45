// Package blob keeps texts, each under the digest of its bytes. What must not be in a
// workflow's history lies here: goals, tasks, addresses of repositories and the texts of
// errors. The history has the digests.
//
// Workers on several machines share the place: a folder, or a bucket of an S3-compatible
// store. With a key, texts are encrypted before they leave the worker, and digests are keyed,
// so that neither the place nor the history lets anybody guess them. It removes nothing.
package blob
