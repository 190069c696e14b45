// Package copies has the weaker means of a box, for machines that give relay no namespaces.
// Both show a copy of the repository: landlock has the kernel refuse to write elsewhere,
// copy has nothing around it, and a snapshot from which the real repository is put back. What
// they don't stop is in the table of means, in package box.
//
// Importing it adds them; package box, and the rest of the core, does not. Read it in
// this order:
//
//	copies      what a box of copies has, and what it tells of them
//	copytree    making a copy, and the trace of each file in it
//	home        a home folder made of links
//	spec      what a process gets; hide: what it can't read
//	keep        the supervisor's side of the host; supervisor: ending all that was started
//	group       a control group for root's processes; limits: how many there can be
//	become      giving up rights, Landlock last, and turning into the child
//	snapshot       what the real folders were; restore: undoing what was done to them
//	above       keeping the ways to them open
//	fold        doing that in the copy instead, so that it is judged
//
// It does not judge and does not write the real tree but to put it back. Callers: relay's
// host imports it, unless it is built with the tag overlayonly.
package copies
