// Package evidence has test runners report every test by name, and compares what they
// report before and after a change.
//
// It puts no option into a check's arguments. An environment ([Kit.Environ]) makes each
// known runner load a small reporter of relay's (folder kit, shown read-only to the
// check), however the runner is started: directly, through npm, make or a script. The
// reporters write to a named pipe ([Pipe]), of which relay holds the other end: what was
// reported can't be altered or taken back. They also run probes, tests that must fail
// among them, to show that assertions and the runner still work. And they look for
// themselves (eyes.cjs, relay_eyes.py, relay_watch.py, eyes.rb, go/testing.txt): how a
// test's function ended, where it returned, and whether what it compares with is what it
// was before code of the repository ran.
//
// The code under test shares a process with most reporters, so it can forge what they
// say if it knows of them. [Compare] therefore only makes a verdict stricter: the exit
// code must be 0 as well. Hidden checks are the answer to code that looks for relay.
//
// It starts no process and knows no box. Caller: host/checks.
package evidence
