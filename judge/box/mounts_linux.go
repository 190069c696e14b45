package box

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// mountAll turns the plan into mounts, in three passes. While the real tree is
// still visible and writable, every mount is prepared without being attached. Then
// everything there is becomes read-only, without exception. Then the prepared
// mounts are attached; they are the only places where something can be written. It
// gives the file systems in memory that are among them.
func mountAll(p *plan) (stores []int, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fail("detach from the host's mounts", "/", err)
	}
	away, done, err := throwAwayPlace(p)
	if err != nil {
		return nil, err
	}
	if !p.OnDisk {
		stores = append(stores, away)
	}
	ready := make([]int, len(p.Steps))
	var gone []string
	for i := range p.Steps {
		s := &p.Steps[i]
		fd, err := prepare(s, away, i, p.Limits)
		switch {
		case err == nil:
			ready[i] = fd
		case s.Live && missing(s.Source):
			gone = append(gone, s.Path)
		case !s.Optional:
			return nil, err
		}
	}
	goneAbove := func(s *step) bool {
		return slices.ContainsFunc(gone, func(dir string) bool { return tree.Within(s.Path, dir) })
	}
	if err := done(); err != nil {
		return nil, err
	}
	root, err := openPath("/")
	if err != nil {
		return nil, fail("open", "/", err)
	}
	if err := setMount(root, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, 0, unix.AT_RECURSIVE); err != nil {
		return nil, fail("make everything read-only", "/", err)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if err := attach(s, ready[i]); err != nil && !s.Optional && !goneAbove(s) {
			return nil, err
		}
	}
	for i := range p.Steps { // now that their mount points have been used
		if s := &p.Steps[i]; s.Kind == stepEmpty && !s.Writable {
			if err := setMount(ready[i], unix.MOUNT_ATTR_RDONLY, 0, 0); err != nil {
				return nil, fail("make read-only", s.Path, err)
			}
		}
		if s := &p.Steps[i]; s.Kind == stepEmpty && s.Writable && ready[i] > 0 {
			stores = append(stores, ready[i])
		} else if ready[i] > 0 {
			unix.Close(ready[i])
		}
	}
	return stores, fail("go to", "/", os.Chdir("/"))
}

// throwAwayPlace opens the folder for the uppers that end with the process: a
// tmpfs that no path leads to, or a folder on disk.
func throwAwayPlace(p *plan) (fd int, done func() error, err error) {
	scratch, err := openPath(p.Scratch)
	if err != nil {
		return 0, nil, fail("open", p.Scratch, err)
	}
	tmpfs, err := newMemory(p.Limits, "0755")
	if err != nil {
		return 0, nil, err
	}
	if !p.OnDisk && unix.Setxattr(procFd(tmpfs), "user.relay", []byte("y"), 0) == nil {
		// The kernel wants an upper to be attached while the overlay is made. The
		// overlay keeps it in use after it is detached again.
		if err := moveTo(tmpfs, scratch); err != nil {
			return 0, nil, fail("attach a tmpfs", p.Scratch, err)
		}
		return tmpfs, func() error {
			return fail("detach", p.Scratch, unix.Unmount("/proc/self/fd/"+strconv.Itoa(tmpfs), unix.MNT_DETACH))
		}, nil
	}
	unix.Close(tmpfs)
	p.OnDisk = true
	if err := os.MkdirAll(p.Away, 0o700); err != nil {
		return 0, nil, fail("make", p.Away, err)
	}
	fd, err = openPath(p.Away)
	return fd, func() error { return nil }, fail("open", p.Away, err)
}

// prepare makes the mount of one step and gives its descriptor; 0 when the step
// needs nothing beforehand.
func prepare(s *step, away, number int, l Limits) (int, error) {
	switch s.Kind {
	case stepOverlay:
		return prepareOverlay(s, away, number)
	case stepEmpty:
		fd, err := newMemory(l, strconv.FormatUint(uint64(s.Mode), 8))
		if err != nil {
			return 0, err
		}
		for _, e := range s.Make {
			if err := e.make(fd, s.Path); err != nil {
				return 0, fail("fill", s.Path, err)
			}
		}
		return fd, nil
	case stepBind:
		fd, err := unix.OpenTree(unix.AT_FDCWD, s.Source, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW|unix.AT_RECURSIVE)
		if err != nil {
			return 0, fail("bind", s.Source, err)
		}
		set := uint64(unix.MOUNT_ATTR_NOSUID)
		if !s.Device {
			set |= unix.MOUNT_ATTR_NODEV
		}
		if !s.Writable {
			set |= unix.MOUNT_ATTR_RDONLY
		}
		return fd, fail("bind", s.Source, setMount(fd, set, 0, unix.AT_RECURSIVE))
	case stepHidden:
		return prepareHidden(s, away, number)
	case stepPts:
		return newMount("devpts", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, "ptmxmode", "0666", "mode", "0620")
	case stepProc:
		return newMount("proc", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	}
	return 0, nil
}

// prepareOverlay mounts the real folder below a layer of its own. Descriptors
// stand for the folders, so that no path needs to be quoted or can be too long.
func prepareOverlay(s *step, away, number int) (int, error) {
	from := cmp.Or(s.Source, s.Path)
	lower, err := openPath(from)
	if err != nil {
		return 0, fail("open", from, err)
	}
	defer unix.Close(lower)
	lowers := procFd(lower)
	if s.Above != "" {
		above, err := openPath(s.Above)
		if err != nil {
			return 0, fail("open", s.Above, err)
		}
		defer unix.Close(above)
		lowers = procFd(above) + ":" + lowers
	}
	var upper, work int
	if s.Upper == "" {
		var st unix.Stat_t
		if err := unix.Fstat(lower, &st); err != nil {
			return 0, fail("look at", s.Path, err)
		}
		upper, err = makeDir(away, "u"+strconv.Itoa(number), st.Mode&0o7777)
		for _, e := range s.Make {
			if err == nil {
				err = e.make(upper, s.Path)
			}
		}
		if err == nil {
			work, err = makeDir(away, "w"+strconv.Itoa(number), 0o700)
		}
	} else if upper, err = openPath(s.Upper); err == nil {
		work, err = openPath(s.Work)
	}
	if err != nil {
		return 0, fail("open the layer of", s.Path, err)
	}
	defer unix.Close(upper)
	defer unix.Close(work)
	fd, err := newMount("overlay", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV,
		// volatile: nothing is synced to disk at every first write to a file, nor the
		// whole file system at the end. Sync does that for a layer that must last.
		"volatile", "", "userxattr", "", "index", "off", "metacopy", "off", "redirect_dir", "nofollow",
		"lowerdir", lowers, "upperdir", procFd(upper), "workdir", procFd(work))
	return fd, fail("mount an overlay on", s.Path, err)
}

// prepareHidden makes what is shown in place of something hidden.
func prepareHidden(s *step, away, number int) (int, error) {
	at := procFd(away) + "/h" + strconv.Itoa(number)
	var err error
	if s.Dir {
		err = os.Mkdir(at, 0o700)
	} else {
		err = os.WriteFile(at, s.Instead, 0o600)
	}
	if err != nil {
		return 0, fail("make what stands for", s.Path, err)
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, at, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return 0, fail("hide", s.Path, err)
	}
	return fd, fail("hide", s.Path, setMount(fd, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC, 0, 0))
}

// attach puts a prepared mount in its place. The place is looked up in the box as
// it is by now, following no link: a builder may have planted one in its layer.
func attach(s *step, fd int) error {
	if s.Kind == stepFreeze {
		tree, err := unix.OpenTree(unix.AT_FDCWD, s.Path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err == unix.ENOENT {
			return nil // this kernel was built without it
		} else if err != nil {
			return fail("bind", s.Path, err)
		}
		if err := setMount(tree, unix.MOUNT_ATTR_RDONLY, 0, 0); err != nil {
			return fail("make read-only", s.Path, err)
		}
		fd = tree
	}
	if fd <= 0 {
		return nil
	}
	place, err := openPath(s.Path)
	if err != nil {
		return fail("find the place of", s.Path, err)
	}
	defer unix.Close(place)
	return fail("attach", s.Path, moveTo(fd, place))
}

// make creates one entry in the new tmpfs dir; real is the folder it stands for.
func (e *entry) make(dir int, real string) error {
	at := procFd(dir) + "/" + e.Path
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if e.Dir {
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		return unix.Chmod(at, e.Mode)
	}
	if e.Link != "" {
		return os.Symlink(e.Link, at)
	}
	out, err := os.OpenFile(at, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	if e.Copy {
		if in, err := os.OpenFile(filepath.Join(real, e.Path), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0); err == nil {
			defer in.Close() // what can't be read stays empty: it could not be read in the box either
			if _, err := io.Copy(out, io.LimitReader(in, maxCopy)); err != nil {
				return err
			}
		}
	}
	return unix.Fchmod(int(out.Fd()), e.Mode)
}

// newMemory makes a file system in memory. It takes a little more than the box may
// have, so that the watch sees that it is too much.
func newMemory(l Limits, mode string) (int, error) {
	options := []string{"mode", mode}
	if l.Memory > 0 {
		options = append(options, "size", strconv.FormatInt(l.Memory+l.Memory/16, 10))
	}
	return newMount("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, options...)
}

// newMount makes a file system that is attached nowhere yet. Options are pairs of
// key and value; an empty value makes a flag.
func newMount(kind string, attr int, options ...string) (int, error) {
	ctx, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return 0, fail("mount", kind, err)
	}
	defer unix.Close(ctx)
	for i := 0; i < len(options) && err == nil; i += 2 {
		if options[i+1] == "" {
			err = unix.FsconfigSetFlag(ctx, options[i])
		} else {
			err = unix.FsconfigSetString(ctx, options[i], options[i+1])
		}
	}
	if err == nil {
		err = unix.FsconfigCreate(ctx)
	}
	var fd int
	if err == nil {
		fd, err = unix.Fsmount(ctx, unix.FSMOUNT_CLOEXEC, attr)
	}
	if err != nil {
		failed := fail("mount", kind, err).(*Failure)
		failed.Detail = kernelLog(ctx)
		return 0, failed
	}
	return fd, nil
}

// kernelLog is what the kernel has to say about a mount that failed.
func kernelLog(ctx int) string {
	buf := make([]byte, 512)
	out := ""
	for range 8 {
		n, err := unix.Read(ctx, buf)
		if err != nil || n <= 0 {
			break
		}
		out += " (" + string(buf[:n]) + ")"
	}
	return out
}

func setMount(fd int, set, clear uint64, flags uint) error {
	return unix.MountSetattr(fd, "", flags|unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: set, Attr_clr: clear})
}

func moveTo(mount, place int) error {
	return unix.MoveMount(mount, "", place, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// openPath opens a path as a place, without following any link in it.
func openPath(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
}

func makeDir(dir int, name string, mode uint32) (int, error) {
	if err := unix.Mkdirat(dir, name, 0o700); err != nil {
		return 0, err
	}
	if err := unix.Fchmodat(dir, name, mode, 0); err != nil {
		return 0, err
	}
	return unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

func procFd(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
