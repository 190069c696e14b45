// Package attest lets anyone with nothing but the repository check what relay knows of a
// landed commit: a statement in the form of in-toto, signed offline, kept as a git note.
// It also checks such notes.
//
// One statement holds a SLSA verification summary with relay's own facts as an extension
// field, so that one signature covers both and neither can be replayed without the other.
// Signatures are those of `ssh-keygen -Y sign`, whichever key made them: ssh-keygen checks
// them, and one file of allowed signers serves relay, git and others.
//
// It does not judge, holds no secret, prompt or transcript, and never keeps a landed commit
// from being there: what goes wrong here is a sentence in the report.
//
// Callers: the workflows attach, host verifies.
package attest
