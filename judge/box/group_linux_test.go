package box

import (
	"os"
	"testing"
	"time"
)

// What a killed relay left is removed: not what something runs in, and not what was made
// a moment ago.
func TestLeftGroupsGo(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 || !canGroup() {
		t.Skip("this user can't make control groups")
	}
	there := func(g group) bool { _, err := os.Lstat(string(g)); return err == nil }
	left, used := newGroup(5), newGroup(5)
	t.Cleanup(func() { left.remove(); used.remove() })
	b := newWorld(t).under(Copy).box()
	r, w, err := os.Pipe()
	check(t, err)
	p, err := b.Start(Proc{Argv: []string{"sh", "-c", "echo 0 > " + used.file("cgroup.procs") + "; exec >&-; sleep 600"}, Stdout: w, Env: testEnv(b)})
	check(t, err)
	defer p.Wait()
	defer p.Kill()
	w.Close()
	r.Read(make([]byte, 1)) // until it is in there
	if SweepGroups(); !there(left) {
		t.Error("a group that was just made is removed")
	}
	check(t, os.Chtimes(string(left), time.Now(), time.Now().Add(-time.Hour)))
	check(t, os.Chtimes(string(used), time.Now(), time.Now().Add(-time.Hour)))
	if n := SweepGroups(); n == 0 || there(left) || !there(used) {
		t.Errorf("%d removed; the empty one is there: %t, the used one: %t", n, there(left), there(used))
	}
}
