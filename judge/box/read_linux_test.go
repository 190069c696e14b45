package box_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box/internal/tree"
	"github.com/paxiom/relay/judge/git"
)

// The base of the cases below.
func baseTree(w *world) {
	w.write("repo/d/x", "x\n")
	w.write("repo/d/y", "y\n")
	w.write("repo/d/sub/z", "z\n")
	w.write("repo/tool", "#!/bin/sh\n")
	check(w.t, os.Chmod(w.spec.Root+"/tool", 0o755))
	check(w.t, os.Symlink("a.txt", w.spec.Root+"/link"))
	check(w.t, os.Symlink("d", w.spec.Root+"/dlink"))
	check(w.t, os.MkdirAll(w.spec.Root+"/empty/in", 0o755))
}

func TestTouched(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		cases := []struct {
			name, script string
			want         []string
		}{
			{"nothing", "true", nil},
			{"read", "cat a.txt d/x; ls -laR . >/dev/null", nil},
			{"edit", "echo more >> a.txt", []string{"M a.txt"}},
			{"same bytes again", "echo one > a.txt; touch d/x; touch -d 2001-01-01 d/y", nil},
			{"edit and back", "cp a.txt k; echo x >> a.txt; cat k > a.txt; rm k", nil},
			{"replace by the same", "cp a.txt k; rm a.txt; mv k a.txt", nil},
			{"new", "echo n > n; mkdir -p p/q; echo r > p/q/r", []string{"A n", "A p/q/r"}},
			{"new folders alone", "mkdir -p p/q", nil},
			{"delete", "rm a.txt d/x", []string{"D a.txt", "D d/x"}},
			{"delete a folder", "rm -r d", []string{"D d/sub/z", "D d/x", "D d/y"}},
			{"delete an empty folder", "rmdir empty/in", nil},
			{"delete a folder and make it again", "rm -r d; mkdir d; echo new > d/x", []string{"D d/sub/z", "M d/x", "D d/y"}},
			{"made again as it was", "cp -a d k; rm -r d; mv k d", nil},
			{"made again with less", "cp -a d k; rm -r d; mkdir d; cp k/x d/; mkdir d/sub; rm -r k", []string{"D d/sub/z", "D d/y"}},
			{"rename", "mv a.txt b", []string{"D a.txt", "A b"}},
			{"rename a folder", "mv d e 2>/dev/null || { cp -a d e; rm -r d; }", []string{"D d/sub/z", "D d/x", "D d/y", "A e/sub/z", "A e/x", "A e/y"}},
			{"file to folder", "rm a.txt; mkdir a.txt; echo i > a.txt/i", []string{"D a.txt", "A a.txt/i"}},
			{"folder to file", "rm -r d; echo f > d", []string{"A d", "D d/sub/z", "D d/x", "D d/y"}},
			{"folder to link", "rm -r d; ln -s /etc d", []string{"A d", "D d/sub/z", "D d/x", "D d/y"}},
			{"file to link", "ln -sf d/x a.txt", []string{"M a.txt"}},
			{"link to file", "rm link; cp a.txt link", []string{"M link"}},
			{"link retargeted", "ln -sfn d/x link", []string{"M link"}},
			{"link as it was", "rm link; ln -s a.txt link", nil},
			{"new link to a folder outside", "ln -s /etc/ssl new", []string{"A new"}},
			{"write through a link", "echo x >> dlink/x", []string{"M d/x"}},
			{"mode", "chmod +x a.txt; chmod 600 d/x", []string{"P a.txt", "P d/x"}},
			{"mode and back", "chmod 777 a.txt; chmod 644 a.txt", nil},
			{"mode and content", "chmod +x a.txt; echo x >> a.txt", []string{"M a.txt"}},
			{"mode of a folder", "chmod 700 d", []string{"P d"}},
			{"setuid", "chmod u+s tool; cp tool t2; chmod g+s t2", []string{"A t2", "P tool"}},
			{"unreadable", "echo evil > d/x; chmod 000 d/x; mkdir h; echo p > h/p; chmod 000 h; chmod 000 d", []string{"P d", "M d/x", "A h/p"}},
			{"read-only folder", "echo n > d/n; chmod 555 d", []string{"P d", "A d/n"}},
			{"pipe and socket", "mkfifo p; rm a.txt; mkfifo a.txt", []string{"X a.txt", "X p"}},
			{"hard link", "ln a.txt l", []string{"P a.txt", "A l"}},
			{"names", "echo 1 > 'a b'; echo 1 > \"$(printf 'n\\nl')\"; echo 1 > ünï; echo 1 > .dot; echo 1 > \"$(printf '\\377')\"; echo 1 > -rf; echo 1 > '\\'; echo 1 > 'a,b:c'",
				[]string{"A -rf", "A .dot", "A \\", "A a b", "A a,b:c", "A n\nl", "A ünï", "A \xff"}},
			{"emptied", ": > a.txt", []string{"M a.txt"}},
		}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t).under(means)
				baseTree(w)
				before := hostSh(t, w.spec.Root, listing)
				b := w.box()
				sh(t, b, c.script)
				got := touched(t, b, nil)
				if c.want == nil {
					c.want = []string{}
				}
				same(t, "touched", brief(got.Changes), c.want)
				if again := touched(t, b, nil); !slices.Equal(brief(again.Changes), brief(got.Changes)) {
					t.Errorf("read again: %q", brief(again.Changes))
				}
				if got.RootMode || got.Overflow || len(got.Git) > 0 {
					t.Errorf("%+v", got)
				}
				if after := hostSh(t, w.spec.Root, listing); after != before {
					t.Errorf("the real tree changed:\n%s", after)
				}
				// The verification box shows what the builder left, minus nothing here.
				fresh, err := b.Fresh(w.spec.StateDir+"/layers/v", got.Changes)
				if c.name == "pipe and socket" {
					if err == nil {
						t.Error("special files were taken over")
					}
					return
				}
				check(t, err)
				defer fresh.Discard()
				again, err := fresh.Touched(t.Context(), nil)
				check(t, err)
				kept := slices.DeleteFunc(slices.Clone(got.Changes), func(c judge.Change) bool { return c.Kind == judge.ModeOnly && c.OldMode == c.NewMode }) // a link's other end
				same(t, "in the fresh box", brief(again.Changes), brief(kept))
				sh(t, fresh, "ls -laR . >/dev/null || true; test ! -e $HOME/.planted")
			})
		}
	})
}

func TestFreshShowsTheSameFiles(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		baseTree(w)
		b := w.box()
		sh(t, b, "rm -r d; echo f > d; echo n >> a.txt; mkdir -p new/deep; echo 1 > new/deep/1; chmod 700 new; chmod +x src/b.txt; rm link; ln -s src link; rm -r src/deep; mkdir src/deep; echo c2 > src/deep/c2; rmdir empty/in empty; echo scratch > scratch.o; echo p > $HOME/.planted; chmod 711 src")
		want := sh(t, b, listing)
		got := touched(t, b, nil)
		kept := slices.DeleteFunc(got.Changes, func(c judge.Change) bool { return c.Path == "scratch.o" })
		fresh, err := b.Fresh(w.spec.StateDir+"/layers/v", kept)
		check(t, err)
		defer fresh.Discard()
		var shown []string
		for line := range strings.SplitSeq(want, "\n") {
			if !strings.HasPrefix(line, "d ") && !strings.Contains(line, "scratch.o") { // empty folders are not changes
				shown = append(shown, line)
			}
		}
		var see []string
		for line := range strings.SplitSeq(sh(t, fresh, listing), "\n") {
			if !strings.HasPrefix(line, "d ") {
				see = append(see, line)
			}
		}
		same(t, "files", see, shown)
		if out := sh(t, fresh, "ls -A $HOME; stat -c %a new src"); out != ".profile\n700\n711\n" {
			t.Errorf("home and modes: %q", out)
		}
	})
}

func TestTouchedDetails(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		baseTree(w)
		b := w.box()
		sh(t, b, "echo two >> a.txt; chmod +x a.txt; ln -s ../x new; ln d/x l; rm tool; printf '\\0bin' > bin; chmod 1777 .")
		got := touched(t, b, nil)
		if !got.RootMode {
			t.Error("the root's mode was changed, unnoticed")
		}
		at := map[string]judge.Change{}
		for _, c := range got.Changes {
			at[c.Path] = c
		}
		a := at["a.txt"]
		if a.Lines.Added != 1 || a.Lines.Deleted != 0 || a.Lines.Charge != 1 || a.OldMode != 0o644 || a.NewMode != 0o755 || a.Size != 8 || a.Nlink != 1 {
			t.Errorf("%+v", a)
		}
		info, err := os.Lstat(w.spec.Root + "/a.txt")
		check(t, err)
		if a.Base.Mode != info.Mode() || a.Base.Size != 4 || a.Base.MTime != info.ModTime().UnixNano() || !a.Base.Exists || a.Raced {
			t.Errorf("%+v", a.Base)
		}
		if n := at["new"]; n.Link != "../x" || n.NewMode&fs.ModeSymlink == 0 || n.Base.Exists || n.Lines.Charge != 1 {
			t.Errorf("%+v", n)
		}
		if at["l"].Nlink != 2 || at["d/x"].Nlink != 2 {
			t.Errorf("links: %+v %+v", at["l"], at["d/x"])
		}
		if d := at["tool"]; d.Lines.Deleted != 1 || d.NewMode != 0 || d.OldMode != 0o755 || d.Size != 0 {
			t.Errorf("%+v", d)
		}
		if !at["bin"].Lines.Binary {
			t.Errorf("%+v", at["bin"])
		}
		f, err := b.Open("a.txt")
		check(t, err)
		defer f.Close()
		if text, _ := io.ReadAll(f); string(text) != "one\ntwo\n" {
			t.Errorf("opened: %q", text)
		}
		for _, name := range []string{"new", "tool", "d", "../0/up/a.txt", "/etc/passwd", "none", ""} {
			if f, err := b.Open(name); err == nil {
				f.Close()
				t.Errorf("%q could be opened", name)
			}
		}
	})
}

func TestTouchedKnowsWhatTheUserChangedMeanwhile(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		b := w.box()
		time.Sleep(20 * time.Millisecond) // the kernel's clock for files ticks every 4 to 10 ms
		sh(t, b, "echo builder >> a.txt; echo builder >> src/b.txt")
		w.write("repo/a.txt", "the user's\n")
		w.write("repo/src/deep/c.txt", "not touched in the box\n")
		for _, c := range touched(t, b, nil).Changes {
			if c.Raced != (c.Path == "a.txt") {
				t.Errorf("%s: raced is %v", c.Path, c.Raced)
			}
		}
	})
}

// Trees that are made to hurt whoever walks or removes them.
func TestHostileTrees(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		w.write("repo/big", "x")
		check(t, os.Truncate(w.spec.Root+"/big", tree.MaxCompare+4096))
		b := w.box()
		sh(t, b, `truncate -s 1T sparse; chmod +x big; echo n > n; mkdir deep`)
		if got := actor(t, b, "dig", b.Dir()+"/deep"); got != "ok" {
			t.Fatal(got)
		}
		began := time.Now()
		got := touched(t, b, nil)
		took := time.Since(began)
		t.Logf("read in %v", took)
		if took > 20*time.Second {
			t.Errorf("reading took %v", took)
		}
		at := map[string]judge.Change{}
		for _, c := range got.Changes {
			at[c.Path] = c
		}
		if c := at["sparse"]; !c.Lines.TooLarge || c.Size != 1<<40 {
			t.Errorf("%+v", c)
		}
		if c := at["big"]; c.Kind != judge.Modified || !c.Lines.TooLarge {
			t.Errorf("%+v", c)
		}
		if at["n"].Lines.Added != 1 {
			t.Errorf("%+v", at["n"])
		}
		special := slices.ContainsFunc(got.Changes, func(c judge.Change) bool {
			return c.Kind == judge.Special && strings.HasPrefix(c.Path, "deep/d") && c.Note != ""
		})
		if !special {
			t.Error("the deep folder was not noticed")
		}
		began = time.Now()
		check(t, b.Discard())
		t.Logf("discarded in %v", time.Since(began))
		if _, err := os.Lstat(w.spec.Layer); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the layer is still there: %v", err)
		}
	})
}

func TestTooManyChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 50,100 files")
	}
	t.Parallel()
	w := newWorld(t)
	b := w.box()
	sh(t, b, "mkdir m; cd m; seq 1 50100 | xargs touch")
	got := touched(t, b, nil)
	if !got.Overflow || len(got.Changes) != judge.MaxChanges {
		t.Errorf("overflow %v with %d changes", got.Overflow, len(got.Changes))
	}
}

// Content is read only as far as it can matter to the verdict.
func TestLinesAreCountedWithinBounds(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		hostSh(t, w.spec.Root, "git init -q -b main && echo '*.ig' > .gitignore && git add -A && git commit -qm b")
		git, err := git.Open(t.Context(), w.spec.Root)
		check(t, err)
		b := w.box()
		sh(t, b, "seq 1 30000 > a1; echo x > a2; head -c 9000000 /dev/zero > i1.ig; head -c 7000000 /dev/zero > i2.ig; head -c 7000000 /dev/zero > i3.ig; head -c 7000000 /dev/zero > i4.ig")
		at := map[string]judge.Change{}
		for _, c := range touched(t, b, git).Changes {
			at[c.Path] = c
		}
		if at["a1"].Lines.Charge <= 20000 || !at["a2"].Lines.TooLarge {
			t.Errorf("%+v %+v", at["a1"].Lines, at["a2"].Lines)
		}
		if !at["i1.ig"].Lines.TooLarge || at["i2.ig"].Lines.TooLarge || !at["i4.ig"].Lines.TooLarge || !at["i2.ig"].Ignored || at["a2"].Ignored {
			t.Errorf("%+v", at)
		}
	})
}

func TestAttributesArePlantedInVain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	baseTree(w)
	b := w.box()
	for _, name := range []string{"user.overlay.opaque", "user.overlay.whiteout", "user.overlay.redirect", "user.overlay.metacopy", "trusted.overlay.opaque", "security.capability"} {
		for _, path := range []string{w.spec.Root + "/d", w.spec.Root + "/a.txt", w.spec.Root} {
			t.Log(name, filepath.Base(path), actor(t, b, "setxattr", path, name))
		}
	}
	actor(t, b, "setxattr", w.spec.Root+"/src/b.txt", "user.payload")
	same(t, "touched", brief(touched(t, b, nil).Changes), []string{})
	if out := sh(t, b, "ls d a.txt src"); !strings.Contains(out, "y") || !strings.Contains(out, "b.txt") {
		t.Errorf("the folder was hidden: %s", out)
	}
	if _, err := unix.Lgetxattr(w.spec.Root+"/src/b.txt", "user.payload", nil); err == nil {
		t.Error("an attribute reached the real file")
	}
}

func TestSpecialMustHaveANote(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		b := w.box()
		sh(t, b, "mkfifo p; rm -r src; mkfifo src")
		if got := actor(t, b, "listen-and-connect", "s"); got != "ok" {
			t.Fatal(got)
		}
		for _, c := range touched(t, b, nil).Changes {
			if c.Kind == judge.Special && c.Note == "" {
				t.Errorf("%+v", c)
			}
		}
	})
}

func TestRemoveTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	check(t, os.WriteFile(dir+"/stays", nil, 0o644))
	hostSh(t, dir, `mkdir -p t/a/b/c t/e; echo 1 > t/a/b/c/1; ln -s ../../stays t/a/l; ln -s .. t/up; mkfifo t/p; chmod 000 t/a/b/c t/a/b t/a t/e; chmod 000 t
mkdir -p cut/.relay-rm-1/x cut/.relay-rm-2/y/z cut/a/b/c; : > cut/.relay-rm-1/x/f # a removal was cut off here
mkdir many; cd many; i=0; while [ $i -lt 200 ]; do mkdir -p $i/x/y; : > $i/x/y/f; i=$((i+1)); done`)
	for _, name := range []string{"t", "cut", "many", "none"} {
		if err := tree.Remove(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	names, _ := os.ReadDir(dir)
	if len(names) != 1 || names[0].Name() != "stays" {
		t.Errorf("left: %v", names)
	}
}

// FuzzNames makes files of any name in an upper and reads them back.
func FuzzNames(f *testing.F) {
	for _, name := range []string{"a", "ü", "a b", "\xff\xfe", "-", "..a", "\n", "a\tb", ".git", ".GIT"} {
		f.Add(name, true)
	}
	f.Fuzz(func(t *testing.T, name string, base bool) {
		if name == "" || name == "." || name == ".." || len(name) > 255 || strings.ContainsAny(name, "/\x00") {
			t.Skip("not a file name")
		}
		w := newWorld(t)
		b := w.box()
		if base {
			w.write("repo/"+name, "old\n")
		}
		check(t, os.WriteFile(filepath.Join(b.Upper(0), name), []byte("new\n"), 0o644))
		got := touched(t, b, nil)
		list, want := got.Changes, name
		if name == ".git" {
			list, want = got.Git, "."
		}
		kind := map[bool]judge.ChangeKind{true: judge.Modified, false: judge.Added}[base]
		if len(list) != 1 || list[0].Path != want || list[0].Kind != kind || len(got.Git)+len(got.Changes) != 1 {
			t.Fatal(fmt.Sprintf("%q", name), brief(got.Changes), brief(got.Git))
		}
	})
}
