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
	{Text: "Files of the user outside the repository can be read, other than the credentials that are hidden.", Means: []string{Overlay, Landlock}},
	{Text: "Checks see the judged files at another path than the repository's: what leads to that one, such as an editable install or a build folder, finds the files as they were. So a change is judged there, and not verified.",
		Means: []string{Landlock, Copy}},
	{Text: "Files of the user outside the repository can be read; credentials are hidden in the box's home, and can be read where they really lie.", Means: []string{Copy}},
	{Text: "A service with a named pipe, or that opens a unix socket after the box was started, outside the home, temporary and runtime folders can be reached.",
		Means: []string{Overlay}},
	{Text: "Services with a unix socket (docker, D-Bus, ssh-agent, tmux) can be reached by anyone who knows the path; only the variables that name them are taken away.",
		Means: []string{Landlock, Copy}},
	{Text: "Processes of the user can be seen, and what they show of themselves in /proc can be read; so can the names of keys in the kernel's keyrings.", Means: []string{Landlock, Copy}},
	{Text: "Permission bits, times and attributes of the user's files can be changed; in the repository permission bits and times are put back, and the permission bits of the folders above it and of the main work tree of a repository that has several.",
		Means: []string{Landlock}},
	{Text: "The user's open terminals can be written to and read.", Means: []string{Landlock, Copy}},
	{Text: "Processes of the user can be ended; Linux 6.12 or newer keeps them from it.", Means: []string{Landlock}, when: func() bool { return !canScope() }},
	{Text: "Processes of the user, relay among them, can be ended, and looked into where the machine lets one user's processes do so.", Means: []string{Copy}},
	{Text: "A program that sets the limits, the priority or the processors of a process by its number (taskset -p, renice), its own too, gets EPERM: otherwise those of any process of the user could be set.",
		Means: []string{Landlock, Copy}},
	{Text: "/tmp and /dev/shm are read-only, and so is what lies in folders of the home: a program that needs them fails.", Means: []string{Landlock}},
	{Text: "Everything that the user may write can be written: nothing is contained. What is changed in the real repository is found, put back from a snapshot and judged with the rest; what is changed in its main work tree, where the builder has another one, is put back and stops the change.",
		Means: []string{Copy}},
	{Text: "What is changed outside the repository, or in further work trees of it, is not found.", Means: []string{Copy}},
	{Text: "The snapshot and relay itself can be attacked: they belong to the same user.", Means: []string{Copy}},
	{Text: "If relay and the supervisor of its box are both killed while a builder runs, what was changed in the real repository is not put back.",
		Means: []string{Copy}},
	{Text: "What you change in the repository while a builder runs is taken for the builder's.", Means: []string{Copy}},
	{Text: "Relay's own run-time files in the workspace are not watched.", Means: []string{Landlock, Copy}},
	{Text: "Processes that hide their origin can outlive the builder.", Means: []string{Copy}},
	{Text: "Shared memory, semaphores and message queues of the kernel (System V, POSIX queues) that a builder makes stay until they are removed.", Means: []string{Landlock, Copy}},
	{Text: "Run by root before Linux 6.14, a fork bomb is held by looking often only.", Means: []string{Overlay},
		when: func() bool { return os.Getuid() == 0 && !ownPidMax() }},
	{Text: "Run by root where it may not make control groups (most containers), a fork bomb is held by looking often only.", Means: []string{Landlock, Copy},
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
