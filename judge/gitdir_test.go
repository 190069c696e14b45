package judge

import (
	"io/fs"
	"slices"
	"testing"
)

func TestJudgeGitDir(t *testing.T) {
	t.Parallel()
	gone := func(path string) Change {
		return with(path, func(c *Change) { c.Kind, c.NewMode = Deleted, 0 })
	}
	mode := func(path string, to fs.FileMode) Change {
		return with(path, func(c *Change) { c.Kind, c.NewMode = ModeOnly, to })
	}
	tests := []struct {
		name   string
		change Change
		want   gitEffect
	}{
		{"status refreshes the index", edited("index"), gitNoise},
		{"index lock left", added("index.lock"), gitNoise},
		{"reset leaves ORIG_HEAD", added("ORIG_HEAD"), gitNoise},
		{"cherry-pick leaves AUTO_MERGE", added("AUTO_MERGE"), gitNoise},
		{"fetch", edited("FETCH_HEAD"), gitNoise},
		{"message", added("COMMIT_EDITMSG"), gitNoise},
		{"reflog", edited("logs/refs/heads/main"), gitNoise},
		{"split index", added("sharedindex.0123"), gitNoise},
		{"OpenCode's id", added("opencode"), gitNoise},
		{"a folder of that name", added("opencode/hooks"), gitTampered},
		{"an unknown file", added("openness"), gitTampered},
		{"old split index", gone("sharedindex.0123"), gitNoise},
		{"new object", added("objects/ab/cdef"), gitNoise},
		{"large file stored by git-lfs", added("lfs/objects/ab/cd/abcd"), gitNoise},
		{"git-lfs at work", added("lfs/tmp/1"), gitNoise},
		{"large file of git-lfs changed", edited("lfs/objects/ab/cd/abcd"), gitTampered},
		{"git-lfs's hooks", added("lfs/hooks/pre-push"), gitTampered},
		{"new pack", added("objects/pack/pack-1.pack"), gitNoise},
		{"submodule's index", edited("modules/vendor/sub/index"), gitNoise},
		{"fetch in a submodule", added("modules/vendor/sub/FETCH_HEAD"), gitNoise},
		{"index of a linked worktree", edited("worktrees/w/index"), gitNoise},
		{"empty folder", with("refs/heads/f", func(c *Change) { c.Kind, c.OldMode, c.NewMode = Added, 0, fs.ModeDir|0o755 }), gitNoise},

		{"commit", edited("refs/heads/main"), gitCommitted},
		{"commit on a packed branch", added("refs/heads/main"), gitCommitted},

		{"commit taken back", mode("refs/heads/main", 0o664), gitNoise},
		{"tag made again", mode("refs/tags/v1", 0o600), gitNoise},
		{"detached and back", mode("HEAD", 0o664), gitNoise},
		{"refs packed again", mode("packed-refs", 0o664), gitNoise},
		{"branch shut", mode("refs/heads/main", 0o444), gitMoved},
		{"HEAD unreadable", mode("HEAD", 0), gitMoved},
		{"hook made executable", mode("hooks/pre-commit", 0o755), gitTampered},

		{"branch deleted", gone("refs/heads/main"), gitMoved},
		{"branch locked", added("refs/heads/main.lock"), gitMoved},
		{"other branch", edited("refs/heads/side"), gitMoved},
		{"branch below the current one", added("refs/heads/main/x"), gitMoved},
		{"new branch", added("refs/heads/new"), gitMoved},
		{"tag", added("refs/tags/v1"), gitMoved},
		{"stash", added("refs/stash"), gitMoved},
		{"replace", added("refs/replace/0123"), gitMoved},
		{"remote", edited("refs/remotes/origin/main"), gitMoved},
		{"HEAD", edited("HEAD"), gitMoved},
		{"packed refs", edited("packed-refs"), gitMoved},
		{"packed refs, new", with("packed-refs", func(c *Change) { c.Kind, c.OldMode, c.Size = Added, 0, 47+int64(len("refs/heads/x")) }), gitMoved},
		{"packed refs of which only the header is there", with("packed-refs", func(c *Change) { c.Kind, c.OldMode, c.Size = Added, 0, 46 }), gitNoise},
		{"packed refs cut off", with("packed-refs", func(c *Change) { c.Kind, c.Size = Modified, 46 }), gitMoved},
		{"reftable", edited("reftable/tables.list"), gitMoved},
		{"HEAD of a linked worktree", edited("worktrees/w/HEAD"), gitMoved},

		{"index removed", gone("index"), gitTampered},
		{"index is a folder", with("index", func(c *Change) { c.NewMode = fs.ModeDir | 0o755 }), gitTampered},
		{"index is a link", linked("index", "/x"), gitTampered},
		{"index lock is a FIFO", Change{Path: "index.lock", Kind: Special, NewMode: fs.ModeNamedPipe}, gitTampered},
		{"below index", added("index/x"), gitTampered},
		{"object changed", edited("objects/ab/cdef"), gitTampered},
		{"object removed", gone("objects/ab/cdef"), gitTampered},
		{"alternates", added("objects/info/alternates"), gitTampered},
		{"config", edited("config"), gitTampered},
		{"config lock", added("config.lock"), gitTampered},
		{"worktree config", added("config.worktree"), gitTampered},
		{"hook", added("hooks/pre-commit"), gitTampered},
		{"exclude", edited("info/exclude"), gitTampered},
		{"attributes", added("info/attributes"), gitTampered},
		{"submodule's config", edited("modules/vendor/sub/config"), gitTampered},
		{"submodule's branch of an innocent name", edited("modules/vendor/sub/refs/heads/index"), gitTampered},
		{"submodule's HEAD", edited("modules/vendor/sub/HEAD"), gitTampered},
		{"merge", added("MERGE_HEAD"), gitTampered},
		{"rebase", added("rebase-merge/git-rebase-todo"), gitTampered},
		{"shallow", edited("shallow"), gitTampered},
		{"HEAD lock", added("HEAD.lock"), gitTampered},
		{"worktree list", added("worktrees/w/gitdir"), gitTampered},
		{"the folder itself", with("", func(c *Change) { c.NewMode = 0o644 }), gitTampered},
		{"unknown", added("whatever"), gitTampered},
	}
	for _, tt := range tests {
		if got := classifyGit(&tt.change, "main"); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	detached := edited("refs/heads/")
	if got := classifyGit(&detached, ""); got != gitMoved {
		t.Errorf("detached: %d", got)
	}
	for size, want := range map[int64]gitEffect{41: gitCommitted, 65: gitCommitted, 21: gitMoved} {
		head := with("HEAD", func(c *Change) { c.Size = size })
		if got := classifyGit(&head, ""); got != want {
			t.Errorf("detached HEAD of %d bytes: %d, want %d", size, got, want)
		}
		if got := classifyGit(&head, "main"); got != gitMoved {
			t.Errorf("HEAD of %d bytes, on a branch: %d", size, got)
		}
	}
}

func TestJudgeBuilderCommits(t *testing.T) {
	t.Parallel()
	touched := Touched{Branch: "main", Git: []Change{edited("refs/heads/main"), added("objects/ab/c")}, Changes: []Change{edited("src/a")}}
	for _, tt := range []struct {
		commits BuilderCommits
		kind    TaskKind
		want    Code
	}{
		{SquashCommits, Execute, Success},
		{KeepCommits, Execute, Success},
		{StopCommits, Execute, StopHeadMoved},
		{"", Execute, StopHeadMoved},
		{SquashCommits, Question, StopQuestionChanged},
		{SquashCommits, VerifyOnly, StopVerifyOnlyChanged},
	} {
		v := Judge(touched, law(func(p *Policy) { p.commits, p.kind = tt.commits, tt.kind }))
		if v.Code != tt.want || !v.BuilderCommitted {
			t.Errorf("%q %s: %s, committed %v", tt.commits, tt.kind, v.Code, v.BuilderCommitted)
		}
	}
	empty := Touched{Branch: "main", Git: []Change{edited("refs/heads/main")}}
	if v := Judge(empty, law(func(p *Policy) { p.commits, p.kind = SquashCommits, Question })); v.Code != StopQuestionChanged {
		t.Errorf("an empty commit of a question: %s", v.Code)
	}
	hook := Touched{Branch: "main", Git: []Change{added("hooks/x"), edited("HEAD")}}
	if v := Judge(hook, law()); v.Code != StopRunnerOwned || v.Violations[0].Path != ".git/hooks/x" {
		t.Errorf("hook: %+v", v)
	}
}

// A repository that is made or removed inside has some thirty files of git's: one line tells
// of them, and of others of the repository around it each its own.
func TestGitFilesOfARepositoryInsideAreOneLine(t *testing.T) {
	t.Parallel()
	p := law()
	p.newFiles = true
	v := Judge(Touched{
		Git: []Change{edited("config"), added("hooks/x"), added("modules/a/b/HEAD"), added("modules/a/b/config"), added("modules/a/b/hooks/x"), added("modules/c/HEAD")},
		Changes: []Change{added("src/lib/.git/HEAD"), added("src/lib/.git/hooks/x"), added("src/lib/.git/secret"), added("src/lib/secret"), added("src/sub/.git"),
			added("src/x\n/.git/a"), added("src/x\n/.git/b")},
	}, p)
	var got []string
	for _, v := range v.Violations {
		if v.Code == StopRunnerOwned || v.Code == StopForbidden {
			got = append(got, v.Path)
		}
	}
	want := []string{".git/config", ".git/hooks/x", ".git/modules/a/b", ".git/modules/c",
		"src/lib/.git", "src/lib/.git", "src/lib/secret", "src/sub/.git", "src/x\n/.git"} // twice: also for a forbidden name
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
