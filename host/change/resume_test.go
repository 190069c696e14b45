package change

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/judge"
)

// What a builder had made is judged and landed by a later process, even after one that
// was cut off while it kept or checked it.
func TestResumeWhatWasLeft(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	opts := Options{RunID: "run-1", Base: r.git("rev-parse", "HEAD"), Branch: "main"}
	take := func() *Change {
		t.Helper()
		c, _, err := Resume(ctx, r.env, opts)
		must(t, err)
		return c
	}
	if take() != nil {
		t.Fatal("something is resumed that never began")
	}
	c := r.begin("run-1")
	r.build(c, "echo two >> README.md; chmod 755 src/a.go; ln -sf run.sh src/link; head -c 3000 /dev/urandom > src/blob")
	must(t, c.Sync())
	must(t, c.Leave())
	// What an attempt to keep or check it had left does not hurt the next one.
	must(t, os.MkdirAll(filepath.Join(r.env.StateDir, "boxes", "run-1.stage"), 0o700))
	must(t, os.MkdirAll(filepath.Join(r.env.StateDir, "boxes", "run-1.verify1"), 0o700))
	for range 2 { // cut off once more
		if c = take(); c == nil {
			t.Fatal("it is gone")
		}
		v, err := c.Judge(ctx, wide)
		must(t, err)
		if v.Code != judge.Success || len(v.Kept) != 4 {
			t.Fatalf("%+v", v)
		}
		if _, err := c.Reject(ctx, Message{Subject: "kept"}); err != nil {
			t.Fatal(err)
		}
		must(t, c.Leave())
	}
	c = take()
	_, err := c.Judge(ctx, wide)
	must(t, err)
	_, err = c.Land(ctx, Landing{Commit: true, Message: Message{Subject: "landed late"}})
	must(t, err)
	must(t, c.Discard())
	r.clean()
	r.noLeftovers()
	got := r.git("show", "--stat", "--format=%s", "--summary", "HEAD")
	for _, want := range []string{"landed late", "mode change 100644 => 100755 src/a.go", "src/blob", "README.md"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
}

// A box that was being thrown away when relay was killed is not opened again: it would be
// empty, as if nothing had been built.
func TestResumeFindsNoEmptyBox(t *testing.T) {
	r := newRepo(t)
	c := r.begin("run-1")
	r.build(c, "echo two >> README.md")
	must(t, c.Sync())
	must(t, c.Leave())
	layer := filepath.Join(r.env.StateDir, "boxes", "run-1")
	must(t, os.Rename(layer, layer+".gone-12345678"))
	c, gone, err := Resume(context.Background(), r.env, Options{RunID: "run-1", Base: r.git("rev-parse", "HEAD"), Branch: "main"})
	if err != nil || c != nil || gone == nil || gone.Landed {
		t.Fatalf("%v, %+v, %v", c, gone, err)
	}
	r.noLeftovers()
}
