package box

import (
	"encoding/gob"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// become gives up what the child may not have and turns into it. It returns only when
// something is wrong.
func become() error {
	const fdPlan, fdStepExe = 4, 5
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fail("close inherited descriptors", "", err)
	}
	var what errand
	if err := gob.NewDecoder(os.NewFile(fdPlan, "plan")).Decode(&what); err != nil {
		return fail("read the errand", "", err)
	}
	if err := noCores(); err != nil {
		return err
	}
	if _, _, err := unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0); err != 0 && err != unix.ENOSYS && err != unix.EPERM {
		return fail("leave the session keyring", "", err)
	}
	if err := limit(what.Limits); err != nil {
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
		return fail("go to", what.Dir, err)
	}
	var path string
	if what.HasExe {
		path = "/proc/self/fd/" + strconv.Itoa(fdStepExe)
		if isScript(fdStepExe) { // its interpreter opens it again after the exec
			unix.FcntlInt(fdStepExe, unix.F_SETFD, 0)
		}
	} else {
		for _, e := range what.Env {
			if dirs, ok := strings.CutPrefix(e, "PATH="); ok {
				os.Setenv("PATH", dirs)
			}
		}
		var err error
		if path, err = exec.LookPath(what.Argv[0]); err != nil {
			return fail("find the program", what.Argv[0], errors.Unwrap(err))
		}
	}
	if _, err := (filtered{noKeys: true, selfOnly: true}).install(); err != nil && callsOf[runtime.GOARCH][0].arch != 0 {
		return err
	}
	return fail("start the program", what.Argv[0], syscall.Exec(path, what.Argv, what.Env))
}

// giveUp is drop for who may have no capability to begin with.
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
		return fail("forbid new privileges", "", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return fail("drop capabilities", "", unix.Capset(&header, &none[0]))
}

const opLandlock = "use Landlock"

// leastLandlock is the oldest version that keeps files from being cut off: Linux 6.2.
const leastLandlock = 3

// lockLand lets this process write in few places only, for good.
func lockLand(what *errand) error {
	if err := landlockAllowed(); err != nil {
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
	return fail(opLandlock, "", err)
}

// landlockAllowed says what keeps this kernel's Landlock from being used.
func landlockAllowed() error {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return fail(opLandlock, "", err)
	}
	if version < leastLandlock {
		return &failure{Op: opLandlock, Errno: unix.EOPNOTSUPP, Detail: " (version " + strconv.Itoa(version) + " can't keep files from being cut off)"}
	}
	return nil
}
