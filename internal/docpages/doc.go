// Package docpages reads the pages of the documentation: the blocks of commands in them,
// what a page says about how these are tried, and where its links lead.
//
// It does not run anything: the test of cmd/relay makes a script of each page and plays it
// with the built programs. It is no Markdown parser either. It knows fences, headings,
// inline links and comments, as the pages of this repository use them, and nothing of it is
// part of relay.
package docpages
