package workspace

import (
	"fmt"
	"os"
	"syscall"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/judge"
)

// Own refuses files and folders that others could have made or filled: what the user says
// outside of every repository lies in ones of the user's own, or of root's, that nobody else
// can write. Links are followed, and what is not there is nobody's.
func Own(paths ...string) error {
	for _, path := range paths {
		fi, err := os.Stat(path)
		if err != nil {
			continue
		}
		why, fix := "", ""
		if st, ok := fi.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
			why = "it belongs to another user"
			fix = fmt.Sprintf("`chown %d %s` if all of it is yours, or remove it", os.Geteuid(), fault.Word(path))
		} else if fi.Mode().Perm()&0o022 != 0 {
			why = fmt.Sprintf("it can be written by others (mode %04o)", fi.Mode().Perm())
			fix = "look at what it holds, then `chmod go-w " + fault.Word(path) + "`"
		}
		if why != "" {
			return fault.New(judge.BlockedUntrustedConfig, path+" is not believed", why, fix)
		}
	}
	return nil
}

// foreign reports whether a file is another user's.
func foreign(path string) bool {
	fi, err := os.Lstat(path)
	if err != nil {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) != os.Geteuid()
}
