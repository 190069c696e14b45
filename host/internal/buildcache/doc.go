// Package buildcache keeps what the tools of checks keep in the home folder: compiled
// packages and downloads. Without it every check would begin with what the user's own caches
// hold, and throw away what it made.
//
// Checks run code that a builder wrote, so what one writes may be meant to deceive the next.
// Therefore a file is kept only from a check of the base, or of a change that landed; what is
// there is never replaced; and all of it is thrown away where the last commit that added to it
// is no part of the base any more. No builder sees it, and the user's own caches are only read.
//
// It does not know how a box shows a cache (judge/box), nor which tools there are: the
// configuration names the folders.
//
// Caller: host/change, by its interface Caches.
package buildcache
