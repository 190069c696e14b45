package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/hosttest"
	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge"
)

// begun waits in a builder's script until a task has noted where it begins.
const begun = `n=0; until grep -q '"base_commit": *"[0-9a-f]' "$(dirname "$acts")/repo/.relay/pipeline/tasks/OTHER.1/trail.json" 2>/dev/null || [ $((n+=1)) -gt 100 ]; do sleep 0.1; done
`

func onceBegun(other string) string { return strings.ReplaceAll(begun, "OTHER", other) }

// tell writes down how tasks ended.
func (w *world) tell(out *Outcome) {
	for _, tr := range out.Tasks {
		w.T.Logf("%s %s %s %s: %v", tr.Attempt, tr.Code, tr.Summary, tr.Why, tr.Notes)
	}
}

// leftovers says what a run left that belongs to nobody.
func (w *world) leftovers() string {
	w.T.Helper()
	out := w.Git("for-each-ref", "refs/heads/relay") + w.Git("status", "--porcelain")
	marks, _ := filepath.Glob(filepath.Join(w.Home, "data", "tasks", "*", "*.json"))
	return out + strings.Join(marks, " ")
}

// byPointer keeps large files by pointer, as git-lfs does it: the bytes are in a store
// that only the filters know.
func (w *world) byPointer() {
	must(w.T, os.MkdirAll(w.Path(".git/lfs/objects"), 0o755))
	w.Write(".git/lfs/clean.sh", `b=$(mktemp "$1/tmp/XXXXXX"); cat >$b; n=$(wc -c <$b); h=$(sha256sum <$b | cut -c1-64)
d=$1/objects/$(echo $h | cut -c1-2)/$(echo $h | cut -c3-4); mkdir -p "$d" && chmod 644 $b && mv $b "$d/$h"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %s\n' $h $n`+"\n")
	w.Write(".git/lfs/smudge.sh", `h=$(sed -n 's/^oid sha256://p'); cat "$1/objects/$(echo $h | cut -c1-2)/$(echo $h | cut -c3-4)/$h"`+"\n")
	w.Write(".git/lfs/tmp/.keep", "")
	for _, way := range []string{"clean", "smudge"} {
		w.Git("config", "filter.big."+way, "sh '"+w.Path(".git/lfs/"+way+".sh")+"' '"+w.Path(".git/lfs")+"'")
	}
	w.Git("config", "filter.big.required", "true")
	w.Write(".gitattributes", "*.big filter=big -text\n")
	w.Git("add", "-A")
	w.Git("commit", "-qm", "large files by pointer")
}

// Independent tasks are worked on at the same time, and land one after the other.
func TestSideBySide(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	w := newWorld(t, task("a"), task("b"), task("c", "a", "b"))
	for _, id := range []string{"a", "b", "c"} {
		w.simple(id)
	}
	w.byPointer()
	w.act("a-code", onceBegun("b")+"echo word a >src/a.txt; echo bytes a >a.big\n")
	w.act("b-code", onceBegun("a")+"echo word b >src/b.txt; echo bytes b >b.big\n")
	for _, id := range []string{"a", "b"} { // its first version is in the middle commit only
		w.act(id+"-cleanup", "git add -A && git commit -qm 'feat: add "+id+"' && echo more >>src/"+id+".txt && echo again >>"+id+".big && git commit -qam 'feat: complete Title of "+id+"'\n")
	}
	out, err := Run(t.Context(), w.env(), Options{Orders: Orders{Parallel: 2}})
	must(t, err)
	w.tell(out)
	if out.Reason != NothingLeft || len(out.Tasks) != 3 || out.Tasks[2].TaskID != "c" {
		t.Fatalf("%s %s: %d tasks", out.Reason, out.Why, len(out.Tasks))
	}
	log := w.Git("log", "--format=%H %s")
	for _, tr := range out.Tasks {
		if tr.Code != judge.Success || len(tr.Commits) != 2 || w.status(tr.TaskID) != "completed" {
			t.Fatalf("%s: %s %s %s", tr.TaskID, tr.Code, tr.Summary, tr.Why)
		}
		for _, c := range tr.Commits {
			if !strings.Contains(log, c) {
				t.Errorf("%s: the commit %s is not on the branch", tr.TaskID, c)
			}
		}
		if got := w.Read("src/" + tr.TaskID + ".txt"); got != "word "+tr.TaskID+"\nmore\n" {
			t.Errorf("%s: %q", tr.TaskID, got)
		}
	}
	for _, id := range []string{"a", "b"} {
		if text, kept := w.Read(id+".big"), w.Git("cat-file", "blob", "HEAD:"+id+".big"); text != "bytes "+id+"\nagain\n" || !strings.HasPrefix(kept, "version https://git-lfs") {
			t.Errorf("%s.big is %q, and %q in the commit", id, text, kept)
		}
		w.inHistory(w.trail(id), "diff.patch", "verify.log")
	}
	// The one that landed second was tried again on top of the first.
	if n := len(w.trail("a").Checks) + len(w.trail("b").Checks); n != 3 {
		t.Errorf("%d checks of a and b", n)
	}
	if body := w.Git("log", "-1", "--format=%B", w.trail("b").Commit); strings.Count(body, "Relay-Run:") != 1 {
		t.Errorf("the message is\n%s", body)
	}
	if left := w.leftovers(); left != "" {
		t.Errorf("left over: %s", left)
	}
}

// What does not go together is built once more, by somebody who is told of it.
func TestConflictGoesBackOnce(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	w := newWorld(t, task("a"), task("b"))
	w.answers(rolePlan, "(?s)Title of b.*did not go together.*a conflict in src/a.txt", plan("src/b.txt", "src/told.txt"))
	w.simple("a")
	w.simple("b")
	w.act("a-code", onceBegun("b")+"echo word a >src/a.txt\n")
	w.act("b-code", onceBegun("a")+"echo word b >src/b.txt; echo b too >>src/a.txt\n")
	out, err := Run(t.Context(), w.env(), Options{Orders: Orders{Parallel: 2}})
	must(t, err)
	w.tell(out)
	if len(out.Tasks) != 2 || out.Tasks[0].Code != judge.Success || out.Tasks[1].Code != judge.Success {
		t.Fatalf("%+v", out)
	}
	again := 0
	for _, id := range []string{"a", "b"} {
		all, err := Attempts(w.env().WS, id)
		must(t, err)
		for _, tr := range all[1:] {
			again++
			if !strings.Contains(tr.Conflict, "a conflict in src/a.txt") || !strings.Contains(tr.Conflict, "<<<<<<<") || tr.Lost == "" {
				t.Errorf("%s: %q, %q", tr.Attempt, tr.Conflict, tr.Lost)
			}
		}
		if id == "b" && len(all) == 2 && strings.Join(all[0].Plan.Files, " ") != "src/b.txt src/told.txt" {
			t.Error("the second attempt was not told of the conflict")
		}
	}
	if again != 1 {
		t.Errorf("%d attempts conflicted", again)
	}
	if text := w.Read("src/a.txt"); !strings.Contains(text, "word a") {
		t.Errorf("src/a.txt: %q", text)
	}
	if left := w.leftovers(); left != "" {
		t.Errorf("left over: %s", left)
	}
}

// Killed anywhere on the way onto the operator's branch, a run is finished by the next one:
// each task's commits are there once, and nothing is bought twice. Both have begun before
// one lands, so that the other's are made again on top of it.
func TestKilledInTheMergeQueue(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	points := []string{"pipeline.set-aside", "pipeline.joining", "pipeline.replayed", "pipeline.joining:2", "pipeline.replayed:2", "apply.planned", "apply", "apply.planned:2", "committed:2",
		"pipeline.join", "pipeline.join:2", "pipeline.marked", "pipeline.recorded"}
	if testing.Short() {
		points = []string{"pipeline.replayed:2", "committed:2"}
	}
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, task("a"), task("b"))
			w.simple("a")
			w.simple("b")
			w.act("a-code", onceBegun("b")+"echo word a >src/a.txt\n")
			w.act("b-code", onceBegun("a")+"echo word b >src/b.txt\n")
			if out, state := w.Child(point, envParallel+"=2"); !hosttest.Killed(state) {
				t.Fatalf("not killed: %s", out)
			}
			if out, _ := w.Child("", envParallel+"=2"); out != "done" {
				t.Fatalf("the next run says %s", out)
			}
			log := "\n" + w.Git("log", "--format=%s") + "\n"
			for _, id := range []string{"a", "b"} {
				for _, subject := range []string{"feat: add " + id, "feat: complete Title of " + id, "chore: " + id + " completed"} {
					if strings.Count(log, "\n"+subject+"\n") != 1 {
						t.Errorf("%q is not there once:%s", subject, log)
					}
				}
				if w.status(id) != "completed" || w.trail(id).Attempt != id+".1" || w.Read("src/"+id+".txt") != "word "+id+"\nmore\n" {
					all, _ := Attempts(w.env().WS, id)
					t.Errorf("%s is %s in %s; the first attempt: %s", id, w.status(id), w.trail(id).Attempt, all[len(all)-1].Lost)
				}
			}
			w.once(point)
			if left := w.leftovers(); left != "" {
				t.Errorf("left over: %s", left)
			}
		})
	}
}

// A run that ends in the middle continues in the same work tree, whatever is said about
// side by side then.
func TestSideIsGoneOnWith(t *testing.T) {
	sampling.Rare(t)
	t.Parallel()
	w := newWorld(t, task("a"), task("b"))
	w.simple("a")
	w.simple("b")
	ctx, cancel := context.WithCancel(t.Context())
	must(t, os.WriteFile(w.side("acts/a-cleanup.sh"), []byte("sleep 600\n"), 0o644))
	_, err := Run(ctx, w.env(), Options{Orders: Orders{Parallel: 2}, OnTask: func(*Record) { cancel() }})
	must(t, err)
	if w.status("b") != "completed" || w.status("a") == "completed" {
		t.Fatalf("a is %s, b is %s", w.status("a"), w.status("b"))
	}
	first := w.trail("a")
	w.simple("a")
	out, err := Run(t.Context(), w.env(), Options{})
	must(t, err)
	if len(out.Tasks) != 1 || out.Tasks[0].Code != judge.Success || out.Tasks[0].Attempt != first.Attempt || first.Branch != sideBranch("a") {
		t.Fatalf("%+v", out.Tasks)
	}
	if left := w.leftovers(); left != "" {
		t.Errorf("left over: %s", left)
	}
}
