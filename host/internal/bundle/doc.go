// Package bundle is the archive that an auditor gets: what landed, with its attestations,
// and what else relay knows of how that came about, in one file that is checked without the
// repository, relay's state or a network.
//
// It is a tar.gz. Its first member is a manifest, an in-toto statement in a DSSE envelope
// like the attestations are, signed by who put the archive together; it has the digest of
// every other member and all facts. An archive is read in one pass with bounded memory, and
// anything that [Write] would not have written is refused; no name in it becomes the name of
// a file.
//
// It gathers nothing and knows no workspace: host does that. Nor does it decide whom to
// believe. It says what the archive does not know.
//
// Caller: host.
package bundle
