package attest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paxiom/relay/internal/sampling"
	"github.com/paxiom/relay/judge/git"
)

// states is a repository whose last two commits landed, and what people do to repositories.
type states struct {
	t            *testing.T
	dir, signers string
	why          string // the last answer
}

func (s *states) sh(dir, script string) string {
	s.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v: %s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

func newStates(t *testing.T, format string) *states {
	git, facts := landedRepo(t, format)
	o := options(t, git)
	if problem := Attach(context.Background(), o, facts); problem != "" {
		t.Fatal(problem)
	}
	return &states{t: t, dir: git.Root, signers: OwnSigners(o.StateDir)}
}

// partial makes the clone x without the objects that a filter leaves out.
func partial(filter string) string {
	return `git config uploadpack.allowFilter true; git clone -q --no-checkout --filter=` + filter + ` "file://$PWD" x; git -C x fetch -q origin refs/notes/relay:refs/notes/relay`
}

// readNotes has git fetch them.
const readNotes = `for o in $(git ls-tree -r refs/notes/relay | cut -c13- | cut -f1); do git -C x cat-file -p $o >../note; done`

const loseNotes = `for o in $(git ls-tree -r refs/notes/relay | cut -c13- | cut -f1); do rm -f .git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); done`

const addToNote = "git notes --ref=relay append -m 'reviewed by a'"

// both asks relay and the verifier that shares no code with it.
func (s *states) both(dir, what string) (answers []Status) {
	s.t.Helper()
	text, err := os.ReadFile(s.signers)
	if err != nil {
		s.t.Fatal(err)
	}
	found := []Found{{Status: unseen}}
	git, err := git.OpenCommits(context.Background(), dir)
	if err == nil {
		found = asked(git, string(text), Ref, what)
	}
	for _, f := range found {
		answers, s.why = append(answers, f.Status), f.Why
	}
	out, _ := exec.Command("python3", filepath.Join(proof, "verify.py"), "--repo", dir, "--signers", s.signers, "--", what).Output()
	var other []Status
	for line := range strings.Lines(string(out)) {
		var a struct{ Status Status }
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			s.t.Fatal(err)
		}
		other = append(other, a.Status)
	}
	if !slices.Equal(answers, other) {
		s.t.Errorf("relay says %v (%+v, %v), verify.py %v: %s", answers, found, err, other, out)
	}
	return answers
}

// What is done to a repository as a whole changes no answer but to "not covered", or that it
// could not be looked at.
func TestStates(t *testing.T) {
	sampling.Rare(t)
	for _, name := range []string{"python3", "ssh-keygen"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	two := []Status{Verified, Verified}
	made := map[string]*states{"sha1": newStates(t, "sha1"), "sha256": newStates(t, "sha256")}
	for i, x := range []struct {
		name, script, dir, what string
		want                    []Status
	}{
		{"as it is", "", "", "HEAD", two[:1]},
		{"range", "", "", "HEAD~2..HEAD", two},
		{"reversed range", "", "", "HEAD..HEAD~2", []Status{unseen}},
		{"range of a range", "", "", "HEAD~2..HEAD..HEAD", []Status{unseen}},
		{"nothing", "", "", "nothing", []Status{unseen}},
		{"tree", "", "", "HEAD^{tree}", []Status{unseen}},
		{"range of one commit", "", "", "HEAD^!", two[:1]},
		{"annotated tag of a tag", "git tag -a -m x v1; git tag -a -m x v2 v1", "", "v2", two[:1]},
		{"tag of a tree", "git tag -a -m x v1 HEAD^{tree}", "", "v1", []Status{unseen}},
		{"range from a tag", "git tag -a -m x v1 HEAD~2", "", "v1..HEAD", two},
		{"range with a merge", "git checkout -q -b side HEAD~2; git commit -q --allow-empty -m person; git checkout -q main; git merge -q --no-edit side", "", "HEAD~3..HEAD", nil},
		{"range with an octopus", "for b in 1 2; do git checkout -q -b $b main~2; echo $b >$b; git add $b; git commit -q -m $b; done; git checkout -q main; git merge -q -m x 1 2", "", "main~3..main", nil},
		{"folder below", "mkdir -p x/y", "x/y", "HEAD", two[:1]},
		{"bare", "git clone -q --bare --mirror . bare.git", "bare.git", "HEAD~2..HEAD", two},
		{"worktree", "git worktree add -q --detach w", "w", "HEAD~2..HEAD", two},
		{"worktree of a bare one", "git clone -q --bare --mirror . bare.git; git -C bare.git worktree add -q --detach ../w", "w", "HEAD", two[:1]},
		{"no repository", "mkdir x; echo 'gitdir: nowhere' >x/.git", "x", "HEAD", []Status{unseen}},
		{"no commit", "git init -q x", "x", "HEAD", []Status{unseen}},
		{"no notes", "git clone -q . x", "x", "HEAD~2..HEAD", []Status{Nothing, Nothing}},
		{"shallow by one", `git clone -q --depth 1 "file://$PWD" x; git -C x fetch -q origin refs/notes/relay:refs/notes/relay`, "x", "HEAD", []Status{Nothing}},
		{"shallow, range", `git clone -q --depth 1 "file://$PWD" x; git -C x fetch -q origin refs/notes/relay:refs/notes/relay`, "x", "HEAD~2..HEAD", []Status{unseen}},
		{"shallow at both ends", `git checkout -q -b side HEAD~2; for i in 1 2; do git commit -q --allow-empty -m $i; done; git clone -q --depth 1 "file://$PWD" x; git -C x fetch -q --depth 1 origin main:main`, "x", "main..HEAD", []Status{unseen}},
		{"deep enough", `git clone -q --depth 3 "file://$PWD" x; git -C x fetch -q origin refs/notes/relay:refs/notes/relay`, "x", "HEAD~2..HEAD", two},
		{"without files", partial("blob:none") + "; " + readNotes, "x", "HEAD", two[:1]},
		{"without files, the notes among them", partial("blob:none"), "x", "HEAD", []Status{unseen}},
		{"without trees", partial("tree:0") + "; " + readNotes, "x", "HEAD", []Status{unseen}},
		{"grafts", "mkdir -p .git/info; echo $(git rev-parse HEAD HEAD~2) >.git/info/grafts", "", "HEAD~2..HEAD", two},
		{"grafted away", "mkdir -p .git/info; git rev-parse HEAD >.git/info/grafts", "", "HEAD~2..HEAD", two},
		{"replaced tree", "git replace HEAD^{tree} HEAD~2^{tree}", "", "HEAD", two[:1]},
		{"replaced note", "git replace $(git ls-tree -r refs/notes/relay | head -1 | cut -c13-52) $(echo x | git hash-object -w --stdin)", "", "HEAD~2..HEAD", two},
		{"replaced parent", "git replace --graft HEAD HEAD~2", "", "HEAD~2..HEAD", two},
		{"replaced by what landed", "git commit -q --amend -m x; git replace HEAD HEAD@{1}", "", "HEAD", []Status{Nothing}},
		{"notes are a tree", "git update-ref refs/notes/relay refs/notes/relay^{tree}", "", "HEAD", two[:1]},
		{"notes are a tag", "git tag -a -m x n refs/notes/relay; git update-ref refs/notes/relay refs/tags/n", "", "HEAD", two[:1]},
		{"notes are a file", "git update-ref refs/notes/relay $(echo x | git hash-object -w --stdin)", "", "HEAD", []Status{unseen}},
		{"notes are rubbish", "echo rubbish >.git/refs/notes/relay", "", "HEAD", []Status{unseen}},
		{"notes are not there", "echo 1111111111111111111111111111111111111111 >.git/refs/notes/relay", "", "HEAD", []Status{unseen}},
		{"notes are nothing", ": >.git/refs/notes/relay", "", "HEAD", []Status{unseen}},
		{"notes are a link to nothing", "git symbolic-ref refs/notes/relay refs/notes/nowhere", "", "HEAD", []Status{unseen}},
		{"notes are a folder of none", "git update-ref -d refs/notes/relay; mkdir -p .git/refs/notes/relay", "", "HEAD", []Status{Nothing}},
		{"notes are a folder of refs", "git update-ref refs/notes/other refs/notes/relay; git update-ref -d refs/notes/relay; git update-ref refs/notes/relay/x refs/notes/other", "", "HEAD", []Status{unseen}},
		{"notes are elsewhere", "git update-ref refs/notes/other refs/notes/relay; git symbolic-ref refs/notes/relay refs/notes/other", "", "HEAD", two[:1]},
		{"notes of another tool", "git commit -q --allow-empty -m x; git notes --ref=relay add -m hi", "", "HEAD", []Status{Nothing}},
		{"merged notes", addToNote, "", "HEAD", []Status{Nothing}},
		{"note too large", "git commit -q --amend -m x; head -c 3000000 /dev/zero | git notes --ref=relay add -F -", "", "HEAD", []Status{Nothing}},
		{"damaged note", `for o in $(git ls-tree -r refs/notes/relay | cut -c13- | cut -f1); do f=.git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); chmod u+w $f; printf x >$f; done`, "", "HEAD", []Status{unseen}},
		{"lost note", loseNotes, "", "HEAD", []Status{unseen}},
		{"lost note of another commit", "git commit -q --allow-empty -m person;" + loseNotes, "", "HEAD", []Status{Nothing}},
		{"lost note that could be of its run", "git commit -q --amend -m \"$(git log -1 --format=%B) x\";" + loseNotes, "", "HEAD", []Status{unseen}},
		{"damaged tree", `o=$(git rev-parse HEAD^{tree}); f=.git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); chmod u+w $f; printf x >$f`, "", "HEAD", []Status{unseen}},
		{"damaged base", `o=$(git rev-parse HEAD~2); f=.git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); chmod u+w $f; printf x >$f`, "", "HEAD", []Status{Nothing}},
		{"settings", "git config diff.renames copies; git config diff.noprefix true; git config core.quotePath false; git config diff.orderFile x; git config diff.ignoreSubmodules all; git config core.abbrev 4; git config log.showSignature true; git config notes.rewriteRef refs/notes/relay", "", "HEAD~2..HEAD", two},
	} {
		for format, s := range ordered(made) {
			if format == "sha256" && i%4 != 1 {
				continue
			}
			t.Run(x.name+" "+format, func(t *testing.T) {
				s := states{t: t, dir: filepath.Join(t.TempDir(), "r"), signers: s.signers}
				s.sh(".", "cp -a '"+made[format].dir+"' '"+s.dir+"'")
				s.sh(s.dir, x.script)
				got := s.both(filepath.Join(s.dir, x.dir), x.what)
				if why := s.why; x.script == addToNote && !strings.Contains(why, "added to relay's note") {
					t.Error(why)
				}
				switch {
				case strings.HasPrefix(x.name, "range with"): // what people made is not covered
					if n := len(slices.DeleteFunc(slices.Clone(got), func(a Status) bool { return a != Verified })); n != 2 || slices.Contains(got, unseen) || len(got) < 4 {
						t.Errorf("%v", got)
					}
				case !slices.Equal(got, x.want):
					t.Errorf("%v, want %v", got, x.want)
				}
			})
		}
	}
}
