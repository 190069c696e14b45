// Package box is where a builder runs, and how what it did is read back.
//
// A box shows the repository at its own path, but every write lands in a layer,
// a folder that relay owns. Nothing that runs in the box can write anything else,
// see another process, gain a privilege, or outlive the box. What a builder
// changed is therefore exactly what its layer holds ([Box.Touched]); rolling back
// is removing the layer ([Box.Discard]); and a crash at any point leaves the real
// tree as it was, because it was never written.
//
// The means of choice is a Linux user, mount, pid and ipc namespace with overlay
// file systems, entered by relay executing itself again ([Init]). It needs no
// privilege and no helper program. Where a machine does not allow it there are two
// weaker ones, in package copies, for callers that import it: this package knows
// them as a [Weaker]. What each does not stop is one table, in means. Package
// isolation tries them and chooses one.
//
// Auditors should read, in this order:
//
//	box.go      what a box is made of
//	plan        the mounts of a box as plain data, worked out by the host process
//	sockets     which services of the user are kept out of reach
//	process     a running box: its start, its end, and who may end it
//	start       namespaces for it; launch: relay again, and the pipe whose end is the end of the box
//	init        pid 1: prepare, make everything read-only, attach, drop, run, reap
//	mounts      those three passes
//	confine     what else of the machine a box may use: network and limits
//	network     a network of its own, and the sockets in it that the host serves
//	limits      what the kernel holds for each process, and how many there can be
//	calls       system calls that do nothing, or about which pid 1 is asked
//	programs    which programs may be executed, where that is held
//	watch       what all of them take together, seen by pid 1
//	family      which processes descend from one
//	quota       what they write to disk, seen by the host
//	owners      the users and groups that exist in a box
//	git         keeping an agent's git status cheap
//	drop        privileges, and the ways of getting them back
//	layer       the layer folder: where it may lie, its lock, its end
//	parts       the folders that it is a layer of
//	read        what the layer holds against the real tree
//	content     comparing and counting
//	fresh       the verification box
//	internal/tree  looking at hostile trees by open descriptors, and removing them
//
// and for the means:
//
//	means       the names of the means, their order and their gaps
//	weaker      what a means without namespaces is asked, and what it uses of this package
//
// The package does not decide whether a change is acceptable (package judge),
// does not write the real tree (host/change), does not choose the limits (the
// configuration does), and serves nothing at the sockets of a box's own network.
//
// Callers: cmd/relay calls Init first of all; host/change owns the boxes.
package box
