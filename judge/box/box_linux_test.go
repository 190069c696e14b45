package box_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/paxiom/relay/judge/box"
	_ "github.com/paxiom/relay/judge/box/copies"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box/internal/tree"
	"github.com/paxiom/relay/judge/git"
)

// ordinary is the user as whom all tests run a second time when the first is root.
const ordinary = 65534

func TestMain(m *testing.M) {
	Init()
	if os.Args[0] == actorName {
		act(os.Args[1:])
	}
	syscall.Umask(0o022)
	os.Exit(m.Run())
}

// TestAsOrdinaryUser runs all other tests of the package without any privilege, with -short every other one.
func TestAsOrdinaryUser(t *testing.T) {
	sampling.Slow(t)
	if os.Getuid() != 0 {
		t.Skip("this is an ordinary user already")
	}
	if testing.CoverMode() != "" {
		t.Skip("the coverage file belongs to root")
	}
	t.Parallel()
	dir, err := os.MkdirTemp("/mnt", "relay-box-user-")
	if err != nil {
		dir, err = os.MkdirTemp("/tmp", "relay-box-user-")
	}
	check(t, err)
	t.Cleanup(func() { tree.Remove(dir) })
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "box.test")
	check(t, os.WriteFile(bin, self, 0o755))
	for _, d := range []string{dir, filepath.Join(dir, "home"), filepath.Join(dir, "tmp"), filepath.Join(dir, "small")} {
		os.Mkdir(d, 0o755)
		check(t, os.Chmod(d, 0o755))
		check(t, os.Chown(d, ordinary, ordinary))
	}
	// Root's own run is on the disk. In memory is another file system that boxes must work
	// on, and one that makes and removes ten thousands of files in a fraction of the time.
	// What is mounted is this thread's and its children's alone, and not below /tmp: every
	// box makes an overlay of each folder beside a mount that lies there.
	runtime.LockOSThread() // for good: the mounts end with the thread
	env := []string{"HOME=" + dir + "/home", "TMPDIR=" + dir + "/tmp", "PATH=" + os.Getenv("PATH")}
	if unix.Unshare(unix.CLONE_NEWNS) == nil && unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") == nil {
		check(t, unix.Mount("tmpfs", dir+"/tmp", "tmpfs", 0, fmt.Sprintf("mode=755,uid=%d,gid=%d", ordinary, ordinary)))
		check(t, unix.Mount("tmpfs", dir+"/small", "tmpfs", 0, "size=64m,nr_inodes=4000,mode=1777"))
		env = append(env, smallDisk+"="+dir+"/small")
		t.Cleanup(func() {
			unix.Unmount(dir+"/tmp", unix.MNT_DETACH)
			unix.Unmount(dir+"/small", unix.MNT_DETACH)
		})
	}
	args := []string{"-test.v", "-test.count=1", "-test.timeout=30m"}
	if testing.Short() { // every other one, others with each ROTATE
		names, err := exec.Command(bin, "-test.list=.").Output()
		check(t, err)
		args = append(args, "-test.short", "-test.run=^("+strings.Join(sampling.Every(2, strings.Fields(string(names))), "|")+")$")
	}
	run := func() ([]byte, error) {
		cmd := exec.Command(bin, args...)
		cmd.Dir = dir
		cmd.Env = env
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
		return cmd.CombinedOutput()
	}
	out, err := run()
	// A process that another test was starting just then may hold the new file open
	// for writing until it executes (go.dev/issue/22315).
	for range 50 {
		if !errors.Is(err, syscall.ETXTBSY) {
			break
		}
		time.Sleep(100 * time.Millisecond)
		out, err = run()
	}
	if err != nil {
		t.Errorf("as uid %d: %v\n%s", ordinary, err, out)
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if strings.Contains(line, "SKIP") {
			t.Log("as uid 65534:", line)
		}
	}
}

// world is a repository-like folder with a home and a state folder beside it.
type world struct {
	t    *testing.T
	dir  string
	spec Spec
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	w := &world{t: t, dir: dir, spec: Spec{Root: dir + "/repo", Home: dir + "/home", StateDir: dir + "/state", Layer: dir + "/state/layers/1"}}
	for _, d := range []string{"repo", "home", "state"} {
		check(t, os.Mkdir(filepath.Join(dir, d), 0o755))
	}
	w.write("repo/a.txt", "one\n")
	w.write("repo/src/b.txt", "two\n")
	w.write("repo/src/deep/c.txt", "three\n")
	w.write("home/.profile", "home\n")
	return w
}

// eachMeans runs a test under every means of the ladder.
func eachMeans(t *testing.T, test func(t *testing.T, means string)) {
	for _, means := range Ladder() {
		t.Run(means, func(t *testing.T) { test(t, means) })
	}
}

// under makes the world's boxes by another means.
func (w *world) under(means string) *world {
	w.spec.Means = means
	return w
}

func (w *world) write(name, content string) {
	w.t.Helper()
	full := filepath.Join(w.dir, name)
	check(w.t, os.MkdirAll(filepath.Dir(full), 0o755))
	check(w.t, os.WriteFile(full, []byte(content), 0o644))
}

// read gives the content of a real file; what is absent is "-".
func (w *world) read(name string) string {
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		return "-"
	}
	return string(b)
}

func (w *world) box() *Box {
	w.t.Helper()
	b, err := New(w.spec)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := b.Discard(); err != nil {
			w.t.Error(err)
		}
	})
	return b
}

// sh runs a script in a box and gives what it printed; it must end with status 0.
func sh(t *testing.T, b *Box, script string) string {
	t.Helper()
	out, state := start(t, b, Proc{Argv: []string{"sh", "-euc", script}, Env: testEnv(b)})
	if !state.OK() {
		t.Fatalf("%s: %+v\n%s", script, state, out)
	}
	return out
}

func testEnv(b *Box) []string {
	return append(os.Environ(), "HOME="+b.Spec().Home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t")
}

// start runs a process in a box to its end.
func start(t *testing.T, b *Box, p Proc) (string, ExitState) {
	t.Helper()
	r, w, err := os.Pipe()
	check(t, err)
	defer r.Close()
	p.Stdout, p.Stderr = w, w
	run, err := b.Start(p)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	check(t, err)
	state, err := run.Wait()
	check(t, err)
	return string(out), state
}

// hostSh runs a script outside any box.
func hostSh(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

func touched(t *testing.T, b *Box, git *git.Repo) judge.Touched {
	t.Helper()
	got, err := b.Touched(t.Context(), git)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// brief gives changes as "K path" with K the first letter of the kind (P: mode).
func brief(changes []judge.Change) []string {
	out := []string{}
	for _, c := range changes {
		out = append(out, fmt.Sprintf("%c %s", "?AMDPX"[c.Kind], c.Path))
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// listing lists a folder as a process in the box sees it: kind, mode, name, content.
const listing = `find . -path ./.git -prune -o -printf '%y %m %p %l\n' | sort; find . -path ./.git -prune -o -type f -readable -print | sort | xargs -d '\n' cksum`
