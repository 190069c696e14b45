package change

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge"
)

const asBuilder = "export GIT_AUTHOR_NAME=b GIT_AUTHOR_EMAIL=b@x GIT_COMMITTER_NAME=b GIT_COMMITTER_EMAIL=b@x\n"

// keep builds with the script and judges it with builder_commits: keep.
func (r *repo) keep(id, script string) (*Change, judge.Verdict) {
	r.t.Helper()
	p := lawOf(judge.KeepCommits)
	c := r.begin(id)
	r.build(c, asBuilder+script)
	v, err := c.Judge(context.Background(), p)
	must(r.t, err)
	return c, v
}

var hostMessage = Message{Subject: "the task", Trailers: []Trailer{{"Relay-Run", "run-1"}, {"Relay-Task", "t1"}, {"Relay-Code", "SUCCESS"}}}

func TestOwnCommitsAreMadeAgain(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	start, base := r.snapshot(false), r.git("rev-parse", "HEAD")
	c, v := r.keep("run-1", `
echo one >> README.md; rm -r gone; echo file > gone; git add -A
git commit -qm 'first: readme

Because.

Relay-Run: forged
Relay-Commit: 9/9'
git mv src/a.go 'src/b "q" ü.go'; chmod 755 src/b*; ln -sf run.sh src/link; git add -A
git commit -q --allow-empty-message -m ''
`)
	if v.Code != judge.Success || c.OwnCommits() != 2 {
		t.Fatalf("%+v, %d commits", v, c.OwnCommits())
	}
	done, err := c.Land(ctx, Landing{Commit: true, Message: hostMessage})
	must(t, err)
	must(t, c.Discard())
	r.clean()
	if r.git("rev-parse", "HEAD") != done.Commit || r.git("rev-parse", "HEAD~2") != base {
		t.Error("the branch is not two commits further")
	}
	got := r.git("log", "-2", "--reverse", "--format=%an %cn|%s|%(trailers:only,separator=%x2C)")
	want := "Ada Ada|first: readme|Relay-Run: run-1,Relay-Task: t1,Relay-Commit: 1/2\n" +
		"Ada Ada|the builder's commit 2, without a message|Relay-Run: run-1,Relay-Task: t1,Relay-Commit: 2/2"
	if got != want {
		t.Errorf("log:\n%s\nwant:\n%s", got, want)
	}
	if got := r.git("-c", "core.quotePath=false", "diff", "--no-renames", "--name-only", "-z", "HEAD^", "HEAD"); got != "src/a.go\x00src/b \"q\" ü.go\x00src/link\x00" {
		t.Errorf("second commit: %q", got)
	}
	err = Undo(ctx, r.env, "undo-1", base, done.Commit, Message{Subject: "undo"}, func(Undone) error { return nil })
	must(t, err)
	r.clean()
	if got := r.snapshot(false); got != start {
		t.Errorf("not the base: %s", diff(start, got))
	}
}

func TestRestIsOneMoreCommit(t *testing.T) {
	for _, head := range []string{"main", "--detach"} {
		t.Run(head, func(t *testing.T) {
			ctx := context.Background()
			r := newRepo(t)
			r.git("checkout", "-q", head)
			c, v := r.keep("run-1", "echo one >> README.md; git commit -qam one; echo two >> README.md")
			if v.Code != judge.Success {
				t.Fatalf("%+v", v)
			}
			_, err := c.Land(ctx, Landing{Commit: true, Message: hostMessage})
			must(t, err)
			must(t, c.Discard())
			r.clean()
			if got := r.git("log", "-3", "--format=%s|%(trailers:key=Relay-Commit,valueonly,separator=)"); got != "the task|2/2\none|1/2\nbase|" {
				t.Errorf("log:\n%s", got)
			}
			if got := r.git("show", "HEAD^:README.md"); got != "hello\none" {
				t.Errorf("first commit: %q", got)
			}
		})
	}
}

func TestNoOwnCommitsIsOneCommit(t *testing.T) {
	for name, script := range map[string]string{
		"none":       "echo one >> README.md",
		"taken back": "echo one >> README.md; git commit -qam one; git reset -q --soft HEAD^",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			c, v := r.keep("run-1", script)
			if v.Code != judge.Success || c.OwnCommits() != 0 {
				t.Fatalf("%+v", v)
			}
			_, err := c.Land(context.Background(), Landing{Commit: true, Message: hostMessage})
			must(t, err)
			must(t, c.Discard())
			r.clean()
			if got := r.git("log", "--format=%s"); got != "the task\nbase" {
				t.Errorf("log:\n%s", got)
			}
		})
	}
}

func TestOwnCommitsThatCanNotBe(t *testing.T) {
	sampling.Rare(t)
	for name, k := range map[string]struct {
		code         judge.Code
		rule, script string
	}{
		"merge": {judge.StopHeadMoved, "merge", `
echo one >> README.md; git commit -qam one
git merge -q --no-edit $(echo side | git commit-tree HEAD^^{tree} -p HEAD^)`},
		"merge of the base": {judge.StopHeadMoved, "a merge", `
echo one >> README.md; git commit -qam one
git reset -q --hard $(echo m | git commit-tree HEAD^{tree} -p HEAD -p HEAD^)`},
		"amended base":   {judge.StopHeadMoved, "does not go forward", "echo one >> README.md; git commit -qa --amend -m one"},
		"no parent":      {judge.StopHeadMoved, "does not go forward", "echo one >> README.md; git add -A; git reset -q --soft $(git commit-tree -m root $(git write-tree))"},
		"lost objects":   {judge.StopHeadMoved, "fast-export failed", "echo one >> README.md; git commit -qam one; o=$(git rev-parse HEAD:README.md); rm -f .git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-)"},
		"too many":       {judge.StopHeadMoved, "more than 100", "echo one >> README.md; for i in $(seq 101); do git commit -q --allow-empty -am $i; done"},
		"secret, gone":   {judge.StopForbidden, `in the builder's commit 1 of 2, "secret"`, "echo KEY=1 > src/.env; git add -A; git commit -qm secret; git rm -q src/.env; echo one >> README.md; git commit -qam two"},
		"outside, gone":  {judge.StopOutsideAllowed, `commit 2 of 3, "out"`, "echo one >> README.md; git commit -qam one; echo x > other; git add -A; git commit -qm out; git rm -q other; git commit -qm back"},
		"relay's, gone":  {judge.StopRunnerOwned, "belongs to relay", "mkdir -p .relay; echo x > .relay/x; git add -f .relay; git commit -qm own; git rm -q --cached .relay/x; rm -r .relay; echo one >> README.md; git commit -qam two"},
		"a link, gone":   {judge.StopForbidden, "as a whole does not have", "ln -s run.sh src/l; git add -A; git commit -qm l; git rm -q src/l; echo one >> README.md; git commit -qam two"},
		"a module, gone": {judge.StopForbidden, "is a submodule", "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),src/m; git commit -qm m; git rm -q --cached src/m; echo one >> README.md; git commit -qam two"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			before, head := r.snapshot(false), r.git("rev-parse", "HEAD")
			c, v := r.keep("run-1", k.script)
			if v.Code != k.code || len(v.Violations) == 0 || !strings.Contains(v.Violations[0].Rule, k.rule) {
				t.Fatalf("%s %+v", v.Code, v.Violations)
			}
			if _, err := c.Land(context.Background(), Landing{Commit: true, Message: hostMessage}); err == nil {
				t.Error("it landed")
			}
			must(t, c.Discard())
			if r.snapshot(false) != before || r.git("rev-parse", "HEAD") != head {
				t.Error("something was written")
			}
			r.clean()
		})
	}
}

func TestUndoOfSeveralWantsOneRun(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	base := r.git("rev-parse", "HEAD")
	r.git("commit", "-q", "--allow-empty", "-m", "somebody's")
	c, _ := r.keep("run-1", "echo one >> README.md; git commit -qam one; echo two >> README.md; git commit -qam two")
	done, err := c.Land(ctx, Landing{Commit: true, Message: hostMessage})
	must(t, err)
	must(t, c.Discard())
	err = Undo(ctx, r.env, "undo-1", base, done.Commit, Message{Subject: "undo"}, func(Undone) error { return nil })
	if f, ok := diag.As(err); !ok || f.Code != judge.StopHeadMoved {
		t.Fatalf("error %v", err)
	}
	err = Undo(ctx, r.env, "undo-1", done.Commit+"~2", done.Commit, Message{Subject: "undo"}, func(Undone) error { return nil })
	if err == nil {
		t.Error("a base that is no object's name was taken")
	}
	err = Undo(ctx, r.env, "undo-1", r.git("rev-parse", "HEAD~2"), done.Commit, Message{Subject: "undo"}, func(Undone) error { return nil })
	must(t, err)
	r.clean()
	if r.read("README.md") != "hello\n" {
		t.Error("not taken back")
	}
}

func FuzzStream(f *testing.F) {
	const ok = "feature done\nblob\nmark :1\ndata 2\nx\n\ncommit refs/heads/main\nmark :2\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\ndata 3\nonefrom base\nM 100644 :1 \"a\\303\\274\\\"\"\nD b\n\ndone\n"
	f.Add([]byte(ok))
	for _, bad := range []string{"", "done", "blob\nmark :1\ndata 99999999999\nx", "commit refs/heads/main\nmark :2\ncommitter a\ndata 0\nfrom base\nmerge :9\n\ndone\n"} {
		f.Add([]byte(bad))
	}
	for _, op := range []string{"R a b", "C a b", "deleteall", "N :1 base", "M 100644 inline a", "M 100666 :1 a", "M 100644 :7 a", `D "a`, `D "\999"`, "D ", "M 100644 :1"} {
		f.Add([]byte(strings.Replace(ok, "D b", op, 1)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		own, err := parseStream(b, "refs/heads/main", "base")
		if string(b) == ok && (err != nil || len(own) != 1 || own[0].message != "one" || own[0].ops[0].path != `aü"` || own[0].ops[1].mode != 0) {
			t.Fatalf("%+v %v", own, err)
		}
		for _, c := range own {
			for _, op := range c.ops {
				if op.path == "" {
					t.Fatal("a path without a name")
				}
			}
		}
	})
}

func TestStreamRefuses(t *testing.T) {
	const ok = "blob\nmark :1\ndata 2\nx\n\ncommit refs/heads/main\nmark :2\ncommitter a\ndata 3\nonefrom base\nM 100644 :1 a\nD b\n\ndone\n"
	if _, err := parseStream([]byte(ok), "refs/heads/main", "base"); err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"R a b", "C a b", "deleteall", "N :1 base", "M 100644 inline a", "M 100666 :1 a", "M 100644 :7 a", `D "a`, `D "\999"`, "D ", "D a",
		"M 100644 :1", "merge :1", "done\nx", "commit refs/heads/other", "reset refs/heads/main\nfrom :1", "tag x"} {
		if own, err := parseStream([]byte(strings.Replace(ok, "D b", op, 1)), "refs/heads/main", "base"); err == nil {
			t.Errorf("%q was taken: %+v", op, own)
		}
	}
}

// What git-lfs stored of a version that only one of the builder's commits has is there for
// whoever checks that commit out, also where the git directory is beside the work tree.
func TestLargeFilesOfOwnCommits(t *testing.T) {
	for name, linked := range map[string]bool{"main work tree": false, "linked work tree": true} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			r := newRepo(t)
			lfs := filepath.Join(r.root, ".git", "lfs")
			must(t, os.MkdirAll(filepath.Join(lfs, "tmp"), 0o755))
			must(t, os.MkdirAll(filepath.Join(lfs, "objects"), 0o755))
			r.write(".git/clean.sh", `b=$(mktemp "$1/tmp/XXXXXX"); cat >$b; h=$(sha256sum <$b | cut -c1-64); n=$(wc -c <$b); d="$1/objects/$(echo $h | cut -c1-2)/$(echo $h | cut -c3-4)"
mkdir -p "$d"; mv $b "$d/$h"; printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n' $h $n`+"\n", 0o755)
			r.git("config", "filter.lfs.clean", "sh '"+filepath.Join(r.root, ".git/clean.sh")+"' '"+lfs+"'")
			r.git("config", "filter.lfs.required", "true")
			r.write(".gitattributes", "*.bin filter=lfs -text\n", 0o644)
			r.git("add", "-A")
			r.git("commit", "-qm", "large files")
			r.clean()
			if linked {
				r.git("worktree", "add", "-q", "-b", "side", filepath.Join(filepath.Dir(r.root), "side"))
				r.root = filepath.Join(filepath.Dir(r.root), "side")
				r.open()
			}
			c, v := r.keep("run-1", `
printf 'first\0' >src/a.bin; git add -A; git commit -qm first
printf 'second\0' >src/a.bin; printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 3\n' 7 >src/forged.txt; git add -A; git commit -qm second
printf 'third\0' >src/a.bin; git add -A; git commit -qm third
d=`+lfs+`/objects/00/00; mkdir -p $d; echo forged >$d/$(printf %064d 7)`)
			if v.Code != judge.Success || c.OwnCommits() != 3 {
				t.Fatalf("%+v, %d commits", v, c.OwnCommits())
			}
			_, err := c.Land(ctx, Landing{Commit: true, Message: hostMessage})
			must(t, err)
			must(t, c.Discard())
			for n, want := range []string{"third\x00", "second\x00", "first\x00"} {
				text := r.git("cat-file", "blob", fmt.Sprintf("HEAD~%d:src/a.bin", n))
				m := pointer.FindStringSubmatch(text + "\n")
				if m == nil {
					t.Fatalf("HEAD~%d has %q", n, text)
				}
				b, err := os.ReadFile(filepath.Join(lfs, "objects", m[1][:2], m[1][2:4], m[1]))
				if err != nil || string(b) != want {
					t.Errorf("HEAD~%d: %q, %v", n, b, err)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(lfs, "tmp", "*")); len(left) > 0 {
				t.Errorf("left in the store: %q", left)
			}
			if _, err := os.Lstat(filepath.Join(lfs, "objects/00/00", fmt.Sprintf("%064d", 7))); err == nil {
				t.Error("an object that is not what its name says was brought over")
			}
		})
	}
}
