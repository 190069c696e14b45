package box_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/paxiom/relay/judge/box"

	"golang.org/x/sys/unix"
)

// confined runs a script in a box with these limits and gives how it ended.
func confined(t *testing.T, w *world, c Confine, script string) (string, ExitState) {
	t.Helper()
	b := w.box()
	return start(t, b, Proc{Argv: []string{"/bin/sh", "-c", script}, Env: testEnv(b), Confine: c})
}

func TestLimitsEndTheBox(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script, limit string
		limits              Limits
	}{
		{"memory of one", `perl -e '$x = "x" x (200 << 20); sleep 20'`, LimitMemory, Limits{Memory: 96 << 20}},
		{"memory of many", `for i in 1 2 3 4; do perl -e '$x = "x" x (30 << 20); sleep 20' & done; wait`, LimitMemory, Limits{Memory: 96 << 20}},
		{"a full /tmp", "head -c 200000000 /dev/zero > /tmp/full; sleep 20", LimitMemory, Limits{Memory: 96 << 20}},
		{"a full /dev/shm", "head -c 200000000 /dev/zero > /dev/shm/full; sleep 20", LimitMemory, Limits{Memory: 96 << 20}},
		{"processor time", "while :; do :; done", LimitCPUTime, Limits{CPUTime: time.Second}},
		{"processor time of those that ended", "while :; do (i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); done", LimitCPUTime, Limits{CPUTime: time.Second}},
		{"a sparse file", "truncate -s 1T src/huge; sleep 20", LimitFile, Limits{File: 1 << 30}},
		{"a sparse file at the very end", "truncate -s 1T src/huge", LimitFile, Limits{File: 1 << 30}},
		{"allocated at once", "fallocate -l 200M src/huge || head -c 200000000 /dev/zero > src/huge; sleep 20", LimitDisk, Limits{Disk: 64 << 20}},
		{"many files", "for i in $(seq 40); do head -c 4000000 /dev/zero > f$i; done; sleep 20", LimitDisk, Limits{Disk: 64 << 20}},
		{"a file that was removed", "exec 7<>src/gone; rm src/gone; head -c 200000000 /dev/zero >&7; sleep 20", LimitDisk, Limits{Disk: 64 << 20}},
		{"many empty files in memory", `perl -e 'symlink "x", "/dev/shm/$_" for 1..60000; sleep 20'`, LimitMemory, Limits{Memory: 48 << 20}},
		{"hidden in a locked folder", "mkdir d; head -c 200000000 /dev/zero > d/f; chmod 000 d; sleep 20", LimitDisk, Limits{Disk: 64 << 20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			out, state := confined(t, w, Confine{Limits: c.limits}, c.script)
			if state.Exceeded == nil || state.Exceeded.Limit != c.limit {
				t.Fatalf("exceeded %+v, want %s\n%s", state.Exceeded, c.limit, out)
			}
			if state.OK() {
				t.Errorf("%+v", state)
			}
			if text := state.Exceeded.Error(); !strings.Contains(text, " allowed") {
				t.Error(text)
			}
			if w.read("repo/a.txt") != "one\n" {
				t.Error("the real tree was written")
			}
		})
	}
}

func TestWhatKeepsToLimitsIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := Limits{Processes: 200, Memory: 512 << 20, CPUs: 1, CPUTime: time.Minute, OpenFiles: 100, File: 64 << 20, Disk: 128 << 20}
	out, state := confined(t, w, Confine{Limits: l}, `
		for i in $(seq 50); do sleep 0.3 & done
		perl -e '$x = "x" x (50 << 20); if (!fork) { sleep 1 } ; sleep 1'
		head -c 20000000 /dev/zero > src/file; head -c 20000000 /dev/zero > /tmp/file
		wait; nproc; ulimit -n`)
	if !state.OK() || strings.Join(strings.Fields(out), " ") != "1 100" {
		t.Errorf("%+v %q", state, out)
	}
}

// A process that shares its memory with its children is counted once.
func TestSharedMemoryCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out, state := confined(t, w, Confine{Limits: Limits{Memory: 160 << 20}},
		`perl -e '$x = "x" x (60 << 20); for (1..5) { if (!fork) { sleep 2; exit } } 1 while wait > 0'`)
	if !state.OK() {
		t.Errorf("%+v\n%s", state, out)
	}
}

// smallDisk names the variable with a file system of 64 MB that this user may write.
const smallDisk = "RELAY_TEST_SMALL_DISK"

// Of a disk that is nearly full, the last part is left to others.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	small := os.Getenv(smallDisk)
	if small == "" && os.Getuid() == 0 {
		small = t.TempDir()
		if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=64m,nr_inodes=4000"); err != nil {
			t.Skip("no small file system can be mounted: ", err)
		}
		t.Cleanup(func() { unix.Unmount(small, unix.MNT_DETACH) })
	}
	if small == "" {
		t.Skip("an ordinary user can't mount a small file system")
	}
	w := newWorld(t)
	w.spec.StateDir = filepath.Join(small, "state")
	for limit, script := range map[string]string{
		LimitFreeDisk:  "head -c 500000000 /dev/zero > src/full; sleep 20",
		LimitFreeFiles: "i=0; while [ $i -lt 5000 ]; do : > src/$i; i=$((i+1)); done 2>/dev/null; sleep 20",
	} {
		w.spec.Layer = filepath.Join(small, "state", limit)
		b := w.box()
		out, state := start(t, b, Proc{Argv: []string{"sh", "-c", script}, Env: testEnv(b), Confine: Confine{Limits: Limits{Disk: 1 << 40}}})
		if state.Exceeded == nil || state.Exceeded.Limit != limit || !strings.Contains(state.Exceeded.Error(), "left free") {
			t.Fatalf("%s: %+v\n%s", limit, state.Exceeded, out)
		}
		check(t, b.Discard())
	}
}

// Memory that lies in no file system and belongs to no process is counted as well.
func TestMemoryWithoutAName(t *testing.T) {
	t.Parallel()
	eachMeans(t, func(t *testing.T, means string) {
		b := newWorld(t).under(means).box()
		for _, verb := range []string{"nameless-memory", "left-memory"} {
			if verb == "left-memory" && means != Overlay {
				continue // nobody could tell whose it is: see the gaps
			}
			out, state := start(t, b, Proc{Exe: self(t), Argv: []string{actorName, verb, "200000000"}, Env: testEnv(b), Confine: Confine{Limits: Limits{Memory: 128 << 20}}})
			if state.Exceeded == nil || state.Exceeded.Limit != LimitMemory {
				t.Errorf("%s: %+v %q", verb, state, out)
			}
		}
	})
}

// What no process has is seen when the machine's memory becomes less.
func TestMemoryUnderWay(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("/proc/meminfo")
	check(t, err)
	free := Kilobytes(text, "MemAvailable:") + Kilobytes(text, "SwapFree:")
	if free < 3<<30 {
		t.Skip("this machine has little memory left")
	}
	eachMeans(t, func(t *testing.T, means string) {
		b := newWorld(t).under(means).box()
		out, state := start(t, b, Proc{Exe: self(t), Argv: []string{actorName, "memory-under-way", "1000000000"}, Env: testEnv(b),
			Confine: Confine{Limits: Limits{Memory: 512 << 20, FreeMemory: free - 400<<20}}})
		if state.Exceeded == nil || state.Exceeded.Limit != LimitFreeMemory {
			t.Errorf("%+v %q", state, out)
		}
	})
}

func TestLeftProcessesAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for script, want := range map[string]int{
		"true": 0,
		"sleep 20 & setsid sleep 20 & (sleep 20 & exit) ; true": 3,
		"sleep 0.01 & wait": 0,
	} {
		if _, state := confined(t, w, Confine{}, script); state.Left != want || !state.OK() {
			t.Errorf("%q left %d, want %d: %+v", script, state.Left, want, state)
		}
	}
}

func TestOwnNetwork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	real, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer real.Close()
	abstract, err := net.Listen("unix", "@relay-test-"+filepath.Base(w.dir))
	check(t, err)
	defer abstract.Close()
	b := w.box()
	ask := func(c Confine, args ...string) string {
		out, _ := start(t, b, Proc{Exe: self(t), Argv: append([]string{actorName}, args...), Env: testEnv(b), Confine: c})
		return strings.TrimSpace(out)
	}
	if got := ask(Confine{}, "dial", "tcp", real.Addr().String()); got != "ok" {
		t.Errorf("an open network: %s", got)
	}
	own := Confine{OwnNetwork: true}
	for _, to := range [][2]string{{"tcp", real.Addr().String()}, {"unix", "@relay-test-" + filepath.Base(w.dir)}, {"udp", "192.0.2.1:53"}} {
		if got := ask(own, "dial", to[0], to[1]); got == "ok" {
			t.Errorf("%v was reached", to)
		}
	}
	if got := ask(own, "loopback", "127.0.0.1:0"); got != "ok" {
		t.Errorf("the box's own loopback: %s", got)
	}
	for _, family := range []int{unix.AF_VSOCK, unix.AF_ALG, unix.AF_XDP, unix.AF_QIPCRTR} { // those of no network
		if got := ask(own, "socket", fmt.Sprint(family)); got != "EAFNOSUPPORT" {
			t.Errorf("family %d: %s", family, got)
		}
	}
	for family, want := range map[int]string{unix.AF_UNIX: "ok", unix.AF_NETLINK: "ok"} {
		if got := ask(own, "socket", fmt.Sprint(family)); got != want {
			t.Errorf("family %d: %s", family, got)
		}
	}
	if got := ask(own, "ring", ""); got != "ENOSYS" {
		t.Errorf("a ring, which makes sockets as well: %s", got)
	}
}

// What a box connects to at an address of Listen arrives at the host.
func TestListeners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.box()
	r, wr, err := os.Pipe()
	check(t, err)
	defer r.Close()
	p, err := b.Start(Proc{Exe: self(t), Argv: []string{actorName, "say", "127.0.0.1:80", "127.0.0.1:3128"}, Env: testEnv(b), Stdout: wr, Stderr: wr,
		Confine: Confine{OwnNetwork: true, Listen: []string{"127.0.0.1:80", "127.0.0.1:3128"}}})
	wr.Close()
	check(t, err)
	listeners := p.Listeners()
	if len(listeners) != 2 {
		t.Fatalf("%d listeners", len(listeners))
	}
	for i, f := range listeners {
		defer f.Close()
		l, err := net.FileListener(f)
		check(t, err)
		defer l.Close()
		conn, err := l.Accept()
		check(t, err)
		line, _ := bufio.NewReader(conn).ReadString('\n')
		if want := fmt.Sprintf("hello %d\n", i); line != want {
			t.Errorf("%q, want %q", line, want)
		}
		fmt.Fprintln(conn, "from the host")
		conn.Close()
	}
	out, _ := bufio.NewReader(r).ReadString(0)
	if state, _ := p.Wait(); !state.OK() || out != "from the host\nfrom the host\nok\n" {
		t.Errorf("%+v %q", state, out)
	}
	if _, err := b.Start(Proc{Argv: []string{"true"}, Confine: Confine{OwnNetwork: true, Listen: []string{"192.0.2.1:80"}}}); err == nil {
		t.Error("an address that is not the box's was accepted")
	}
}
