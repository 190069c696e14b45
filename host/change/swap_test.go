package change

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
)

// Files of everything, and which of the looks is the one at them.
var swapped = []struct {
	name string
	look int
}{{"src/a.go", 1}, {"gone/only.txt", 2}, {"README.md", 5}, {"src/link", 9}, {"empty", 15}}

// save is how an operator's editor saves: by a rename, or into the file that is there.
func (r *repo) save(name string, rename bool) {
	r.t.Helper()
	path := filepath.Join(r.root, name)
	if rename {
		must(r.t, os.WriteFile(r.root+".swp", []byte("mine\n"), 0o644))
		must(r.t, os.Rename(r.root+".swp", path))
		return
	}
	must(r.t, os.WriteFile(path, []byte("mine\n"), 0o644))
}

// mine is the tree of a repository in which the operator has saved one file.
func mine(t *testing.T, from *repo, name string) string {
	t.Helper()
	r := from.copy(t)
	r.save(name, true)
	return r.snapshot(false)
}

// An operator who saves between the look at a file and the step that replaces it finds
// there what he saved, and nothing else is written.
func TestOperatorSavesBetweenLookAndStep(t *testing.T) {
	from := newRepo(t)
	for _, c := range swapped {
		want := mine(t, from, c.name)
		for _, rename := range []bool{true, false} {
			if c.name == "src/link" && !rename {
				continue // that would be another file
			}
			r, looks := from.copy(t), 0
			journal.Failpoint = func(point string) {
				if point == "apply.looked" {
					if looks++; looks == c.look {
						r.save(c.name, rename)
					}
				}
			}
			r.everything()
			_, err := r.land("run-1", true)
			journal.Failpoint = nil
			if f, ok := diag.As(err); !ok || f.Code == judge.Success || looks != c.look {
				t.Errorf("%s: %v after %d looks", c.name, err, looks)
			}
			if now := r.snapshot(false); now != want {
				t.Errorf("%s, by a rename %t: %s", c.name, rename, diff(want, now))
			}
		}
	}
}

// The same, and then relay is killed before it has looked at what it took out.
func TestKilledBeforeTheSecondLook(t *testing.T) {
	from := newRepo(t)
	points := newLanding(t, from, true).points
	for _, c := range swapped[:3] {
		r, want, looks := from.copy(t), mine(t, from, c.name), 0
		for n, point := range points {
			if point != "apply.looked" {
				continue
			}
			if looks++; looks == c.look {
				t.Setenv(envSave, c.name)
				child(t, r, n+2, true)
				os.Unsetenv(envSave)
			}
		}
		before := r.snapshot(false)
		done, err := Recover(context.Background(), r.env, false, nil)
		if err != nil || len(done) != 1 || done[0].Conflict == "" || r.snapshot(false) != before {
			t.Fatalf("%s: %+v %v", c.name, done, err)
		}
		done, err = Recover(context.Background(), r.env, true, nil)
		if err != nil || len(done) != 1 || len(done[0].Notes) == 0 {
			t.Errorf("%s, by force: %+v %v", c.name, done, err)
		}
		if now := r.snapshot(false); now != want {
			t.Errorf("%s: %s", c.name, diff(want, now))
		}
		r.noLeftovers()
	}
}

// A landing that fails in the middle is taken back by the same steps.
func TestOperatorEditsWhileReverting(t *testing.T) {
	r := newRepo(t)
	want := mine(t, r, "src/new")
	looks := 0
	journal.Failpoint = func(point string) {
		if point == "apply.looked" {
			if looks++; looks == 7 {
				must(t, exec.Command("rm", "-r", filepath.Join(r.root, "src/new")).Run())
				r.save("src/new", true) // a file where a folder was to be
			}
		}
	}
	defer func() { journal.Failpoint = nil }()
	r.everything()
	if _, err := r.land("run-1", true); err == nil {
		t.Fatal("landed after " + strconv.Itoa(looks))
	}
	if now := r.snapshot(false); now != want {
		t.Errorf("%s", diff(want, now))
	}
}
