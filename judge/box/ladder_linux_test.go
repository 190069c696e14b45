package box_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/paxiom/relay/judge/box"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// What a process under Landlock tries, and what the kernel has to answer.
func TestLandlockRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t).under(Landlock)
	w.write("repo/victim", "whole\n")
	b := w.box()
	real, in := w.spec.Root, b.Dir()
	for _, a := range []struct {
		want string
		args []string
	}{
		{"EACCES", []string{"write", real + "/a.txt"}},
		{"EACCES", []string{"create", real + "/new"}},
		{"EACCES", []string{"unlink", real + "/a.txt"}},
		{"EACCES", []string{"rename", real + "/a.txt", real + "/b.txt"}},
		{"EACCES|EXDEV", []string{"rename", real + "/a.txt", in + "/stolen"}},
		{"EACCES|EXDEV", []string{"rename", in + "/src/b.txt", real + "/planted"}},
		{"EACCES|EXDEV", []string{"link", real + "/victim", in + "/linked"}},
		{"EACCES|EXDEV", []string{"link", in + "/src/b.txt", real + "/linked"}},
		{"EACCES", []string{"write", "/proc/self/root" + real + "/a.txt"}},
		{"EACCES", []string{"create", w.spec.Home + "/planted"}},
		{"EACCES", []string{"write", w.spec.Home + "/.profile"}},
		{"EACCES", []string{"create", w.spec.StateDir + "/x"}},
		{"EACCES", []string{"create", b.Layer() + "/x"}},
		{"EACCES", []string{"write", b.Layer() + "/" + "tables"}},
		{"EACCES", []string{"create", in + "/../x"}},
		{"EACCES", []string{"create", "/tmp/relay-landlock-x"}},
		{"EACCES", []string{"create", "/etc/relay-x"}},
		{"EACCES", []string{"write", "/proc/sys/kernel/core_pattern"}},
		{"EPERM", []string{"ptrace", fmt.Sprint(os.Getpid())}},
		{"EPERM", []string{"mount", in + "/src"}},
		{"EPERM", []string{"mknod", in + "/null", "1 3"}},
		{"ok", []string{"create", in + "/src/new"}},
		{"ok", []string{"link", in + "/src/new", in + "/linked"}},
		{"ok", []string{"rename", in + "/linked", in + "/src/deep/moved"}},
		{"ok", []string{"write", "/dev/null"}},
	} {
		if got := actor(t, b, a.args...); !slices.Contains(strings.Split(a.want, "|"), got) {
			t.Errorf("%q: got %s, want %s", a.args, got, a.want)
		}
	}
	if CanScope() {
		if got := actor(t, b, "kill", fmt.Sprint(os.Getpid())); got != "EPERM" {
			t.Errorf("kill of the host: %s", got)
		}
	} else {
		t.Log("this kernel's Landlock can't keep signals in")
	}
	same(t, "touched", brief(touched(t, b, nil).Changes), []string{"A src/deep/moved", "A src/new"})
	if w.read("repo/victim") != "whole\n" || len(b.PutBack()) > 0 {
		t.Errorf("put back: %q", b.PutBack())
	}
}

// Landlock does not keep permission bits and times from being changed.
func TestLandlockPutsModesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t).under(Landlock)
	baseTree(w)
	before := hostSh(t, w.spec.Root, listing+"; stat -c '%n %Y' a.txt")
	b := w.box()
	sh(t, b, "chmod 777 "+w.spec.Root+"/a.txt; touch -d 2001-01-01 "+w.spec.Root+"/a.txt; chmod 000 "+w.spec.Root+"/d "+w.spec.Root+"/src/b.txt; chmod 711 "+w.spec.Root)
	if after := hostSh(t, w.spec.Root, listing+"; stat -c '%n %Y' a.txt"); after != before {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
	if len(b.PutBack()) != 4 {
		t.Errorf("put back: %q", b.PutBack())
	}
	got := touched(t, b, nil)
	same(t, "touched", brief(got.Changes), []string{"P a.txt", "P d", "P src/b.txt"})
	if !got.RootMode {
		t.Error("the root's mode was changed, unnoticed")
	}
	// The operator's own work under way is no builder's.
	sh(t, b, "true")
	w.write("repo/a.txt", "the operator's\n")
	if found := len(b.PutBack()); found != 4 || w.read("repo/a.txt") != "the operator's\n" {
		t.Errorf("%q", b.PutBack())
	}
}

// In a work tree of its own, a builder finds the main one by its path: it is put back, and
// the change does not pass.
func TestMainWorkTreeIsPutBack(t *testing.T) {
	t.Parallel()
	for _, means := range []string{Landlock, Copy} {
		w := newWorld(t).under(means)
		baseTree(w)
		hostSh(t, w.spec.Root, "git init -q -b main; echo '{}' > prd.json; git add -A; git commit -qm base; git worktree add -q ../side; mkdir .relay; echo '*' > .relay/.gitignore")
		main := w.spec.Root
		w.spec.Root, w.spec.Busy = w.dir+"/side", []string{main + "/.relay"}
		git, err := git.Open(context.Background(), w.spec.Root)
		check(t, err)
		w.spec.Main, w.spec.GitDirs = git.Main(), git.Outside()
		if w.spec.Main != main {
			t.Fatalf("the main work tree is %q", w.spec.Main)
		}
		whole := "{ " + listing + "; GIT_OPTIONAL_LOCKS=0 git status --porcelain; } | grep -v '[.]relay'"
		before := hostSh(t, main, whole)
		b := w.box()
		env := append(testEnv(b), "REAL="+main)
		start(t, b, Proc{Env: env, Argv: []string{"sh", "-c", "cd \"$REAL\"; chmod 777 tool .; echo evil > new.txt; echo evil > prd.json; rm a.txt; echo relay > .relay/log; touch -d 2001-01-01 src/b.txt; chmod 600 src/b.txt"}})
		w.write("repo/.relay/log", "relay's own\n")
		if after := hostSh(t, main, whole); after != before {
			t.Errorf("%s: after:\n%s\nbefore:\n%s", means, after, before)
		}
		want := []string{"changed the mode of " + main, "changed the mode of " + main + "/src/b.txt", "changed the mode of " + main + "/tool"}
		if means == Copy {
			want = append(want, "removed "+main+"/a.txt", "changed "+main+"/prd.json", "added "+main+"/new.txt")
		}
		got := touched(t, b, nil)
		for _, line := range want {
			if !slices.Contains(got.Elsewhere, line) {
				t.Errorf("%s: %q is not in %q", means, line, got.Elsewhere)
			}
		}
		// What the operator does there later is no builder's.
		w.write("repo/a.txt", "the operator's\n")
		sh(t, b, "true")
		if again := touched(t, b, nil).Elsewhere; len(again) != len(got.Elsewhere) || w.read("repo/a.txt") != "the operator's\n" {
			t.Errorf("%s: %q", means, again)
		}
	}
}

// rampage does to a folder what a builder without a fence can do.
const rampage = `cd "$REAL"
echo evil >> a.txt; rm src/b.txt; rm -r d/sub; echo new > planted; mkdir -p far/away; echo n > far/away/n; ln -s /etc far/link; mkfifo far/pipe
rm link; echo file > link; rm tool; mkdir tool; echo in > tool/in; chmod 000 src/deep/c.txt; chmod 000 d
mkdir shut; echo s > shut/s; chmod 000 shut
rm -r empty; ln -s /tmp empty
echo '[core] fsmonitor = /tmp/evil' >> .git/config; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo 0000000000000000000000000000000000000000 > .git/refs/heads/main
echo forged > .git/index; rm -r .git/objects; echo ref: refs/heads/evil > .git/HEAD
touch -d 2001-01-01 src; chmod 700 .`

// A copy contains nothing: what was done to the real repository is found, put back,
// and judged as if it had been done in the copy.
func TestCopyPutsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t).under(Copy)
	baseTree(w)
	hostSh(t, w.spec.Root, "git init -q -b main; git add -A; git commit -qm base")
	whole := "find . -printf '%y %m %p %l\\n' | sort; find . -type f | sort | xargs cksum; git fsck 2>&1; GIT_OPTIONAL_LOCKS=0 git status --porcelain"
	before := hostSh(t, w.spec.Root, whole)
	b := w.box()
	env := append(testEnv(b), "REAL="+w.spec.Root)
	if out, state := start(t, b, Proc{Argv: []string{"sh", "-euc", rampage}, Env: env}); !state.OK() {
		t.Fatalf("%+v\n%s", state, out)
	}
	if after := hostSh(t, w.spec.Root, whole); after != before {
		t.Errorf("after:\n%s\nbefore:\n%s", after, before)
	}
	if len(b.PutBack()) < 20 {
		t.Errorf("put back: %q", b.PutBack())
	}
	got := touched(t, b, nil)
	for _, want := range []string{"M a.txt", "D src/b.txt", "D d/sub/z", "A planted", "A far/away/n", "A far/link", "X far/pipe", "M link", "A tool/in", "D tool", "P src/deep/c.txt", "P d", "A shut/s", "A empty"} {
		if !slices.Contains(brief(got.Changes), want) {
			t.Errorf("%q is not in %q", want, brief(got.Changes))
		}
	}
	for _, want := range []string{"M config", "A hooks/pre-commit", "M refs/heads/main", "M index", "M HEAD"} {
		if !slices.Contains(brief(got.Git), want) {
			t.Errorf("%q is not in %q", want, brief(got.Git))
		}
	}
	if c := got.Changes[slices.IndexFunc(got.Changes, func(c judge.Change) bool { return c.Path == "a.txt" })]; c.Raced || c.Lines.Added != 1 {
		t.Errorf("%+v", c)
	}
	// In a check's box the same is put back, and is nobody's change.
	check(t, b.Discard())
	b = w.box()
	sh(t, b, "echo good >> a.txt")
	fresh, err := b.Fresh(w.spec.StateDir+"/layers/v", touched(t, b, nil).Changes)
	check(t, err)
	defer fresh.Discard()
	start(t, fresh, Proc{Argv: []string{"sh", "-euc", rampage}, Env: env})
	if after := hostSh(t, w.spec.Root, whole); after != before {
		t.Errorf("after the check:\n%s", after)
	}
	same(t, "touched", brief(touched(t, b, nil).Changes), []string{"M a.txt"})
}

// What is right changes when nobody is in the box, and relay's own files at any time.
func TestCopyLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t).under(Copy)
	w.write("repo/.relay/STATE.json", "1")
	w.write("repo/.relay/FACTS.md", "facts\n")
	w.spec.Busy, w.spec.Watch = []string{w.spec.Root + "/.relay"}, []string{w.spec.Root + "/.relay/FACTS.md"}
	b := w.box()
	sh(t, b, "echo x >> a.txt")
	w.write("repo/src/b.txt", "the operator's\n")
	w.write("repo/extra", "the operator's\n")
	check(t, os.Remove(w.spec.Root+"/src/deep/c.txt"))
	sh(t, b, "echo 2 > "+w.spec.Root+"/.relay/STATE.json; echo evil > "+w.spec.Root+"/.relay/FACTS.md; echo l > "+w.spec.Root+"/.relay/log")
	if w.read("repo/src/b.txt") != "the operator's\n" || w.read("repo/extra") != "the operator's\n" || w.read("repo/src/deep/c.txt") != "-" {
		t.Error("the operator's work was undone")
	}
	if w.read("repo/.relay/STATE.json") != "2\n" || w.read("repo/.relay/log") != "l\n" || w.read("repo/.relay/FACTS.md") != "facts\n" {
		t.Error("relay's own files")
	}
	kept := w.spec.StateDir + "/put-back/1"
	same(t, "put back", b.PutBack(), []string{"changed .relay/FACTS.md", "what was there is kept in " + kept})
	if text, err := os.ReadFile(kept + w.spec.Root + "/.relay/FACTS.md"); string(text) != "evil\n" {
		t.Errorf("kept: %q %v", text, err)
	}
	same(t, "touched", brief(touched(t, b, nil).Changes), []string{"M .relay/FACTS.md", "M a.txt"})
}

// A keeper that is killed keeps nothing, but the host sweeps up.
func TestKilledKeeper(t *testing.T) {
	t.Parallel()
	w := newWorld(t).under(Copy)
	b := w.box()
	mark := fmt.Sprint(os.Getpid(), "77")
	run, err := b.Start(Proc{Argv: []string{"sh", "-c", "echo evil > " + w.spec.Root + "/a.txt; sleep 0.5; kill -9 $PPID; setsid sleep 600." + mark + " & sleep 600." + mark}, Env: testEnv(b)})
	check(t, err)
	state, err := run.Wait()
	if !state.Killed || err != nil {
		t.Errorf("%+v %v", state, err)
	}
	for began := time.Now(); left(mark) > 0 && time.Since(began) < time.Second; {
		time.Sleep(time.Millisecond) // killed, and not gone yet
	}
	if n := left(mark); n > 0 || w.read("repo/a.txt") != "one\n" {
		t.Errorf("%d processes are left, a.txt is %q", n, w.read("repo/a.txt"))
	}
}

func TestHomeOfLinks(t *testing.T) {
	t.Parallel()
	for _, means := range []string{Landlock, Copy} {
		w := newWorld(t).under(means)
		w.write("home/.config/tool/conf", "conf\n")
		w.write("home/.config/flat", "flat\n")
		w.write("home/.agent/session", "old\n")
		w.write("home/.cache/big", "cached\n")
		w.spec.Persist = []string{w.spec.Home + "/.agent"}
		b := w.box()
		out := sh(t, b, `cat ~/.profile ~/.config/tool/conf ~/.config/flat ~/.agent/session; ls ~/.cache
echo more >> ~/.profile; echo n > ~/.new; mkdir -p ~/.config/other ~/.cache/x; echo new > ~/.agent/session; rm -rf ~/.config/tool; cat ~/.profile`)
		if out != "home\nconf\nflat\nold\nhome\nmore\n" {
			t.Errorf("%s: %q", means, out)
		}
		if w.read("home/.profile") != "home\n" || w.read("home/.new") != "-" || w.read("home/.config/tool/conf") != "conf\n" || w.read("home/.agent/session") != "new\n" {
			t.Errorf("%s: the real home", means)
		}
	}
}

// Where the repository, home, state and temporary folders lie to one another.
func TestLayoutsOfCopies(t *testing.T) {
	for name, set := range map[string]func(w *world){
		"repository below home": func(w *world) { w.spec.Home = w.dir },
		"home below the repository": func(w *world) {
			check(t, os.Rename(w.spec.Home, w.spec.Root+"/home"))
			w.spec.Home = w.spec.Root + "/home"
		},
		"repository is home": func(w *world) { w.spec.Home = w.spec.Root },
		"state below the repository": func(w *world) {
			w.spec.StateDir, w.spec.Layer = w.spec.Root+"/.state", w.spec.Root+"/.state/layers/1"
		},
		"through symbolic links": func(w *world) {
			for _, path := range []*string{&w.spec.Root, &w.spec.Home, &w.spec.StateDir} {
				check(t, os.Symlink(*path, *path+"-link"))
				*path += "-link"
			}
			w.spec.Layer = w.spec.StateDir + "/layers/1"
		},
		"odd names": func(w *world) {
			odd := filepath.Join(w.dir, "a,b:c\\d 'e\"\nü")
			check(t, os.Rename(w.spec.Root, odd))
			w.spec.Root = odd
		},
		"no home":          func(w *world) { w.spec.Home = "/nonexistent" },
		"what lies beside": func(w *world) { w.write("sibling/s", "beside\n") },
	} {
		for _, means := range []string{Landlock, Copy} {
			t.Run(name+"/"+means, func(t *testing.T) {
				w := newWorld(t).under(means)
				set(w)
				b := w.box()
				out := sh(t, b, `echo new >> a.txt; echo n > src/n; pwd; test "$(pwd)" = "$PWD"
echo x > "$HOME/.x"; cat "$HOME/.x"; echo x > "$TMPDIR/x"; stat -c '%a %u' "$TMPDIR"; cat ../sibling/s 2>/dev/null || true`)
				if !strings.HasPrefix(out, b.Dir()+"\nx\n700 ") || strings.Contains(name, "beside") != strings.HasSuffix(out, "beside\n") {
					t.Errorf("inside: %q", out)
				}
				want := []string{"M a.txt", "A src/n"}
				if name == "repository is home" {
					want = slices.Insert(want, 0, "A .x")
				}
				same(t, "touched", brief(touched(t, b, nil).Changes), want)
				if len(b.PutBack()) > 0 || w.read("repo/src/n") != "-" {
					t.Errorf("put back: %q", b.PutBack())
				}
				again, err := New(w.spec)
				check(t, err)
				same(t, "opened again", brief(touched(t, again, nil).Changes), want)
				if out := sh(t, again, "cat src/n; rm src/n"); out != "n\n" {
					t.Errorf("opened again: %q", out)
				}
			})
		}
	}
}

// Whoever chose the means: one that is weaker than what is required makes no box.
func TestRequired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.spec.Required = Landlock
	for _, means := range Ladder() {
		w.spec.Means = means
		w.spec.Layer = filepath.Join(w.dir, "state", "layer-"+means)
		b, err := New(w.spec)
		if e, _ := errors.AsType[*Error](err); (means == Copy) != (e != nil && strings.Contains(e.Why, "box.required asks for, landlock")) {
			t.Errorf("%s: %v", means, err)
		}
		if err == nil {
			check(t, b.Discard())
		}
	}
}
