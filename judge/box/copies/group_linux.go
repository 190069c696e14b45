package copies

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/judge/box"
)

// uid 0 is bound by no limit on its number of processes. Where there are no namespaces, a
// control group holds them, if this user may make one: root can on most machines, and
// can't in most containers.
//
// group is the folder of such a control group; "" is none.
type group string

// groupPrefix begins the names of all of them.
const groupPrefix = "relay-box-"

// newGroup makes a control group for at most so many processes and threads.
func newGroup(most int) group {
	for _, base := range groupBases() {
		g := group(filepath.Join(base, groupPrefix+rand.Text()[:10]))
		if os.Mkdir(string(g), 0o755) != nil {
			continue
		}
		if g.set("pids.max", strconv.Itoa(most)) == nil {
			return g
		}
		g.remove() // this one does not count processes
	}
	return ""
}

// Grouped reports whether a group can be made here.
func (means) Grouped() bool {
	g := newGroup(1)
	g.remove()
	return g != ""
}

// groupBases are the folders in which a group can be made: in this process's own one in
// the old hierarchy, beside it in the new one, where a group that has processes can't
// hold limited ones.
func groupBases() (bases []string) {
	lines, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(lines)) {
		field := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(field) != 3 || strings.Contains(field[2], "..") {
			continue
		}
		switch field[1] {
		case "pids":
			bases = append(bases, filepath.Join("/sys/fs/cgroup/pids", field[2]))
		case "":
			bases = append(bases, filepath.Join("/sys/fs/cgroup", filepath.Dir(field[2])))
		}
	}
	return bases
}

func (g group) file(name string) string { return filepath.Join(string(g), name) }

// set writes one of the group's files, which the kernel makes and nobody else.
func (g group) set(name, value string) error {
	f, err := os.OpenFile(g.file(name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	f.Close()
	return err
}

// join puts this process into the group, and so what it starts.
func (g group) join() error {
	if g == "" {
		return nil
	}
	return box.Fail("limit the processes", string(g), g.set("cgroup.procs", "0"))
}

// refused reports whether the kernel has refused to make one process more.
func (g group) refused() bool {
	if g == "" {
		return false
	}
	events, _ := os.ReadFile(g.file("pids.events"))
	for line := range bytes.Lines(events) {
		if n, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("max ")); ok {
			return string(n) != "0"
		}
	}
	return false
}

// unjoined is how long a new group may have nothing in it: what it was made for is being
// started.
const unjoined = time.Minute

// Sweep removes the control groups that relays which were killed have left, and
// says how many. The kernel keeps those that something runs in.
func (means) Sweep() (removed int) {
	for _, base := range groupBases() {
		names, _ := filepath.Glob(filepath.Join(base, groupPrefix+"*"))
		for _, name := range names {
			if info, err := os.Lstat(name); err == nil && info.IsDir() && time.Since(info.ModTime()) > unjoined && os.Remove(name) == nil {
				removed++
			}
		}
	}
	return removed
}

// remove removes the group, once nothing is in it any more.
func (g group) remove() {
	if g != "" {
		os.Remove(string(g))
	}
}
