package box_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/paxiom/relay/judge/box"

	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// self opens the test binary, as the host opens a plugin that it has hashed.
func self(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Open("/proc/self/exe")
	check(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// actor runs one attempt in a box.
func actor(t *testing.T, b *Box, args ...string) string {
	t.Helper()
	out, state := start(t, b, Proc{Exe: self(t), Argv: append([]string{actorName}, args...), Env: testEnv(b)})
	if !state.OK() {
		t.Fatalf("%q: %+v\n%s", args, state, out)
	}
	return strings.TrimSpace(out)
}

// outside gives a folder that lies in none of the places a box covers, and that
// this user may write; "" when there is none.
func outside(t *testing.T) string {
	t.Helper()
	for _, place := range []string{".", "/srv", "/opt", "/var/lib"} {
		place, _ = filepath.Abs(place)
		if tree.Within(place, "/tmp") || tree.Within(place, os.Getenv("HOME")) {
			continue
		}
		if dir, err := os.MkdirTemp(place, "testdata-outside-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	return ""
}

// What an attacker tries from inside, and what the kernel has to answer.
func TestNothingOutsideCanBeTouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.box()
	root := os.Getuid() == 0
	type attempt struct {
		want string // errno names that are fine, separated by "|"
		args []string
	}
	attempts := []attempt{
		{"EROFS|EACCES", []string{"create", "/etc/relay-x"}},
		{"EROFS|EACCES", []string{"create", "/usr/bin/relay-x"}},
		{"EROFS|EPERM", []string{"chmod", "/etc/passwd"}},
		{"EROFS|EPERM", []string{"chown", "/etc/passwd"}},
		{"EROFS|EACCES", []string{"utimes", "/etc/passwd"}},
		{"EROFS|EACCES|EPERM", []string{"setxattr", "/etc/passwd", "user.x"}},
		{"EXDEV|EPERM", []string{"link", "/etc/passwd", w.spec.Root + "/linked"}},
		{"EXDEV|EACCES|EROFS", []string{"link", w.spec.Root + "/a.txt", "/etc/linked"}},
		{"EXDEV", []string{"link", w.spec.Home + "/.profile", w.spec.Root + "/linked"}},
		{"EXDEV|EACCES|EROFS", []string{"rename", w.spec.Root + "/a.txt", "/etc/moved"}},
		{"ESRCH", []string{"kill", fmt.Sprint(os.Getpid())}},
		{"ESRCH", []string{"ptrace", fmt.Sprint(os.Getpid())}},
		{"EPERM", []string{"ptrace", "1"}},
		{"EACCES|EPERM", []string{"list", "/proc/1/root/"}},
		{"EACCES|EPERM", []string{"list", "/proc/1/cwd/"}},
		{"EACCES|EPERM", []string{"read", "/proc/1/fd/3"}},
		{"EACCES|EPERM", []string{"read", "/proc/1/environ"}},
		{"EACCES|EPERM", []string{"write", "/proc/1/mem"}},
		{"EACCES|EPERM", []string{"write", "/proc/1/exe"}},
		{"EACCES|EPERM", []string{"read", "/proc/1/ns/mnt"}},
		{"EPERM", []string{"mknod", w.spec.Root + "/null", "1 3"}},
		{"EPERM", []string{"mknod", w.spec.Root + "/whiteout", "0 0"}},
		{"EPERM", []string{"mount", w.spec.Root + "/src"}},
		{"EPERM", []string{"umount", w.spec.Root}},
		{"EPERM", []string{"umount", "/proc"}},
		{"EPERM", []string{"remount", "/"}},
		{"EPERM", []string{"clear-readonly", "/"}},
		{"EROFS|EACCES", []string{"write", "/proc/sys/kernel/core_pattern"}},
		{"EROFS|EACCES|ENOENT", []string{"write", "/proc/sysrq-trigger"}},
		{"ENOENT", []string{"write", "/dev/kmsg"}},
		{"ENOENT", []string{"read", w.spec.StateDir + "/layers"}},
		{"EROFS", []string{"create", w.spec.StateDir + "/x"}},
	}
	for _, dev := range []string{"/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0", "/dev/mem"} {
		if _, err := os.Stat(dev); err == nil {
			attempts = append(attempts, attempt{"ENOENT", []string{"write", dev}})
		}
	}
	if dir := outside(t); dir != "" {
		check(t, os.WriteFile(dir+"/victim", []byte("whole"), 0o666))
		attempts = append(attempts,
			attempt{"EROFS", []string{"write", dir + "/victim"}}, attempt{"EROFS", []string{"create", dir + "/new"}},
			attempt{"EROFS", []string{"chmod", dir + "/victim"}}, attempt{"EROFS", []string{"unlink", dir + "/victim"}},
			attempt{"EXDEV", []string{"link", dir + "/victim", w.spec.Root + "/linked"}})
	} else {
		t.Log("no folder outside is writable for this user")
	}
	// With a user namespace of its own the attacker has every capability there, but
	// the mounts of the box are locked. Uid 0 does not get that far.
	nested := map[string]string{"umount " + w.spec.Root: "EINVAL|EPERM", "umount /proc": "EINVAL|EPERM", "remount /": "EPERM",
		"clear-readonly /": "EPERM", "create /etc/relay-x": "EROFS|EACCES"}
	for line, want := range nested {
		if root {
			want = "ENOSPC"
		}
		attempts = append(attempts, attempt{want, append([]string{"nested"}, strings.Fields(line)...)})
	}
	attempts = append(attempts, attempt{"ENOSPC", []string{"nested", "unshare-cgroup", ""}})
	for _, a := range attempts {
		if got := actor(t, b, a.args...); !slices.Contains(strings.Split(a.want, "|"), got) {
			t.Errorf("%q: got %s, want %s", a.args, got, a.want)
		}
	}
	// The program's own file, once nothing executes it any more: a copy of the test
	// binary that lies where the box can't even see it.
	hidden := filepath.Join(w.spec.StateDir, "plugin")
	hostSh(t, w.dir, "cp /proc/"+fmt.Sprint(os.Getpid())+"/exe "+hidden)
	exe, err := os.Open(hidden)
	check(t, err)
	defer exe.Close()
	out, _ := start(t, b, Proc{Exe: exe, Argv: []string{actorName, "own-binary", ""}, Env: testEnv(b)})
	if !strings.Contains(out, "Read-only file system") {
		t.Errorf("the program's own file: %q", out)
	}
	hostSh(t, w.spec.StateDir, "ln plugin kept; cp /bin/sh new; mv new plugin")
	if _, err := b.Start(Proc{Exe: exe, Argv: []string{actorName, "fds", ""}}); err == nil || !strings.Contains(err.Error(), "find the program") {
		t.Fatalf("a program that was replaced: %v", err)
	}
	if got := touched(t, b, nil); len(got.Changes) > 0 {
		t.Errorf("failed attempts left %q", brief(got.Changes))
	}
}

func TestKillingPidOneEndsOnlyTheBox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.box()
	out, state := start(t, b, Proc{Argv: []string{"sh", "-c", "{ kill -KILL 1; kill -STOP 1; kill -TERM 1; kill -INT 1; kill -HUP 1; } 2>/dev/null; echo still here; exit 7"}, Env: testEnv(b)})
	if strings.TrimSpace(out) != "still here" || state.Code != 7 {
		t.Errorf("%q %+v", out, state)
	}
}

func TestProcessHasNoPrivilege(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.box()
	status := sh(t, b, "cat /proc/self/status; ulimit -c; ulimit -Hc; cut -d' ' -f5,6 /proc/self/stat; cut -d' ' -f5,6 /proc/$PPID/stat")
	for _, line := range []string{"CapInh:\t0000000000000000", "CapPrm:\t0000000000000000", "CapEff:\t0000000000000000",
		"CapBnd:\t0000000000000000", "CapAmb:\t0000000000000000", "NoNewPrivs:\t1", fmt.Sprintf("Uid:\t%d", os.Getuid())} {
		if !strings.Contains(status, line) {
			t.Errorf("no %q in\n%s", line, status)
		}
	}
	if !strings.Contains(status, "\n0\n0\n") {
		t.Errorf("core dumps are allowed:\n%s", status)
	}
	if fd, err := unix.Open("/", unix.O_PATH, 0); err == nil { // a descriptor that relay's parent left open
		defer unix.Close(fd)
	}
	if fds, _ := start(t, b, Proc{Argv: []string{"ls", "/proc/self/fd"}, Env: testEnv(b)}); fds != "0\n1\n2\n3\n" { // 3 is ls's own
		t.Errorf("open descriptors: %q", fds)
	}
	for _, kind := range []string{"user", "cgroup"} {
		limit, _ := os.ReadFile("/proc/sys/user/max_" + kind + "_namespaces")
		if strings.TrimSpace(string(limit)) == "0" {
			t.Errorf("the host's limit of %s namespaces was changed", kind)
		}
	}
}

func TestSocketsOfOthersAreOutOfReach(t *testing.T) {
	w := newWorld(t) // not parallel: it changes the environment
	listen := func(path string) string {
		t.Helper()
		l, err := net.Listen("unix", path)
		check(t, err)
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
		if c, err := net.Dial("unix", path); err != nil {
			t.Fatalf("can't be reached from outside either: %v", err)
		} else {
			c.Close()
		}
		return path
	}
	check(t, os.MkdirAll(w.spec.Home+"/.d", 0o755))
	check(t, os.Mkdir(w.dir+"/plugin", 0o755))
	short, err := os.MkdirTemp("/tmp", "s")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(short) })
	refused := []string{listen(short + "/tmp.sock"), listen(w.spec.Root + "/repo.sock")}
	for _, path := range []string{w.spec.Home + "/.d/docker.sock", "/run/relay-test.sock", "/var/tmp/relay-test.sock"} {
		if l, err := net.Listen("unix", path); err == nil {
			l.Close()
			refused = append(refused, listen(path))
		} else {
			t.Logf("%s: %v", path, err)
		}
	}
	if dir := outside(t); dir != "" {
		named := listen(dir + "/n.sock")
		t.Setenv("DOCKER_HOST", "unix://"+named)
		refused = append(refused, named)
		check(t, os.Mkdir(dir+"/d", 0o755))
		refused = append(refused, listen(dir+"/d/l.sock")) // found in the kernel's list
	}
	t.Setenv("SSH_AUTH_SOCK", short+"/tmp.sock")
	hidden := listen(w.spec.StateDir + "/relay.sock")
	bound := listen(w.dir + "/plugin/p.sock")
	w.spec.Binds = []Bind{{Path: w.dir + "/plugin"}}
	b := w.box()
	for _, path := range refused {
		if got := actor(t, b, "connect", path); got != "ECONNREFUSED" {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := actor(t, b, "connect", hidden); got != "ENOENT" {
		t.Errorf("%s: %s", hidden, got)
	}
	if got := actor(t, b, "connect", bound); got != "ok" {
		t.Errorf("a bound socket folder does not work: %s", got)
	}
	if CanScope() {
		if got := actor(t, b, "connect", listen("@relay-test-"+filepath.Base(w.dir)+fmt.Sprint(os.Getpid()))); got != "EPERM" {
			t.Errorf("abstract socket: %s", got)
		}
	} else {
		t.Log("this kernel can't close abstract sockets")
	}
	for _, path := range []string{"/tmp/own.sock", w.spec.Root + "/own.sock", "@own"} {
		if got := actor(t, b, "listen-and-connect", path); got != "ok" {
			t.Errorf("a socket of the box's own, %s: %s", path, got)
		}
	}
	if env := sh(t, b, "env"); strings.Contains(env, "SSH_AUTH_SOCK") || strings.Contains(env, "DOCKER_HOST") {
		t.Errorf("the environment names sockets:\n%s", env)
	}
	if got := sh(t, b, "cat "+w.spec.Home+"/.profile"); got != "home\n" {
		t.Errorf("files beside sockets: %q", got)
	}
}

// left counts the processes whose command line holds a mark.
func left(mark string) int {
	n := 0
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		if cmdline, err := os.ReadFile(file); err == nil && strings.Contains(string(cmdline), mark) && strings.HasPrefix(string(cmdline), "sleep") {
			n++
		}
	}
	return n
}

const sleepers = `i=0; while [ $i -lt 200 ]; do setsid sh -c 'trap "" TERM HUP INT; exec sleep 600.%s' >/dev/null 2>&1 </dev/null & i=$((i+1)); done; sleep 0.5`

func TestNoProcessSurvivesTheChild(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		b := w.box()
		mark := fmt.Sprint(os.Getpid(), "1", len(means))
		sh(t, b, fmt.Sprintf(sleepers, mark))
		if n := left(mark); n > 0 {
			t.Errorf("%d processes are left", n)
		}
		touched(t, b, nil) // the lock was given back
	})
}

func TestKillEndsEverything(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		b := w.box()
		mark := fmt.Sprint(os.Getpid(), "2", len(means))
		r, out, err := os.Pipe()
		check(t, err)
		defer r.Close()
		run, err := b.Start(Proc{Argv: []string{"sh", "-c", fmt.Sprintf(sleepers, mark) + "; echo up; trap '' TERM; while :; do sleep 600." + mark + "; done"}, Env: testEnv(b), Stdout: out})
		out.Close()
		check(t, err)
		bufio.NewReader(r).ReadString('\n')
		if n := left(mark); n < 200 {
			t.Fatalf("only %d processes were running", n)
		}
		if _, err := b.Touched(t.Context(), nil); err == nil {
			t.Error("a running box was read")
		}
		if _, err := b.Start(Proc{Argv: []string{"true"}, Env: testEnv(b)}); err == nil {
			t.Error("two processes were started at once")
		}
		run.Kill()
		state, err := run.Wait()
		if !state.Killed || state.OK() || err != nil {
			t.Errorf("%+v %v", state, err)
		}
		if n := left(mark); n > 0 {
			t.Errorf("%d processes are left", n)
		}
		if rest, _ := io.ReadAll(r); len(rest) > 0 {
			t.Errorf("more output: %q", rest)
		}
	})
}

func TestNothingSurvivesTheHost(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		w.spec.Layer = w.spec.StateDir + "/layer" // as the other process will have it
		mark := fmt.Sprint(os.Getpid(), "3", len(means))
		cmd := exec.Command("/proc/self/exe")
		cmd.Args = []string{actorName, "host", w.spec.Root, w.spec.StateDir, fmt.Sprintf(sleepers, mark) + "; echo up; sleep 600." + mark, means}
		cmd.Env = append(os.Environ(), "HOME="+w.spec.Home)
		out, err := cmd.StdoutPipe()
		check(t, err)
		check(t, cmd.Start())
		line, _ := bufio.NewReader(out).ReadString('\n')
		if n := left(mark); line != "up\n" || n < 200 {
			t.Fatalf("%q, and %d processes are running", line, n)
		}
		check(t, cmd.Process.Kill())
		killed := time.Now()
		cmd.Wait()
		b := w.box()
		for ; ; time.Sleep(time.Millisecond) {
			_, err := b.Touched(t.Context(), nil)
			if n := left(mark); err == nil && n > 0 {
				t.Errorf("the layer was given back while %d processes were running", n)
			} else if err == nil {
				break
			}
			if time.Since(killed) > 20*time.Second {
				t.Fatalf("%d processes are left: %v", left(mark), err)
			}
		}
		t.Logf("all were gone %v after SIGKILL", time.Since(killed).Round(time.Millisecond))
	})
}
