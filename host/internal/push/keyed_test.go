package push

import (
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Of two workers with one key the second one changes nothing, and what is pushed twice is
// there once.
func TestDeliver(t *testing.T) {
	dir, w := t.TempDir(), &world{t: t}
	remote := dir + "/remote.git"
	w.run(dir, "init", "-q", "--bare", remote)
	clone := func(name string) (*git.Repo, func(...string) string) {
		w.run(dir, "clone", "-q", remote, name)
		in := func(args ...string) string { return w.run(dir+"/"+name, args...) }
		git, err := git.Open(t.Context(), dir+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		return git, in
	}
	git, in := clone("one")
	in("commit", "-q", "--allow-empty", "-m", "base")
	in("push", "-q", "origin", "HEAD:refs/heads/b")
	base := in("rev-parse", "HEAD")
	commit := func(message, parent string) string {
		return in("commit-tree", "-m", message, "-p", parent, "HEAD^{tree}")
	}
	at := func(ref string) string {
		return w.run(dir, "--git-dir="+remote, "for-each-ref", "--format=%(objectname)", ref)
	}
	const ref = "refs/relay/results/k"
	landed := commit("landed", base)
	first := Keyed{Remote: "origin", Ref: ref, Object: commit("result", landed), Branch: "b", Base: base, Commit: landed}
	for range 2 {
		if done, err := Deliver(t.Context(), git, first); err != nil || !done.Result || !done.Branch {
			t.Fatal(done, err)
		}
	}
	if at(ref) != first.Object || at("refs/heads/b") != landed {
		t.Error("it is not there")
	}
	late := first
	late.Commit = commit("late", base)
	late.Object = commit("late result", late.Commit)
	done, err := Deliver(t.Context(), git, late)
	if f, ok := diag.As(err); !ok || f.Code != judge.StopHeadMoved || done.Result || done.Branch {
		t.Error(done, err)
	}
	if at(ref) != first.Object || at("refs/heads/b") != landed {
		t.Error("a worker that came back has overwritten something")
	}
	// git itself refuses where the other came between the look and the push
	if out, err := git.Talk(t.Context(), []string{"push", "--porcelain", "--atomic", "--force-with-lease=" + ref + ":"}, "origin", late.Object+":"+ref); err == nil {
		t.Errorf("the lease does not hold: %s", out)
	}
	// the branch has diverged: the result goes alone
	late.Ref = "refs/relay/results/l"
	done, err = Deliver(t.Context(), git, late)
	if f, ok := diag.As(err); !ok || f.Code != judge.StopHeadMoved || !done.Result || done.Branch {
		t.Error(done, err)
	}
	if at(late.Ref) != late.Object || at("refs/heads/b") != landed {
		t.Error("the result is not there, or the branch was overwritten")
	}
	got, err := FetchRef(t.Context(), git, "origin", ref)
	if err != nil || got != first.Object {
		t.Error(got, err)
	}
	if got, err := FetchRef(t.Context(), git, "origin", "refs/relay/results/none"); got != "" || err != nil {
		t.Error(got, err)
	}
	if Known(t.Context(), git, "nowhere") == nil || Known(t.Context(), git, "--upload-pack=x") == nil {
		t.Error("it is taken for a remote")
	}
}
