// Command relay runs coding work with language models, one judged step at a time.
//
// It parses, calls package host and prints: one file per command. It makes no
// decision about a run, reads no workspace file itself and knows no plugin.
package main
