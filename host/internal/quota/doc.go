// Package quota decides what follows from a vendor's limit or outage once the call's
// own short repetitions are used up: when everything that is configured is asked again,
// and for how long that is tried ([Next]), and what the processes of this machine tell
// each other about one account ([Account]): whose turn it is under the rate that the
// operator set, and until when the vendor refuses which model.
//
// Which failures are such limits is said by pluginhost.Decide and nowhere else. This
// package makes no call, does not sleep out a long wait (host/durable does, since it
// must outlive relay), counts nothing against budgets, and prints nothing.
//
// Callers: host/tick, host/loop and the other workflows.
package quota
