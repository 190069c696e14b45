package main

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/paxiom/relay/judge/box"
)

func main() {
	// A builder's box is this very program, started again: it must get its chance
	// before anything else happens.
	box.Init()
	settleHome()
	os.Exit(run(newApp(), os.Args[1:]))
}

// settleHome gives a process that began without a home (cron, a service, env -i) the one of
// its user, as a login would: what relay believes and keeps for the person lies there. Below
// a relative one, that would be the folder relay was called in, and a repository's to write.
func settleHome() {
	if filepath.IsAbs(os.Getenv("HOME")) {
		return
	}
	os.Unsetenv("HOME")
	if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil && filepath.IsAbs(u.HomeDir) {
		os.Setenv("HOME", u.HomeDir)
	}
}
