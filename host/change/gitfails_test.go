package change

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Whatever call of git fails on the way of a change, and however: the same tree lands as
// without, or none, and the work tree is as it was.
func TestGitThatFailsAtAnyCall(t *testing.T) {
	sampling.Rare(t)
	real, err := filepath.EvalSymlinks("/usr/bin/git")
	if err != nil {
		t.Skip("git is not /usr/bin/git here")
	}
	base := newRepo(t)
	base.write(".gitignore", "*.log\n/.relay/\ndist/\n", 0o644)
	base.git("commit", "-qam", "ignore")
	const work = "mkdir -p dist; echo out > dist/out.bin; echo more >> README.md; rm src/a.go; echo new > src/new.txt"
	policy := lawOf(judge.SquashCommits, "**")
	want := ""
	for _, how := range []string{"", "exit 128", "kill -9 $$", `"$git" "$@" | head -c 9; exit 1`, `"$git" "$@" | head -c 9; exit 0`} {
		for n := 1; ; n++ {
			if how == "" && n > 1 {
				break
			}
			r := base.copy(t)
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "git"), fmt.Appendf(nil, "#!/bin/sh\ngit=%s; echo >> %s/calls\nif [ $(wc -l < %s/calls) = %d ]; then :; %s\nfi\nexec \"$git\" \"$@\"\n",
				real, dir, dir, n, how), 0o755))
			path := os.Getenv("PATH")
			before := strings.Join([]string{r.git("rev-parse", "HEAD^{tree}"), r.read("README.md")}, "\n")
			t.Setenv("PATH", dir+":"+path)
			landed := r.passage(policy, work)
			t.Setenv("PATH", path)
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			tree := r.git("rev-parse", "HEAD^{tree}")
			_, ignored := os.Lstat(filepath.Join(r.root, "dist/out.bin"))
			switch {
			case how == "":
				if landed != nil {
					t.Fatal(landed)
				}
				want = tree
			case tree == want: // it landed, and the index may say so later
			case strings.Join([]string{tree, r.read("README.md")}, "\n") != before || ignored == nil:
				t.Errorf("%q at call %d: another tree, or a work tree half written: %v", how, n, landed)
			case landed == nil:
				t.Errorf("%q at call %d: nothing landed, and that was no error", how, n)
			}
			if strings.Count(string(calls), "\n") < n {
				break // it came to its end before
			}
		}
	}
}

// section is one change from the opening of the repository to its commit.
func (r *repo) passage(p judge.Policy, work string) error {
	ctx := context.Background()
	git, err := git.Open(ctx, r.root)
	if err != nil {
		return err
	}
	r.env.Git = git
	if status, err := git.Status(ctx); err != nil || len(status) > 0 {
		return fmt.Errorf("%v: %w", status, err)
	}
	head, branch, err := git.Head(ctx)
	if err != nil {
		return err
	}
	c, err := Begin(context.Background(), r.env, Options{RunID: "run-1", Base: head, Branch: branch})
	if err != nil {
		return err
	}
	defer c.Discard()
	r.build(c, work)
	v, err := c.Judge(ctx, p)
	if err != nil {
		return err
	}
	if v.Code != judge.Success {
		return fmt.Errorf("%s: %v", v.Code, v.Violations)
	}
	_, err = c.Land(ctx, Landing{Commit: true, Message: Message{Subject: "x"}})
	return err
}
