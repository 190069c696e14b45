package copies

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// What a killed relay left is removed: not what something runs in, and not what was made
// a moment ago.
func TestLeftGroupsGo(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 || !(means{}).Grouped() {
		t.Skip("this user can't make control groups")
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	there := func(g group) bool { _, err := os.Lstat(string(g)); return err == nil }
	left, used := newGroup(5), newGroup(5)
	t.Cleanup(func() { left.remove(); used.remove() })
	cmd := exec.Command("sh", "-c", "echo 0 > "+used.file("cgroup.procs")+"; exec >&-; exec sleep 600")
	said, err := cmd.StdoutPipe()
	check(err)
	check(cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	said.Read(make([]byte, 1)) // until it is in there
	if (means{}).Sweep(); !there(left) {
		t.Error("a group that was just made is removed")
	}
	check(os.Chtimes(string(left), time.Now(), time.Now().Add(-time.Hour)))
	check(os.Chtimes(string(used), time.Now(), time.Now().Add(-time.Hour)))
	if n := (means{}).Sweep(); n == 0 || there(left) || !there(used) {
		t.Errorf("%d removed; the empty one is there: %t, the used one: %t", n, there(left), there(used))
	}
}
