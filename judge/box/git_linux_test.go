package box

import (
	"os"
	"strings"
	"syscall"
	"testing"
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

// Where files of strangers lie in it, git is told not to look at owners.
func TestStrangersFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := owners{[]syscall.SysProcIDMap{{ContainerID: os.Getuid(), Size: 1}}, []syscall.SysProcIDMap{{ContainerID: os.Getgid(), Size: 1}}}
	if e := own.unfit(w.spec.Root); e != nil {
		t.Error(e)
	}
	if name := own.strangers(w.spec.Root); name != "" {
		t.Errorf("%q is mine", name)
	}
	other := owners{own.uids, []syscall.SysProcIDMap{{ContainerID: os.Getgid() + 1, Size: 10}}}
	if name := other.strangers(w.spec.Root); name == "" {
		t.Error("nothing of a stranger was found")
	}
	if e := other.unfit(w.spec.Root); e == nil || !e.Unsupported || !strings.Contains(e.Fix, "chgrp -R") {
		t.Errorf("%v", e)
	}
}

func TestGitSetting(t *testing.T) {
	got := withGitSetting([]string{"A=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=x.y", "GIT_CONFIG_VALUE_0=z"}, "core.checkStat", "minimal")
	same(t, "environment", got, []string{"A=1", "GIT_CONFIG_KEY_0=x.y", "GIT_CONFIG_VALUE_0=z", "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_1=core.checkStat", "GIT_CONFIG_VALUE_1=minimal"})
}
