package box

import (
	"os"
	"slices"
)

// The means of containing a builder: the rungs of a ladder.
const (
	// Overlay: namespaces and overlay file systems. What is not the layer can't be
	// written.
	Overlay = "overlay"
	// Landlock: a copy of the repository, and the kernel refuses to write elsewhere.
	Landlock = "landlock"
	// Copy: a copy of the repository, and what is changed elsewhere in the real one is
	// found and put back.
	Copy = "copy"
)

// Auto stands for the strongest means that the machine allows.
const Auto = "auto"

// Ladder lists the means, the strongest first.
func Ladder() []string { return []string{Overlay, Landlock, Copy} }

// AtLeast reports whether a means is as strong as the one that is required; "" requires
// none.
func AtLeast(means, required string) bool {
	at, least := slices.Index(Ladder(), means), slices.Index(Ladder(), required)
	return required == "" || at >= 0 && at <= least
}

// Enough refuses a means that is weaker than the one that is required.
func Enough(means, required string) error {
	if AtLeast(means, required) {
		return nil
	}
	return &Error{Op: "contain a builder", Unsupported: true, Why: "box.means is " + means + ", which is weaker than what box.required asks for, " + required,
		Fix: "`relay config show box --origin` says where both are set"}
}

// AtOwnPath reports whether a means shows the judged files at the repository's own path, to
// which editable installs and build folders lead.
func AtOwnPath(means string) bool { return means == Overlay }

// Gap is one thing that a box does not stop.
type Gap struct {
	// Text is one sentence.
	Text string
	// Means are those that leave it open.
	Means []string
	// when reports whether it is open on this machine; nil for always.
	when func() bool
}

// gaps is what the means do not stop, of all of them. What a box's limits and its
// network leave open is said by [Confine.Gaps], and what stays writable by Box.Gaps.
var gaps = []Gap{
	{Text: "The user's files outside the repository can be read, except hidden credentials.", Means: []string{Overlay, Landlock}},
	{Text: "Checks see the judged files at another path than the repository's: what leads to the repository, such as an editable install or a build folder, finds the old files. So a change is judged, not verified.",
		Means: []string{Landlock, Copy}},
	{Text: "The user's files outside the repository can be read; credentials are hidden in the box's home, but readable at their real paths.", Means: []string{Copy}},
	{Text: "A service can be reached through a named pipe, or a unix socket opened after the box's start, outside the home, temporary and runtime folders.",
		Means: []string{Overlay}},
	{Text: "Services with a unix socket (docker, D-Bus, ssh-agent, tmux) can be reached by their paths; only the variables that name them are removed.",
		Means: []string{Landlock, Copy}},
	{Text: "The user's processes can be seen, and what they show in /proc can be read, as can the names of keys in the kernel's keyrings.", Means: []string{Landlock, Copy}},
	{Text: "Permission bits, times and attributes of the user's files can be changed; relay restores permission bits and times in the repository, and permission bits of the folders above it and of a repository's main work tree.",
		Means: []string{Landlock}},
	{Text: "The user's open terminals can be written to and read.", Means: []string{Landlock, Copy}},
	{Text: "The user's processes can be ended; Linux 6.12 or newer prevents it.", Means: []string{Landlock}, when: func() bool { return !canScope() }},
	{Text: "The user's processes, relay included, can be ended, and inspected where the machine allows it within one user.", Means: []string{Copy}},
	{Text: "A program that sets the limits, priority or processors of a process by its number (taskset -p, renice), even its own, gets EPERM: otherwise it could set those of any of the user's processes.",
		Means: []string{Landlock, Copy}},
	{Text: "/tmp, /dev/shm and the contents of the home's folders are read-only: a program that needs them fails.", Means: []string{Landlock}},
	{Text: "Everything that the user may write can be written: nothing is contained. relay finds changes to the real repository, restores it from a snapshot, and judges them with the rest; a change to its main work tree, where the builder has another one, is undone and stops the run.",
		Means: []string{Copy}},
	{Text: "Changes outside the repository, or in its other work trees, are not found.", Means: []string{Copy}},
	{Text: "The snapshot and relay itself can be attacked: they belong to the same user.", Means: []string{Copy}},
	{Text: "If relay and the box's supervisor are both killed while a builder runs, changes to the real repository are not restored.",
		Means: []string{Copy}},
	{Text: "Your own changes to the repository while a builder runs count as the builder's.", Means: []string{Copy}},
	{Text: "Relay's own run-time files in the workspace are not watched.", Means: []string{Landlock, Copy}},
	{Text: "Processes that hide their origin can outlive the builder.", Means: []string{Copy}},
	{Text: "A builder's kernel shared memory, semaphores and message queues (System V, POSIX queues) stay until they are removed.", Means: []string{Landlock, Copy}},
	{Text: "As root before Linux 6.14, only frequent looks stop a fork bomb.", Means: []string{Overlay},
		when: func() bool { return os.Getuid() == 0 && !ownPidMax() }},
	{Text: "As root without control groups (most containers), only frequent looks stop a fork bomb.", Means: []string{Landlock, Copy},
		when: func() bool { return os.Getuid() == 0 && !grouped() }},
}

// GapsOf are the gaps of one means on this machine, one sentence each.
func GapsOf(means string) []string {
	var out []string
	for _, g := range gaps {
		if slices.Contains(g.Means, means) && (g.when == nil || g.when()) {
			out = append(out, g.Text)
		}
	}
	return out
}
