package change

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/internal/sampling"
)

// kills is how many kills the test makes: `make crash`, which CI runs as well, asks for 200 and more.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("RELAY_KILLS")); err == nil && n > 0 {
		return max(n, 200)
	}
	return 20
}

// landing is what the tests below kill: a change of every kind, with a commit or
// without one.
type landing struct {
	commit     bool
	from       *repo
	base, head string
	landed     string        // the tree afterwards
	points     []string      // what is reached on the way
	took       time.Duration // from the first to the last
}

func newLanding(t *testing.T, from *repo, commit bool) *landing {
	t.Helper()
	l := &landing{commit: commit, from: from, base: from.snapshot(false), head: from.git("rev-parse", "HEAD")}
	whole := from.copy(t)
	l.points = child(t, whole, 0, commit)
	l.landed = whole.snapshot(false)
	if len(l.points) < 20 {
		t.Fatalf("only %d points: %v", len(l.points), l.points)
	}
	l.took = 50 * time.Millisecond
	if _, _, took := killedAfter(t, from.copy(t), time.Minute, commit); took > 0 {
		l.took = took
	}
	return l
}

// killedAfter lands in a process of its own and kills that some time after the landing
// has begun. late: it had ended before that, and then took says how long it had worked.
func killedAfter(t *testing.T, r *repo, after time.Duration, commit bool) (killed, late bool, took time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRoot+"="+r.root, envKill+"=0", envPoints+"="+filepath.Join(filepath.Dir(r.root), "points"),
		envCommit+"="+strconv.FormatBool(commit))
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	lines.ReadString('\n')
	begin := time.Now()
	timer := time.AfterFunc(after, func() { cmd.Process.Signal(syscall.SIGKILL) })
	said, _ := lines.ReadString('\n')
	took = time.Since(begin)
	timer.Stop()
	cmd.Wait()
	ws, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ws.Signal() == syscall.SIGKILL, said == "landed\n", took
}

// Landing is killed at every step of its journal and at random instants; the next start
// finishes it or takes it back.
func TestKilledWhileLanding(t *testing.T) {
	begin, from := time.Now(), newRepo(t)
	both := []*landing{newLanding(t, from, true), newLanding(t, from, false)}
	jobs := make(chan func() (string, bool))
	go func() {
		defer close(jobs)
		n, all := 0, kills()
		for _, l := range both {
			step := max(1, 2*(len(both[0].points)+len(both[1].points))/all)
			for at := 1; at <= len(l.points); at += step {
				n++
				jobs <- func() (string, bool) { return l.killAt(t, at), true }
			}
		}
		for ; n < all; n++ {
			l := both[n%2]
			jobs <- func() (string, bool) { return l.killRandomly(t) }
		}
	}()
	var mu sync.Mutex
	ends, real := map[string]int{}, 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for job := range jobs {
				end, killed := job()
				mu.Lock()
				ends[end]++
				if killed {
					real++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if ends["base"] == 0 || ends["landed"] == 0 {
		t.Errorf("one of the two ends was never reached: %v", ends)
	}
	if !t.Failed() {
		fmt.Printf("%d kills while applying and committing, at %d steps and at random: %d taken back, %d finished, 0 neither (%s)\n",
			real, len(both[0].points)+len(both[1].points), ends["base"], ends["landed"], time.Since(begin).Round(time.Second))
	}
}

// killAt kills a landing at its n-th point.
func (l *landing) killAt(t *testing.T, n int) string {
	r := l.from.copy(t)
	defer os.RemoveAll(filepath.Dir(r.root))
	child(t, r, n, l.commit)
	if n%3 == 0 { // a second crash, during the recovery, must do no harm either
		recoverKilled(t, r)
	}
	return l.settled(t, r, fmt.Sprintf("at %d (%s)", n, l.points[n-1]))
}

// killRandomly kills a landing at any instant. Sometimes it is too late for that.
func (l *landing) killRandomly(t *testing.T) (string, bool) {
	for range 20 {
		r := l.from.copy(t)
		after := time.Duration(rand.Int64N(int64(l.took)))
		killed, late, _ := killedAfter(t, r, after, l.commit)
		if killed && !late {
			defer os.RemoveAll(filepath.Dir(r.root))
			return l.settled(t, r, "after "+after.String()), true
		}
		os.RemoveAll(filepath.Dir(r.root))
	}
	return "landed", false
}

// recoverKilled recovers in a process that is killed at its second point.
func recoverKilled(t *testing.T, r *repo) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRoot+"="+r.root, envKill+"=2", envRecover+"=1", envPoints+"="+filepath.Join(filepath.Dir(r.root), "points"))
	if out, err := cmd.CombinedOutput(); err == nil && len(out) > 0 {
		t.Errorf("recovering: %s", out)
	}
}

// settled recovers and says how it ended.
func (l *landing) settled(t *testing.T, r *repo, killed string) string {
	t.Helper()
	done, err := Recover(context.Background(), r.env, false, nil)
	if err != nil {
		t.Errorf("killed %s: %v", killed, err)
	}
	for _, d := range done {
		if d.Conflict != "" {
			t.Errorf("killed %s: conflict: %s", killed, d.Conflict)
		}
	}
	r.noLeftovers()
	now := r.git("rev-parse", "HEAD")
	switch tree := r.snapshot(false); {
	case tree == l.base && now == l.head:
		r.clean()
		return "base"
	case tree == l.landed && l.commit == (now != l.head):
		if l.commit {
			r.clean()
		}
		return "landed"
	default:
		t.Errorf("killed %s: the tree is neither, HEAD %s was %s: %s", killed, now, l.head, diff(l.landed, tree))
		return "neither"
	}
}

// A signal ends a landing that has not begun to write, and lets one that has come to its
// end: whenever it comes, the tree is the base or the judged commit, and nothing is left.
func TestInterruptedWhileLanding(t *testing.T) {
	from := newRepo(t)
	l := newLanding(t, from, true)
	ends := map[bool]int{}
	for n, point := range l.points {
		if n%2 != 0 || testing.Short() && n%6 != 0 {
			continue
		}
		r := from.copy(t)
		r.everything()
		ctx, interrupt := context.WithCancel(context.Background())
		reached := 0
		journal.Failpoint = func(string) {
			if reached++; reached == n+1 {
				interrupt()
			}
		}
		_, err := r.landAt(ctx, "run-1", true, l.head, "main")
		journal.Failpoint = nil
		interrupt()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted at %d (%s): %v", n+1, point, err)
		}
		end := l.settled(t, r, fmt.Sprintf("(interrupted) at %d (%s)", n+1, point))
		if (end == "landed") != (err == nil) {
			t.Errorf("interrupted at %d (%s): it says %v, and the tree is %s", n+1, point, err, end)
		}
		ends[err == nil]++
		os.RemoveAll(filepath.Dir(r.root))
	}
	if ends[true] == 0 || ends[false] == 0 {
		t.Errorf("%d landings came to their end, %d did not begin to write", ends[true], ends[false])
	}
}

// Whenever the operator edits a file while relay writes, his version is what is there
// at the end.
func TestOperatorEditsAtEveryPoint(t *testing.T) {
	sampling.Rare(t)
	from := newRepo(t)
	points, tried := newLanding(t, from, true).points, map[string]int{}
	for n := range points {
		// What comes once for each file has been at README.md by then.
		if tried[points[n]]++; tried[points[n]] > 3 {
			continue
		}
		for _, save := range []string{"in place", "by a rename"} {
			r := from.copy(t)
			reached := 0
			journal.Failpoint = func(string) {
				if reached++; reached != n+1 {
					return
				}
				if save == "in place" {
					r.write("README.md", "mine\n", 0o644)
					return
				}
				r.write("README.md.swp", "mine\n", 0o644)
				must(t, os.Rename(filepath.Join(r.root, "README.md.swp"), filepath.Join(r.root, "README.md")))
			}
			r.everything()
			done, err := r.land("run-1", true)
			journal.Failpoint = nil
			if got := r.read("README.md"); got != "mine\n" {
				t.Errorf("edited %s at %d (%s): README.md holds %q; landing: %v", save, n+1, points[n], got, err)
			}
			if notes := strings.Join(done.Notes, "\n"); points[n] == "committed" && !strings.Contains(notes, `"README.md" is no longer what relay wrote`) {
				t.Errorf("edited %s right afterwards, and the notes say %q", save, notes)
			}
			os.RemoveAll(filepath.Dir(r.root))
		}
	}
}

// Large files kept by pointer, as git-lfs does it, with a filter of our own: the tree has
// the bytes, the commit the pointer, and the store beside them the bytes again.
func TestFilesByPointer(t *testing.T) {
	r := newRepo(t)
	r.write(".git/clean.sh", "set -e\nb=$(mktemp .git/big.XXXXXX); cat > $b; h=$(sha256sum < $b | cut -c1-64)\nmkdir -p .git/big; mv $b .git/big/$h; echo \"pointer $h\"\n", 0o755)
	r.write(".git/smudge.sh", "read w h; cat .git/big/$h\n", 0o755)
	r.git("config", "filter.big.clean", "cd '"+r.root+"' && sh .git/clean.sh")
	r.git("config", "filter.big.smudge", "cd '"+r.root+"' && sh .git/smudge.sh")
	r.git("config", "filter.big.required", "true")
	r.write(".gitattributes", "*.big filter=big -text\n", 0o644)
	r.write("old.big", "old\x00bytes", 0o644)
	r.write("gone.big", "gone\x00bytes", 0o644)
	r.git("add", "-A")
	r.git("commit", "-qm", "big files")
	r.clean()
	r.change("old.big", "new\x00bytes\r\n", 0o644)
	r.change("added.big", strings.Repeat("\x00\xff", 5000), 0o755)
	r.change("gone.big", "", 0)
	done, err := r.land("run-1", true)
	must(t, err)
	r.clean()
	if r.read("old.big") != "new\x00bytes\r\n" || r.read("added.big") != strings.Repeat("\x00\xff", 5000) {
		t.Error("the work tree does not have what was judged")
	}
	for _, name := range []string{"old.big", "added.big"} {
		if got := r.git("cat-file", "blob", "HEAD:"+name); !strings.HasPrefix(got, "pointer ") {
			t.Errorf("%s in the commit is %.40q", name, got)
		}
	}
	if out := r.git("ls-tree", "--name-only", "HEAD"); strings.Contains(out, "gone.big") {
		t.Error("gone.big is still there")
	}
	must(t, os.Remove(filepath.Join(r.root, "old.big")))
	r.git("checkout", "--", "old.big")
	if r.read("old.big") != "new\x00bytes\r\n" {
		t.Error("a checkout does not give the bytes back")
	}
	if len(done.Notes) != 1 || !strings.Contains(done.Notes[0], "commit: 2,") {
		t.Errorf("notes %q", done.Notes)
	}
}
