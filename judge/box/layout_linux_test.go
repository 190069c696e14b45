package box_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/paxiom/relay/judge/box"

	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// Where repository, home, state and temporary folder may lie to one another.
func TestLayouts(t *testing.T) {
	for name, set := range map[string]func(w *world){
		"repository below home": func(w *world) {
			w.spec.Home = w.dir
		},
		"home below the repository": func(w *world) {
			check(t, os.Rename(w.spec.Home, w.spec.Root+"/home"))
			w.spec.Home = w.spec.Root + "/home"
		},
		"repository is home": func(w *world) {
			check(t, os.Rename(w.spec.Home+"/.profile", w.spec.Root+"/.profile"))
			w.spec.Home = w.spec.Root
		},
		"state below home": func(w *world) {
			w.spec.StateDir, w.spec.Layer = w.spec.Home+"/.local/state/relay", w.spec.Home+"/.local/state/relay/layers/1"
		},
		"state below the repository": func(w *world) {
			w.spec.StateDir, w.spec.Layer = w.spec.Root+"/.state", w.spec.Root+"/.state/layers/1"
		},
		"repository below state": func(w *world) {
			check(t, os.Rename(w.spec.Root, w.spec.StateDir+"/repo"))
			w.spec.Root = w.spec.StateDir + "/repo"
		},
		"temporary folder below home": func(w *world) {
			check(t, os.Mkdir(w.spec.Home+"/tmp", 0o755))
			w.t.Setenv("TMPDIR", w.spec.Home+"/tmp")
		},
		"temporary folder below the repository": func(w *world) {
			check(t, os.Mkdir(w.spec.Root+"/tmp", 0o755))
			w.t.Setenv("TMPDIR", w.spec.Root+"/tmp")
		},
		"through symbolic links": func(w *world) {
			for _, path := range []*string{&w.spec.Root, &w.spec.Home, &w.spec.StateDir} {
				check(t, os.Symlink(*path, *path+"-link"))
				*path += "-link"
			}
			w.spec.Layer = w.spec.StateDir + "/layers/1"
		},
		"names that options would trip over": func(w *world) {
			odd := filepath.Join(w.dir, "a,b:c\\d 'e\"\nü")
			check(t, os.Rename(w.spec.Root, odd))
			w.spec.Root, w.spec.Layer = odd, w.spec.StateDir+"/lay,er:\n"
		},
		"no home": func(w *world) {
			w.spec.Home = "/nonexistent"
		},
		"a kernel whose tmpfs has no attributes": func(w *world) {
			OnDisk(true)
			w.t.Cleanup(func() { OnDisk(false) })
		},
		"home is the root": func(w *world) {
			w.spec.Home = "/"
		},
	} {
		t.Run(name, func(t *testing.T) { // not parallel: some change the environment
			w := newWorld(t)
			home := w.spec.Home
			set(w)
			real, err := filepath.EvalSymlinks(w.spec.Root)
			check(t, err)
			own := w.spec.StateDir + "/own" // a plugin's folder in relay's state
			check(t, os.MkdirAll(own, 0o700))
			w.spec.Binds = []Bind{{Path: own, Writable: true}}
			b := w.box()
			out := sh(t, b, `echo new >> a.txt; echo n > src/n; pwd; echo k > '`+strings.ReplaceAll(own, "'", `'\''`)+`/k'
echo x > "$HOME/.x"; cat "$HOME/.x"
echo x > "$TMPDIR/x"; echo x > /tmp/relay-layout-x; cat "$TMPDIR/x" /tmp/relay-layout-x; stat -c '%a %u' "$TMPDIR"`)
			if !strings.HasPrefix(out, real+"\n") || strings.Count(out, "x\n") != 3 || !strings.Contains(out, "700 ") {
				t.Errorf("inside: %q", out)
			}
			got := touched(t, b, nil)
			want := []string{"M a.txt", "A src/n"}
			if name == "repository is home" {
				want = []string{"A .x", "M a.txt", "A src/n"} // home is what is judged, then
			}
			same(t, "touched", brief(got.Changes), want)
			for _, leak := range []string{home + "/.x", b.Spec().Home + "/.x", real + "/src/n", "/tmp/relay-layout-x"} {
				if _, err := os.Lstat(leak); err == nil {
					t.Errorf("%s is there for real", leak)
				}
			}
			if _, err := os.Lstat(own + "/k"); err != nil {
				t.Errorf("what may be written in relay's state: %v", err)
			}
			// A second process, and the same layer opened anew, see what the first left.
			if out := sh(t, b, "cat src/n; rm src/n; echo 2 > two; test ! -e \"$HOME/.x\" -o \"$HOME\" = \"$PWD\""); out != "n\n" {
				t.Errorf("the second process: %q", out)
			}
			again, err := New(w.spec)
			check(t, err)
			if out := sh(t, again, "cat two; tail -n1 a.txt; ls src"); out != "2\nnew\nb.txt\ndeep\n" {
				t.Errorf("mounted again: %q", out)
			}
			if list, _ := os.ReadDir(filepath.Join(b.Spec().StateDir, "scratch")); len(list) > 0 {
				t.Errorf("left in the scratch folder: %v", list)
			}
		})
	}
}

func TestStateIsHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("state/secret", "s")
	check(t, os.Mkdir(w.spec.StateDir+"/sock", 0o755))
	w.write("state/sock/p", "plugin\n")
	w.write("persist/p", "old\n")
	w.write("home/.agent/session", "old\n")
	w.spec.Binds = []Bind{{Path: w.spec.StateDir + "/sock", Writable: true}, {Path: w.dir + "/persist/p"}}
	w.spec.Persist = []string{w.spec.Home + "/.agent", w.spec.Home + "/.absent"}
	b := w.box()
	out := sh(t, b, "ls -A "+w.spec.StateDir+"; cat "+w.spec.StateDir+"/sock/p; echo new > $HOME/.agent/session; echo 1 > "+w.spec.StateDir+"/sock/made; echo x > "+w.dir+"/persist/p || echo refused")
	if !strings.HasPrefix(out, "sock\nplugin\n") || !strings.HasSuffix(out, "refused\n") {
		t.Errorf("%q", out)
	}
	if w.read("home/.agent/session") != "new\n" || w.read("state/sock/made") != "1\n" || w.read("persist/p") != "old\n" {
		t.Error("binds do not reach the real folders as they should")
	}
}

// A file that holds a key shows nothing, wherever it lies and through whatever link; it
// can't be uncovered from inside, and the real one is not touched.
func TestHiddenFile(t *testing.T) {
	t.Parallel()
	for _, held := range []bool{false, true} {
		w := newWorld(t)
		w.write("home/.agent/login", "secret\n")
		w.write("home/key", "secret\n")
		w.write("elsewhere/key", "secret\n")
		check(t, os.Symlink(w.dir+"/elsewhere/key", w.dir+"/link"))
		w.spec.Persist = []string{w.spec.Home + "/.agent"}
		w.spec.ReadOnlyRoot = held
		if held {
			w.spec.Layer = ""
		}
		for _, path := range []string{w.spec.Home + "/.agent/login", w.spec.Home + "/key", w.dir + "/link"} {
			w.spec.Binds = append(w.spec.Binds, Bind{Path: path, Hidden: true})
		}
		out := sh(t, w.box(), "exec 2>&1; set +e; cd "+w.dir+"; cat home/.agent/login home/key link elsewhere/key; { umount home/key && cat home/key; echo x >home/key; mv home/key home/k; rm home/key; } 2>/dev/null || true; cat home/key; grep -rs secret home elsewhere; true")
		if out != "" {
			t.Errorf("%q", out)
		}
		if w.read("home/key") != "secret\n" || w.read("home/.agent/login") != "secret\n" {
			t.Error("the real file was changed")
		}
	}
	w := newWorld(t)
	w.write("home/key", "secret\n")
	w.spec.Means, w.spec.Binds = Copy, []Bind{{Path: w.spec.Home + "/key", Hidden: true}}
	if _, err := New(w.spec); err == nil || !strings.Contains(err.Error(), "overlay") {
		t.Errorf("a means that can't hide took it: %v", err)
	}
}

func TestReadOnlyRoot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.spec.ReadOnlyRoot, w.spec.Layer = true, ""
	b := w.box()
	out := sh(t, b, "cat a.txt; (echo x >> a.txt) 2>/dev/null || echo refused; echo h > $HOME/h; echo t > $TMPDIR/t")
	if out != "one\nrefused\n" {
		t.Errorf("%q", out)
	}
	if got := touched(t, b, nil); len(got.Changes) > 0 {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(w.spec.Home + "/h"); err == nil {
		t.Error("home was written")
	}
}

func TestWhatMayNotBeWritable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	check(t, os.MkdirAll(w.spec.Root+"/.agent", 0o755))
	check(t, os.Symlink(w.spec.Root+"/src", w.spec.Home+"/sneaky"))
	for name, set := range map[string]func(s *Spec){
		"the root":                  func(s *Spec) { s.Persist = []string{s.Root} },
		"below the root":            func(s *Spec) { s.Persist = []string{s.Root + "/.agent"} },
		"above the root":            func(s *Spec) { s.Binds = []Bind{{Path: w.dir, Writable: true}} },
		"everything":                func(s *Spec) { s.Persist = []string{"/"} },
		"the home":                  func(s *Spec) { s.Persist = []string{s.Home} },
		"the state":                 func(s *Spec) { s.Persist = []string{s.StateDir} },
		"below a root in the state": func(s *Spec) { s.StateDir, s.Binds = w.dir, []Bind{{Path: s.Root + "/src", Writable: true}} },
		"by way of a link":          func(s *Spec) { s.Persist = []string{s.Home + "/sneaky"} },
		"the root folder as root":   func(s *Spec) { s.Root = "/" },
		"a bind that is not there":  func(s *Spec) { s.Binds = []Bind{{Path: w.dir + "/none"}} },
		"no root":                   func(s *Spec) { s.Root = w.dir + "/none" },
		"no layer":                  func(s *Spec) { s.Layer = "" },
		"a layer of another root":   func(s *Spec) { s.Root = w.spec.Home },
	} {
		spec := w.spec
		if name == "a layer of another root" {
			w.box()
		}
		set(&spec)
		b, err := New(spec)
		if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("%s: %v %v", name, b, err)
		}
	}
}

func TestSync(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.box()
	restarted := func(want bool) {
		t.Helper()
		check(t, os.WriteFile(filepath.Join(b.Layer(), LayerBoot), []byte("another boot\n"), 0o600))
		if _, err := New(w.spec); (err == nil) != want {
			t.Errorf("opened after a restart: %v", err)
		}
	}
	sh(t, b, "echo x > x")
	restarted(false)
	check(t, b.Sync())
	restarted(true)
	sh(t, b, "cat x; echo y > y; mkdir -p h/h; chmod 000 h/h h")
	restarted(false)
	check(t, Remove(w.spec.Layer)) // what can't be opened any more can be removed
	if _, err := os.Lstat(w.spec.Layer); err == nil {
		t.Error("the layer is still there")
	}
	check(t, Remove(w.spec.Layer))
}

// A layer that can't be where it was asked for stands elsewhere, and is found again.
func TestLayerStandsElsewhere(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		w.spec.Layer = w.spec.Root + "/.relay/layer"
		b := w.box()
		if tree.Within(b.Layer(), w.spec.Root) {
			t.Fatalf("the layer is at %s", b.Layer())
		}
		sh(t, b, "echo x > x")
		again, err := New(w.spec)
		check(t, err)
		if again.Layer() != b.Layer() {
			t.Errorf("found %s instead of %s", again.Layer(), b.Layer())
		}
		same(t, "touched", brief(touched(t, again, nil).Changes), []string{"A x"})
		check(t, again.Discard())
		if _, err := os.Lstat(b.Layer()); err == nil {
			t.Error("the stand-in was not removed")
		}
		if _, err := os.Lstat(w.spec.Layer); err == nil {
			t.Error("the layer folder was not removed")
		}
	})
}

// File systems mounted below home, temporary and runtime folders, as most machines
// have them. Making some takes a mount namespace, so this runs as root only.
func TestMountsBelow(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	if os.Getenv("RELAY_TEST_MOUNTS") == "" {
		t.Parallel()
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestMountsBelow$", "-test.v")
		cmd.Env = append(os.Environ(), "RELAY_TEST_MOUNTS=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	t.Run("beside a mount", func(t *testing.T) { mountsBelow(t, "src/repo") })
	t.Run("deeper", func(t *testing.T) { mountsBelow(t, "src/work/repo") })
}

// mountsBelow tries a repository at a place in a home that has other mounts in it.
func mountsBelow(t *testing.T, place string) {
	w := newWorld(t)
	root := filepath.Join(w.spec.Home, place)
	check(t, os.MkdirAll(filepath.Dir(root), 0o755))
	check(t, os.Rename(w.spec.Root, root))
	w.spec.Root = root
	w.write("home/src/other/o", "o\n")
	w.write("home/secret", "s\n")
	check(t, os.Chmod(w.spec.Home+"/secret", 0o600))
	check(t, os.Symlink(".profile", w.spec.Home+"/l"))
	hostSh(t, w.dir, `mount --make-rprivate /
mkdir -p home/mnt/deeper home/src/data /run/relay-test /var/tmp/relay-test
mount -t tmpfs none home/mnt; mkdir home/mnt/d; mount -t tmpfs none home/mnt/d; echo d > home/mnt/d/f; echo m > home/mnt/f; : > home/file; echo f > file2; mount --bind file2 home/file
mount -t tmpfs none home/src/data; mount -t tmpfs none /run/relay-test; echo r > /run/relay-test/r`)
	defer hostSh(t, w.dir, "rmdir /var/tmp/relay-test; umount /run/relay-test; rmdir /run/relay-test; umount home/file home/mnt/d home/mnt home/src/data")
	b := w.box()
	out := sh(t, b, `cat a.txt $HOME/.profile $HOME/l $HOME/secret $HOME/src/other/o $HOME/mnt/f $HOME/mnt/d/f $HOME/file /run/relay-test/r; stat -c %a $HOME/secret
echo x > a.txt; for f in $HOME/.profile $HOME/new $HOME/src/new $HOME/src/other/o $HOME/mnt/f $HOME/mnt/d/f /run/relay-test/r /run/new; do echo changed > $f; done; cat /run/relay-test/r`)
	if want := "one\nhome\nhome\ns\no\nm\nd\nf\nr\n600\nchanged\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
	if out := hostSh(t, w.dir, "cat home/.profile home/src/other/o home/mnt/f home/mnt/d/f /run/relay-test/r "+root+"/a.txt; ls home/new home/src/new /run/new 2>/dev/null || true"); out != "home\no\nm\nd\nr\none\n" {
		t.Errorf("the host sees %q", out)
	}
	same(t, "touched", brief(touched(t, b, nil).Changes), []string{"M a.txt"})
	// Inside the repository itself it can't be done, and the error says so.
	check(t, os.Mkdir(w.spec.Root+"/cache", 0o755))
	hostSh(t, w.spec.Root, "mount -t tmpfs none cache")
	defer hostSh(t, w.spec.Root, "umount cache")
	_, err := b.Start(Proc{Argv: []string{"true"}})
	if e, ok := errors.AsType[*Error](err); !ok || !e.Unsupported || e.Fix == "" {
		t.Errorf("%v", err)
	}
}
