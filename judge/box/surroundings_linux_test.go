package box_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	. "github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/isolation"

	"golang.org/x/sys/unix"
)

// elsewhere runs this test again as root of a mount namespace of its own.
func elsewhere(t *testing.T, attr *syscall.SysProcAttr, mark string) (inside bool) {
	t.Helper()
	if os.Getenv(mark) != "" {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env, cmd.SysProcAttr = append(os.Environ(), mark+"=1"), attr
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func TestFileSystems(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	if !elsewhere(t, &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}, "RELAY_TEST_FILE_SYSTEMS") {
		return
	}
	check(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	for name, mount := range map[string]string{
		"tmpfs":   "mount -t tmpfs none on",
		"overlay": "mkdir low up work; mount -t tmpfs none up; mkdir up/up up/work; mount -t overlay none -o lowerdir=low,upperdir=up/up,workdir=up/work on",
	} {
		eachMeans(t, func(t *testing.T, means string) {
			w := newWorld(t).under(means)
			hostSh(t, w.dir, "mkdir on; "+mount+"; mv repo home state on")
			t.Cleanup(func() { hostSh(t, w.dir, "umount -l on; test ! -d up || umount -l up") })
			w.spec.Root, w.spec.Home, w.spec.StateDir, w.spec.Layer = w.dir+"/on/repo", w.dir+"/on/home", w.dir+"/on/state", w.dir+"/on/state/layers/1"
			b := w.box()
			sh(t, b, "echo new >> a.txt; rm -r src/deep; mv src/b.txt moved; echo n > n; chmod +x n")
			same(t, name, brief(touched(t, b, nil).Changes), []string{"M a.txt", "A moved", "A n", "D src/b.txt", "D src/deep/c.txt"})
			if hostSh(t, w.spec.Root, "cat a.txt src/b.txt src/deep/c.txt") != "one\ntwo\nthree\n" {
				t.Errorf("%s: the real tree was written", name)
			}
		})
	}
}

// A thread may have mounts of its own, as those that TestAsOrdinaryUser makes. A box that
// another one starts has none of them, and one that it starts itself has.
func TestMountsOfAThread(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	t.Parallel()
	w := newWorld(t)
	done := make(chan error)
	var run func()
	run = func() {
		runtime.LockOSThread() // for good: the mounts end with the thread
		if unix.Gettid() == os.Getpid() {
			go run()
			<-t.Context().Done() // until then no other goroutine is on the first thread
			return
		}
		own := t.TempDir()
		err := errors.Join(unix.Unshare(unix.CLONE_NEWNS), unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("tmpfs", own, "tmpfs", 0, ""))
		if err == nil {
			b := w.box()
			var p *Process
			if p, err = b.Start(Proc{Argv: []string{"true"}, Env: testEnv(b)}); err == nil {
				_, err = p.Wait()
			}
		}
		done <- errors.Join(err, unix.Unmount(own, unix.MNT_DETACH))
	}
	go run()
	check(t, <-done)
}

// Where the container gives no user namespaces, the next rung is found and works.
func TestWithoutUserNamespaces(t *testing.T) {
	uid := os.Getuid()
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}, AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE}}
	if !elsewhere(t, attr, "RELAY_TEST_NO_NAMESPACES") {
		return
	}
	check(t, os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0))
	w := newWorld(t)
	s, err := isolation.Probe(t.Context(), w.spec.StateDir)
	if err != nil || s.Means != Landlock || s.Trials[0].OK || s.Trials[0].Why == "" || s.Trials[0].Fix == "" {
		t.Fatalf("%+v %v", s, err)
	}
	means, err := isolation.Choose(t.Context(), isolation.Wish{StateDir: w.spec.StateDir})
	if err != nil || means != Landlock {
		t.Fatalf("%s %v", means, err)
	}
	_, err = isolation.Choose(t.Context(), isolation.Wish{StateDir: w.spec.StateDir, Required: Overlay})
	if e, ok := errors.AsType[*Error](err); !ok || !strings.Contains(e.Why, "box.required is overlay") || e.Fix == "" {
		t.Errorf("required: %v", err)
	}
	b := w.under(means).box()
	sh(t, b, "echo new >> a.txt; echo x >> "+w.spec.Root+"/a.txt || true")
	same(t, "touched", brief(touched(t, b, nil).Changes), []string{"M a.txt"})
	if w.read("repo/a.txt") != "one\n" {
		t.Error("the real tree was written")
	}
}

func TestDeniedSaysWhy(t *testing.T) {
	t.Parallel()
	for _, errno := range []syscall.Errno{unix.EPERM, unix.EACCES, unix.ENOSPC, unix.ENOSYS, unix.EINVAL, unix.ELOOP, unix.ENODEV} {
		if e := Denied("mount", &os.PathError{Op: "fork/exec", Path: "x", Err: errno}); e.Why == "" || !e.Unsupported {
			t.Errorf("%v: %+v", errno, e)
		}
	}
	if e := Denied("mount", unix.EIO); e.Unsupported {
		t.Errorf("%+v", e)
	}
}

// A work tree whose installed packages are a link to another one's: what runners write there
// is thrown away, and does not fail.
func TestLinkedFolders(t *testing.T) {
	t.Parallel()
	far := outside(t)
	if far == "" {
		t.Skip("no folder outside of the home and the temporary folders can be made")
	}
	w := newWorld(t)
	check(t, errors.Join(os.Mkdir(far+"/modules", 0o755), os.WriteFile(far+"/modules/package.json", []byte("{}"), 0o644)))
	kept := w.dir + "/kept"
	check(t, errors.Join(os.Mkdir(kept, 0o755), os.Symlink(far+"/modules", kept+"/node_modules")))
	w.spec.Kept = &Kept{Root: kept, GitDirs: w.spec.GitDirs, Linked: []string{far + "/modules", far + "/gone"}}
	b := w.box()
	out, state := start(t, b, Proc{Argv: []string{"/bin/sh", "-c",
		"mkdir node_modules/.vite-temp && echo x >node_modules/package.json && cat node_modules/package.json; echo y >" + far + "/beside"}, Env: testEnv(b)})
	if !strings.HasPrefix(out, "x\n") || !strings.Contains(out, "Read-only file system") {
		t.Errorf("%+v %s", state, out)
	}
	if text, err := os.ReadFile(far + "/modules/package.json"); string(text) != "{}" || err != nil {
		t.Errorf("the real file is %q, %v", text, err)
	}
	if _, err := os.Stat(far + "/modules/.vite-temp"); err == nil {
		t.Error("a folder was made for real")
	}
}

// What git ignores is the user's: gone between the plan of a box and its mounts, it is not shown, and nothing fails.
func TestShownFolderIsRemoved(t *testing.T) {
	t.Parallel()
	for name, readOnly := range map[string]bool{"written": false, "read-only": true} {
		w := newWorld(t)
		kept, live := w.dir+"/kept", w.spec.Root+"/modules"
		check(t, errors.Join(os.MkdirAll(kept+"/modules", 0o755), os.Mkdir(live, 0o755), os.WriteFile(live+"/secret", nil, 0o644)))
		w.spec.Kept = &Kept{Root: kept, GitDirs: w.spec.GitDirs, Shown: []string{live}}
		w.spec.Hide = []Hidden{{Path: live + "/secret"}}
		w.spec.ReadOnlyRoot = readOnly
		b := w.box()
		run, err := b.StartAfter(Proc{Argv: []string{"sh", "-c", "ls modules/secret && exit 1; true"}, Env: testEnv(b)}, func() { check(t, os.RemoveAll(live)) })
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if state, err := run.Wait(); err != nil || !state.OK() {
			t.Errorf("%s: %+v %v", name, state, err)
		}
	}
}
