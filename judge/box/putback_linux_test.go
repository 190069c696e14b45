package box_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/paxiom/relay/judge/box"
)

// What was done to the real repository is put back though it resists: folders deeper than
// relay looks, in folders that may not be written, where git keeps its objects, and in the
// place of what is restored.
func TestCopyPutsBackWhatResists(t *testing.T) {
	t.Parallel()
	w := newWorld(t).under(Copy)
	baseTree(w)
	hostSh(t, w.spec.Root, "mkdir -p fixed/in; echo 1 > fixed/in/one; echo 2 > fixed/two; chmod 555 fixed/in fixed; mkdir gone; echo g > gone/g; chmod 555 gone; git init -q -b main; git add -A; git commit -qm base")
	t.Cleanup(func() { hostSh(t, w.dir, "chmod -R u+w .") })
	whole := "find . -path ./.git/objects -prune -o -printf '%y %m %p %l\\n' | sort; find . -type f | sort | xargs cksum; git fsck 2>&1; GIT_OPTIONAL_LOCKS=0 git status --porcelain"
	before := hostSh(t, w.spec.Root, whole)
	b := w.box()
	out, state := start(t, b, Proc{Env: append(testEnv(b), "REAL="+w.spec.Root), Argv: []string{"sh", "-euc", `cd "$REAL"
chmod 755 fixed fixed/in; rm fixed/in/one; echo evil > fixed/in/new; mkdir fixed/x; chmod 555 fixed/x fixed/in fixed
chmod 755 gone; rm -r gone
o=$(find .git/objects -type f | head -n 1); chmod 644 "$o"; rm "$o"; mkdir "$o" "$(dirname "$o")/.relay-put-back"; echo in > "$o/in"
perl -e 'for (1..400) { mkdir "a-rather-long-name-of-a-folder"; chdir "a-rather-long-name-of-a-folder" or die } open F, ">bottom" or die'
`}})
	if !state.OK() {
		t.Fatalf("%+v\n%s", state, out)
	}
	hostSh(t, w.spec.Root, "rmdir .git/objects/*/.relay-put-back") // what means nothing to git is left alone there
	if after := hostSh(t, w.spec.Root, whole); after != before {
		t.Errorf("after:\n%.3000s\nbefore:\n%s", after, before)
	}
	got := brief(touched(t, b, nil).Changes)
	for _, want := range []string{"D gone/g"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not in %.500q", want, strings.Join(got, " "))
		}
	}
}

// Who shuts the folders above the repository, or relay's own, keeps nobody out.
func TestFoldersAboveAreOpened(t *testing.T) {
	t.Parallel()
	for _, means := range []string{Landlock, Copy} {
		w := newWorld(t).under(means)
		t.Cleanup(func() { hostSh(t, w.dir, "chmod -R u+rwx .") })
		baseTree(w)
		w.write("repo/.relay/history/run/report.json", "{}")
		w.spec.Busy = []string{w.spec.Root + "/.relay"}
		modes := "stat -c '%a %n' . home state state/* repo repo/.relay repo/.relay/* repo/.relay/history/run"
		b := w.box()
		sh(t, b, "true")
		before := hostSh(t, w.dir, modes)
		script := fmt.Sprintf("cd /; chmod 000 %[1]s/.relay/history/run %[1]s/.relay/history %[1]s/.relay %[1]s %[2]s $(dirname \"$HOME\") %[3]s/* %[3]s %[4]s %[5]s",
			w.spec.Root, b.Dir(), w.spec.StateDir, w.spec.Home, w.dir)
		out, state := start(t, b, Proc{Env: testEnv(b), Argv: []string{"sh", "-c", script}})
		if after := hostSh(t, w.dir, modes); after != before {
			t.Errorf("%s: after:\n%s\nbefore:\n%s\n%+v %s", means, after, before, state, out)
		}
		if found := strings.Join(b.PutBack(), "\n"); !strings.Contains(found, "changed the mode of "+w.dir) {
			t.Errorf("%s: put back: %s", means, found)
		}
		if got := touched(t, b, nil); !got.RootMode {
			t.Errorf("%s: the root's mode was changed, unnoticed: %q", means, brief(got.Changes))
		}
		check(t, b.Discard())
	}
}
