// Package isolation chooses the means by which a box contains what runs in it: the strongest
// that the machine allows, found by trying each for real, or the one that is configured.
//
// It is outside of the core: a means that is too weak for what is required is refused by
// package box itself, and whatever was chosen, what lands is what was judged.
//
// Callers: host, for a run's boxes and for `relay doctor`.
package isolation
