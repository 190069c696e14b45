package box_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/paxiom/relay/judge/box"

	"github.com/paxiom/relay/judge/git"
)

// What git remembers of a file holds in the box, so that its first status there reads
// nothing. Where root runs the test it could not even.
func TestGitStatusReadsNothing(t *testing.T) {
	t.Parallel()
	for _, others := range []string{"", "chgrp -R 12345 .", "chgrp 12345 src/deep/c.txt"} {
		t.Run("with "+others, func(t *testing.T) {
			if others != "" && os.Getuid() != 0 {
				t.Skip("an ordinary user can't give files away")
			}
			w := newWorld(t)
			hostSh(t, w.spec.Root, "git init -q -b main && git add -A && git commit -qm base\n"+others+`
				find . -name '*.txt' -exec touch -d '2024-01-01 00:00:00' {} + ; sleep 0.01; git status >/dev/null
				if [ $(id -u) = 0 ]; then chmod 000 src/deep/c.txt; git update-index -q --refresh; fi`)
			b := w.box()
			same := sh(t, b, `for f in a.txt src/b.txt src/deep/c.txt; do
				git ls-files --debug $f | tr -s '\t ' '\n\n' | tr '\n' ' ' | sed 's/.*ino: \([0-9]*\) uid: \([0-9]*\) gid: \([0-9]*\) size: \([0-9]*\).*/\1 \2 \3 \4/'
				echo; stat -c '%i %u %g %s' $f; done | tr -d ' ' | grep . | uniq -c | tr -s ' ' | cut -d' ' -f2`)
			if same != "2\n2\n2\n" {
				t.Errorf("git remembers something else of files: %q", same)
			}
			if got := sh(t, b, "git status --porcelain"); got != "" {
				t.Errorf("git status read files and failed: %q", got)
			}
			out := sh(t, b, `chmod 644 src/deep/c.txt; echo three2 > src/deep/c.txt; echo new > n; git status --porcelain`)
			if out != " M src/deep/c.txt\n?? n\n" {
				t.Errorf("git status: %q", out)
			}
			sh(t, b, "git add -A && git commit -qm mine && test -z \"$(git status --porcelain)\"")
		})
	}
}

func TestGitSetting(t *testing.T) {
	got := WithGitSetting([]string{"A=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=x.y", "GIT_CONFIG_VALUE_0=z"}, "core.checkStat", "minimal")
	same(t, "environment", got, []string{"A=1", "GIT_CONFIG_KEY_0=x.y", "GIT_CONFIG_VALUE_0=z", "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_1=core.checkStat", "GIT_CONFIG_VALUE_1=minimal"})
}

func TestGitCheckouts(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		for name, c := range map[string]struct {
			setup, root string
			outside     int
			git         []string // changes of the git directory, without objects and logs
		}{
			"plain":    {"true", "repo", 0, []string{"A COMMIT_EDITMSG", "M index", "M refs/heads/main"}},
			"sha256":   {"rm -rf .git; git init -q -b main --object-format=sha256; git add -A; git commit -qm s", "repo", 0, []string{"M COMMIT_EDITMSG", "M index", "M refs/heads/main"}},
			"worktree": {"git worktree add -q ../side", "side", 1, []string{"M refs/heads/side", "A worktrees/side/COMMIT_EDITMSG", "M worktrees/side/index"}},
			"submodule": {"git init -q ../super; cd ../super; git -c protocol.file.allow=always submodule add -q ../repo sub; git commit -qm s", "super/sub", 1,
				[]string{"A COMMIT_EDITMSG", "M index", "M refs/heads/main"}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t).under(means)
				w.write("repo/.gitignore", "*.log\n")
				hostSh(t, w.spec.Root, "git init -q -b main; git add -A; git commit -qm base; rm .git/COMMIT_EDITMSG; "+c.setup)
				w.spec.Root = filepath.Join(w.dir, c.root)
				git, err := git.Open(t.Context(), w.spec.Root)
				check(t, err)
				w.spec.GitDirs = git.Outside()
				if len(w.spec.GitDirs) != c.outside {
					t.Fatalf("outside: %q", w.spec.GitDirs)
				}
				before := hostSh(t, w.spec.Root, "git rev-parse HEAD; git status --porcelain; cd $(git rev-parse --git-common-dir); find . -type f | sort | xargs cksum")
				b := w.box()
				sh(t, b, "git status -s; echo more >> a.txt; echo l > x.log; git add -A; git commit -qm 'in the box'; git log --oneline | wc -l; git status -s")
				got := touched(t, b, git)
				same(t, "touched", brief(got.Changes), []string{"M a.txt", "A x.log"})
				if !got.Changes[1].Ignored || got.Changes[0].Ignored {
					t.Errorf("ignored: %+v", got.Changes)
				}
				var dir []string
				for _, line := range brief(got.Git) {
					if !strings.Contains(line, "objects/") && !strings.Contains(line, "logs/") {
						dir = append(dir, line)
					}
				}
				same(t, "git directory", dir, c.git)
				if after := hostSh(t, w.spec.Root, "git rev-parse HEAD; git status --porcelain; cd $(git rev-parse --git-common-dir); find . -type f | sort | xargs cksum"); after != before {
					t.Errorf("the real git directory changed:\n%s\n%s", before, after)
				}
			})
		}
	})
}

func TestGitDirReplaced(t *testing.T) {
	eachMeans(t, func(t *testing.T, means string) {
		t.Parallel()
		w := newWorld(t).under(means)
		hostSh(t, w.spec.Root, "git init -q -b main; git add -A; git commit -qm base")
		git, err := git.Open(t.Context(), w.spec.Root)
		check(t, err)
		b := w.box()
		sh(t, b, "cp -a .git $HOME/g; rm -rf .git; ln -s $HOME/g .git; echo e >> a.txt")
		got := touched(t, b, git)
		same(t, "touched", brief(got.Changes), []string{"M a.txt"})
		if len(got.Git) < 5 || brief(got.Git)[0] != "A ." {
			t.Errorf("git: %q", brief(got.Git))
		}
		sh(t, b, "rm .git; git init -q; git add -A; git commit -qm evil")
		got = touched(t, b, git)
		if list := strings.Join(brief(got.Git), "\n"); !strings.Contains(list, "D refs/heads/main") && !strings.Contains(list, "M refs/heads/main") {
			t.Errorf("git: %s", list)
		}
	})
}
