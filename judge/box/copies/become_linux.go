package copies

import (
	"encoding/gob"
	"os"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"github.com/paxiom/relay/judge/box"
	"golang.org/x/sys/unix"
)

// become gives up what the child may not have and turns into it. It returns only when
// something is wrong.
func become() error {
	const fdPlan, fdStepExe = 4, 5
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return box.Fail("close inherited descriptors", "", err)
	}
	var what spec
	if err := gob.NewDecoder(os.NewFile(fdPlan, "plan")).Decode(&what); err != nil {
		return box.Fail("read the spec", "", err)
	}
	if err := what.Limits.Settle(); err != nil {
		return err
	}
	if err := limitAmongOthers(what.Limits.Processes, group(what.Group)); err != nil {
		return err
	}
	if err := giveUp(); err != nil {
		return err
	}
	if what.Landlock {
		if err := lockLand(&what); err != nil {
			return err
		}
	}
	if err := os.Chdir(what.Dir); err != nil {
		return box.Fail("go to", what.Dir, err)
	}
	fd := -1
	if what.HasExe {
		fd = fdStepExe
	}
	path, err := box.Program(fd, what.Argv[0], what.Env)
	if err != nil {
		return err
	}
	if err := box.FilterSelf(); err != nil {
		return err
	}
	return box.Fail("start the program", what.Argv[0], syscall.Exec(path, what.Argv, what.Env))
}

// giveUp is drop for a process that may have no capability to begin with.
func giveUp() error {
	if os.Getuid() == 0 {
		for c := uintptr(0); c <= 63; c++ {
			if unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) == unix.EINVAL {
				break
			}
		}
	}
	unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return box.Fail("forbid new privileges", "", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return box.Fail("drop capabilities", "", unix.Capset(&header, &none[0]))
}

// lockLand lets this process write in few places only, for good.
func lockLand(what *spec) error {
	if err := box.LandlockAllowed(); err != nil {
		return err
	}
	// One ruleset for both: a second one would forbid to move files between folders.
	all := landlock.Config{HandledAccessFS: landlock.V6.HandledAccessFS, Scoped: landlock.V6.Scoped}.BestEffort()
	dirs, files := readable("/", what.Hidden)
	err := all.Restrict(
		landlock.PathAccess(ll.AccessFSReadDir, "/"), // names are no secret
		landlock.RODirs(dirs...).IgnoreIfMissing(),
		landlock.ROFiles(files...).IgnoreIfMissing(),
		landlock.RWDirs(what.Folders...).WithRefer().WithIoctlDev().IgnoreIfMissing(),
		landlock.RWFiles(what.Files...).WithIoctlDev().IgnoreIfMissing())
	return box.Fail(box.OpLandlock, "", err)
}
