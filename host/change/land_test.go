package change

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

// everything is a change of every kind.
func (r *repo) everything() {
	r.change("README.md", "hello, world\n", 0o644)
	r.change("src/a.go", "", 0)
	r.change("src/run.sh", "#!/bin/sh\n", 0o644)
	r.change("src/new/deep/b.go", "package b\n", 0o600)
	r.change("src/tool", "#!/bin/sh\necho\n", 0o755)
	r.change("gone/only.txt", "", 0)
	r.change("src/link", "run.sh", fs.ModeSymlink|0o777)
	r.change("dir with space/ünï-日本 'q' \"d\".txt", "ü\n", 0o644)
	r.change("-dash", "x", 0o644)
	r.change(":(top)magic", "x", 0o644)
	r.change("*.star", "x", 0o644)
	r.change(".dot/.file", "x", 0o644)
	r.change("empty", "", 0o644)
	r.change("folder/of.txt", "", 0)
	r.change("folder", "src", fs.ModeSymlink|0o777)
	r.change("to-src", "", 0)
	r.change("to-src/now/in.txt", "x\n", 0o644)
	r.change("shut/in-place.txt", "y\n", 0o644)
	r.move = moves{{Path: "module", From: submoduleAt, To: movedTo}}
}

func TestLandEveryKind(t *testing.T) {
	r := newRepo(t)
	r.everything()
	base := r.git("rev-parse", "HEAD")
	done, err := r.land("run-1", true)
	must(t, err)
	if len(done.Notes) != 1 || !strings.Contains(done.Notes[0], "git submodule update") {
		t.Errorf("notes: %q", done.Notes)
	}
	r.clean()
	if head := r.git("rev-parse", "HEAD"); head != done.Commit || r.git("rev-parse", "HEAD^") != base {
		t.Errorf("HEAD is %s, landed %s on %s", head, done.Commit, base)
	}
	if branch := r.git("symbolic-ref", "HEAD"); branch != "refs/heads/main" {
		t.Errorf("on %s", branch)
	}
	for name, want := range map[string]fs.FileMode{"shut": 0o555, "src/run.sh": 0o644, "src/tool": 0o755, "src/new/deep/b.go": 0o600} {
		if fi, err := os.Lstat(filepath.Join(r.root, name)); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, fi.Mode(), err)
		}
	}
	if to, _ := os.Readlink(filepath.Join(r.root, "src/link")); to != "run.sh" {
		t.Errorf("link to %q", to)
	}
	if _, err := os.Lstat(filepath.Join(r.root, "gone")); !os.IsNotExist(err) {
		t.Error("the emptied folder is still there")
	}
	if got := r.git("log", "-1", "--format=%an <%ae>|%s|%(trailers:key=Relay-Run,valueonly)"); got != "Ada <ada@example.org>|relay: a test|run-1" {
		t.Errorf("commit: %q", got)
	}
	files := r.git("-c", "core.quotePath=false", "diff", "--no-renames", "--name-only", "-z", "HEAD^", "HEAD")
	if n := strings.Count(files, "\x00"); n != len(r.kept)+len(r.move) {
		t.Errorf("%d paths in the commit, %d in the change", n, len(r.kept)+len(r.move))
	}
	if at := r.git("rev-parse", "HEAD:module"); at != movedTo {
		t.Errorf("the submodule is at %s", at)
	}
}

func TestLandWithoutCommitLeavesGitAlone(t *testing.T) {
	r := newRepo(t)
	before := gitDir(t, r)
	r.everything()
	done, err := r.land("run-1", false)
	must(t, err)
	if done.Commit != "" || r.read("README.md") != "hello, world\n" {
		t.Errorf("%+v", done)
	}
	if after := gitDir(t, r); after != before {
		t.Errorf(".git was written: %s", diff(before, after))
	}
	r.noLeftovers()
}

// Two names of one file, of which each gets content of its own.
func TestHardLinkedFiles(t *testing.T) {
	r := newRepo(t)
	must(t, os.Link(filepath.Join(r.root, "README.md"), filepath.Join(r.root, "src/readme")))
	must(t, os.Link(filepath.Join(r.root, "README.md"), filepath.Join(r.root, "src/third")))
	r.git("add", "-A")
	r.git("commit", "-qm", "links")
	r.change("README.md", "one\n", 0o644)
	r.change("src/readme", "two\n", 0o755)
	r.change("src/third", "", 0)
	_, err := r.land("run-1", true)
	must(t, err)
	r.clean()
	if r.read("README.md") != "one\n" || r.read("src/readme") != "two\n" {
		t.Errorf("got %q and %q", r.read("README.md"), r.read("src/readme"))
	}
}

// A repository whose first commit is empty has no index, and is clean without one.
func TestLandWithoutAnIndex(t *testing.T) {
	r := newRepo(t)
	r.git("update-ref", "HEAD", r.git("commit-tree", "-m", "first", r.git("hash-object", "-t", "tree", "-w", "/dev/null")))
	r.git("clean", "-ffdxq", "-e", "shut")
	r.write(".git/info/exclude", "/.relay/\n/shut/\n", 0o644)
	for _, name := range strings.Split(r.git("ls-files", "-z"), "\x00") {
		if name != "" && name != "shut/in-place.txt" {
			must(t, os.Remove(filepath.Join(r.root, name)))
		}
	}
	must(t, os.Remove(filepath.Join(r.root, ".git/index")))
	r.clean()
	r.change("new.txt", "new\n", 0o644)
	_, err := r.land("run-1", true)
	must(t, err)
	r.clean()
	if got := r.git("ls-files"); got != "new.txt" {
		t.Errorf("in the index: %q", got)
	}
}

func gitDir(t *testing.T, r *repo) string {
	g := &repo{t: t, root: filepath.Join(r.root, ".git")}
	return g.snapshot(true)
}

func TestFolderAndFileTradePlaces(t *testing.T) {
	r := newRepo(t)
	r.change("README.md", "", 0)
	r.change("README.md/now/a/folder", "x\n", 0o644)
	r.change("gone/only.txt", "", 0)
	r.change("gone", "now a file\n", 0o644)
	_, err := r.land("run-1", true)
	must(t, err)
	r.clean()
	if r.read("gone") != "now a file\n" || r.read("README.md/now/a/folder") != "x\n" {
		t.Error("wrong content")
	}
}

// What a folder and a link leave for each other is undone as it was made.
func TestFolderAndLinkTradePlaces(t *testing.T) {
	r := newRepo(t)
	before := r.snapshot(false)
	r.change("folder/of.txt", "", 0)
	r.change("folder", "src", fs.ModeSymlink|0o777)
	r.change("to-src", "", 0)
	r.change("to-src/a.go", "package b\n", 0o644)
	last := &r.kept[len(r.kept)-1] // src/a.go, where the link leads, is not what was there before
	last.Kind, last.OldMode, last.Base = judge.Added, 0, judge.Stamp{}
	done, err := r.land("run-1", true)
	must(t, err)
	if len(done.Notes) > 0 {
		t.Errorf("notes: %q", done.Notes)
	}
	r.clean()
	if to, _ := os.Readlink(filepath.Join(r.root, "folder")); to != "src" || r.read("to-src/a.go") != "package b\n" || r.read("src/a.go") != "package a\n" {
		t.Errorf("folder leads to %q, src/a.go holds %q", to, r.read("src/a.go"))
	}
	err = Undo(context.Background(), r.env, "undo-1", "", done.Commit, Message{Subject: "undo"}, func(Undone) error { return nil })
	must(t, err)
	r.clean()
	if after := r.snapshot(false); after != before {
		t.Errorf("not undone: %s", diff(before, after))
	}
}

func TestFolderWithIgnoredFilesDoesNotGiveWay(t *testing.T) {
	r := newRepo(t)
	r.write("gone/my.log", "keep me\n", 0o644)
	r.change("gone/only.txt", "", 0)
	r.change("gone", "now a file\n", 0o644)
	r.change("README.md", "changed\n", 0o644)
	before := r.snapshot(false)
	if _, err := r.land("run-1", true); err == nil {
		t.Fatal("landed over an ignored file")
	}
	if after := r.snapshot(false); after != before {
		t.Errorf("not reverted: %s", diff(before, after))
	}
}

func TestOperatorEditsMeanwhile(t *testing.T) {
	for name, edit := range map[string]func(r *repo){
		"same file":     func(r *repo) { r.write("README.md", "mine\n", 0o644) },
		"same size":     func(r *repo) { r.write("README.md", "HELLO\n", 0o644) },
		"mode":          func(r *repo) { must(r.t, os.Chmod(filepath.Join(r.root, "README.md"), 0o600)) },
		"new file":      func(r *repo) { r.write("fresh.txt", "mine\n", 0o644) },
		"deleted":       func(r *repo) { must(r.t, os.Remove(filepath.Join(r.root, "src/a.go"))) },
		"folder moved":  func(r *repo) { must(r.t, os.Rename(filepath.Join(r.root, "src"), filepath.Join(r.root, "lib"))) },
		"folder linked": func(r *repo) { r.linkFolder() },
		"staged":        func(r *repo) { r.write("other.txt", "mine\n", 0o644); r.git("add", "other.txt") },
		"committed":     func(r *repo) { r.git("commit", "-q", "--allow-empty", "-m", "mine") },
		"other branch":  func(r *repo) { r.git("checkout", "-q", "-b", "side") },
		"detached":      func(r *repo) { r.git("checkout", "-q", "--detach") },
		"in the build":  func(r *repo) { r.kept[0].Raced = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.change("README.md", "relay\n", 0o644)
			r.change("src/a.go", "package b\n", 0o644)
			r.change("fresh.txt", "relay\n", 0o644)
			head := r.git("rev-parse", "HEAD")
			edit(r)
			before, branch := r.snapshot(false), r.git("rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
			_, err := r.landAt(context.Background(), "run-1", true, head, "main")
			f, ok := diag.As(err)
			if !ok || f.Code != judge.StopHeadMoved {
				t.Fatalf("error %v", err)
			}
			if after := r.snapshot(false); after != before {
				t.Errorf("the tree was written: %s", diff(before, after))
			}
			if after := r.git("rev-parse", "HEAD", "--symbolic-full-name", "HEAD"); after != branch {
				t.Errorf("HEAD moved: %s", after)
			}
		})
	}
}

// linkFolder puts a link to an outer folder where src was.
func (r *repo) linkFolder() {
	out := filepath.Join(filepath.Dir(r.root), "outer")
	must(r.t, os.Rename(filepath.Join(r.root, "src"), out))
	must(r.t, os.Symlink(out, filepath.Join(r.root, "src")))
}

func TestDetachedHead(t *testing.T) {
	r := newRepo(t)
	main := r.git("rev-parse", "main")
	r.git("checkout", "-q", "--detach")
	r.change("README.md", "relay\n", 0o644)
	done, err := r.land("run-1", true)
	must(t, err)
	r.clean()
	if r.git("rev-parse", "HEAD") != done.Commit || r.git("rev-parse", "main") != main {
		t.Error("the wrong thing moved")
	}
}

func TestIgnoredInScopeIsWrittenAndNotCommitted(t *testing.T) {
	r := newRepo(t)
	r.change("build.log", "x\n", 0o644)
	r.ignored()
	r.change("README.md", "relay\n", 0o644)
	_, err := r.land("run-1", true)
	must(t, err)
	r.clean()
	if r.read("build.log") != "x\n" || strings.Contains(r.git("ls-files"), "build.log") {
		t.Error("build.log")
	}
}

func TestFiltersAndLineEnds(t *testing.T) {
	r := newRepo(t)
	r.write(".gitattributes", "*.up filter=up\n*.crlf text eol=crlf\n*.auto text=auto\n", 0o644)
	r.git("config", "filter.up.clean", "tr a-z A-Z")
	r.git("config", "filter.up.smudge", "tr A-Z a-z")
	r.write("old.auto", "one\r\ntwo\r\n", 0o644)
	r.git("-c", "core.autocrlf=false", "add", ".gitattributes")
	r.git("-c", "core.safecrlf=false", "add", "-A")
	r.git("commit", "-qm", "attributes")
	r.change("x.up", "shout\n", 0o644)
	r.change("y.crlf", "a\r\nb\r\n", 0o644)
	r.change("z.bin", "\x00\x01\r\n", 0o644)
	done, err := r.land("run-1", true)
	must(t, err)
	r.clean()
	if got := r.git("cat-file", "blob", "HEAD:x.up"); got != "SHOUT" {
		t.Errorf("the clean filter did not run: %q", got)
	}
	if got := r.git("cat-file", "blob", "HEAD:y.crlf"); strings.Contains(got, "\r") {
		t.Errorf("line ends were not converted: %q", got)
	}
	if r.read("y.crlf") != "a\r\nb\r\n" || r.read("x.up") != "shout\n" {
		t.Error("the work tree does not have what was judged")
	}
	if len(done.Notes) != 1 || !strings.Contains(done.Notes[0], "commit: 2,") {
		t.Errorf("notes %q", done.Notes)
	}
}

func TestNoIdentityAndNoHooks(t *testing.T) {
	r := newRepo(t)
	r.git("config", "--unset", "user.name")
	r.git("config", "--unset", "user.email")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"} {
		r.write(".git/hooks/"+hook, "#!/bin/sh\ntouch \"$0.ran\"\nexit 1\n", 0o755)
	}
	r.change("README.md", "relay\n", 0o644)
	_, err := r.land("run-1", true)
	must(t, err)
	if got := r.git("log", "-1", "--format=%an <%ae>"); got != "relay <relay@localhost>" {
		t.Errorf("author %s", got)
	}
	if ran, _ := filepath.Glob(filepath.Join(r.root, ".git/hooks/*.ran")); len(ran) > 0 {
		t.Errorf("hooks ran: %v", ran)
	}
}

func TestHiddenFromGitIsRefused(t *testing.T) {
	for _, bit := range []string{"--skip-worktree", "--assume-unchanged"} {
		t.Run(bit, func(t *testing.T) {
			r := newRepo(t)
			r.git("update-index", bit, "README.md")
			r.write("README.md", "my private edit\n", 0o644)
			r.change("README.md", "my private edit\nand relay's\n", 0o644)
			before := r.snapshot(false)
			_, err := r.land("run-1", true)
			if f, ok := diag.As(err); !ok || f.Code != judge.StopHeadMoved {
				t.Fatalf("error %v", err)
			}
			if after := r.snapshot(false); after != before {
				t.Error("the tree was written")
			}
		})
	}
}

func TestOtherRepositoryInside(t *testing.T) {
	r := newRepo(t)
	r.write("sub/.git", "gitdir: elsewhere\n", 0o644)
	r.change("sub/x", "x", 0o644)
	_, err := r.land("run-1", true)
	if f, ok := diag.As(err); !ok || f.Code != judge.StopForbidden {
		t.Fatalf("error %v", err)
	}
}
