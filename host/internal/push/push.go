package push

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Target is where a branch goes.
type Target struct {
	Remote string // the name of a remote, such as origin
	Branch string // there
}

// String gives "origin/main".
func (t Target) String() string { return t.Remote + "/" + t.Branch }

// Result is what a push did.
type Result struct {
	Target Target
	Commit string // that the remote's branch is at now
	Was    string // before; "" when there was no such branch
}

// limit is how long one talk with a remote may last.
const limit = 5 * time.Minute

// To names where to push: branch "" is the branch that is checked out.
func To(ctx context.Context, git *git.Repo, remote, branch string) (Target, error) {
	t := Target{remote, branch}
	if branch == "" {
		_, at, err := git.Head(ctx)
		if err != nil {
			return t, err
		}
		if t.Branch = at; at == "" {
			return t, diag.New(judge.BlockedMissingConfig, "it is not clear to which branch to push", "HEAD is detached, and pipeline.push.branch names no branch", "`git switch BRANCH`")
		}
	}
	if _, err := git.Run(ctx, nil, "check-ref-format", "refs/heads/"+t.Branch); err != nil {
		return t, diag.New(judge.BlockedMissingConfig, fmt.Sprintf("%q is not a valid branch name", t.Branch), "git does not take it", "`relay config show pipeline`")
	}
	if _, err := git.Run(ctx, nil, "remote", "get-url", "--push", "--", remote); err != nil {
		return t, diag.New(judge.BlockedMissingConfig, fmt.Sprintf("there is no remote %q", remote), "git has no remote of that name", "`git remote -v` shows those that there are; pipeline.push.remote names the one to push to")
	}
	return t, nil
}

// Check looks whether a push of a commit could go ahead: the remote answers, and its
// branch has nothing that the commit has not.
func Check(ctx context.Context, git *git.Repo, t Target, commit string) error {
	_, _, err := look(ctx, git, t, commit)
	return err
}

// Push brings the target's branch to a commit. When it is there already nothing is
// done.
func Push(ctx context.Context, git *git.Repo, t Target, commit string) (Result, error) {
	was, there, err := look(ctx, git, t, commit)
	if err != nil || there {
		return Result{t, commit, was}, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := git.Talk(ctx, []string{"push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no"}, t.Remote, commit+":refs/heads/"+t.Branch)
	if err == nil {
		return Result{t, commit, was}, nil
	}
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "!") {
			continue
		}
		why := strings.TrimSpace(line[strings.LastIndex(line, "\t")+1:])
		if strings.Contains(why, "fetch first") || strings.Contains(why, "non-fast-forward") {
			return Result{}, diverged(t, "somebody pushed there at the same moment")
		}
		return Result{}, &diag.Error{Code: judge.BlockedMissingConfig, What: t.String() + " does not accept the push", Why: join(why, said(err)),
			Fix: "`git push " + diag.Word(t.Remote) + " " + diag.Word(commit+":refs/heads/"+t.Branch) + "` once the reason is gone", Err: err}
	}
	return Result{}, unreached(ctx, t, err)
}

// Ref brings a ref of the same name to the remote, and never forces. Where there is none
// here nothing is done.
func Ref(ctx context.Context, git *git.Repo, t Target, ref string) error {
	out, err := git.Run(ctx, nil, "for-each-ref", "--format=%(objectname)", ref)
	if err != nil || len(out) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if _, err = git.Talk(ctx, []string{"push", "--porcelain", "--no-follow-tags", "--recurse-submodules=no"}, t.Remote, ref+":"+ref); err == nil {
		return nil
	}
	return &diag.Error{Code: judge.BlockedMissingConfig, What: t.Remote + " does not take " + ref, Why: said(err),
		Fix: "`git fetch " + diag.Word(t.Remote) + " " + ref + ":refs/notes/theirs` and `git notes --ref=" + ref + " merge refs/notes/theirs` where somebody else has pushed notes", Err: err}
}

// look gives the commit that the remote's branch is at, "" when there is no such branch, and
// whether it has the commit. It is an error when neither has all of the other.
func look(ctx context.Context, git *git.Repo, t Target, commit string) (tip string, there bool, err error) {
	talk, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := git.Talk(talk, []string{"ls-remote"}, t.Remote, "refs/heads/"+t.Branch)
	if err != nil {
		return "", false, unreached(talk, t, err)
	}
	for line := range strings.Lines(string(out)) {
		if at, ref, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && ref == "refs/heads/"+t.Branch {
			tip = at
		}
	}
	within := func(a, b string) bool {
		_, err = git.Run(ctx, nil, "merge-base", "--is-ancestor", a, b)
		return err == nil
	}
	switch {
	case tip == "" || within(tip, commit):
		return tip, tip == commit, nil
	case within(commit, tip): // the operator has pushed it himself, with what he has put on top
		return tip, true, nil
	case ctx.Err() != nil:
		return "", false, err
	}
	return "", false, diverged(t, fmt.Sprintf("its tip %.12s is not part of what is to be pushed", tip))
}

func diverged(t Target, why string) error {
	return diag.New(judge.StopHeadMoved, t.String()+" has diverged", why+"; nothing was pushed, and relay never forces",
		"`git pull --no-rebase --no-edit --autostash "+diag.Word(t.Remote)+" "+diag.Word(t.Branch)+"`, then push again")
}

func unreached(ctx context.Context, t Target, err error) error {
	why := said(err)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = fmt.Sprintf("there was no answer within %s", limit)
	}
	if g, ok := errors.AsType[*git.Error](err); ok && g.Kind == git.OwnProgram {
		fix := "`git config --show-origin --get-all " + diag.Word(g.Setting) + "` shows where it is set; name a program outside of the work tree there"
		if strings.HasPrefix(g.Setting, "GIT_") {
			fix = "`unset " + g.Setting + "`, or name a program outside of the work tree in it"
		}
		return &diag.Error{Code: judge.BlockedMissingConfig, What: "the remote " + t.Remote + " is reached by a program of the work tree", Why: why, Fix: fix, Err: err}
	}
	return &diag.Error{Code: judge.BlockedMissingConfig, What: "the remote " + t.Remote + " can't be reached", Why: why,
		Fix: "`git ls-remote " + diag.Word(t.Remote) + "` has to work without being asked anything", Err: err}
}

// login is a name or password in an address.
var login = regexp.MustCompile(`://[^/@\s]+@`)

// said gives git's words on one line, without logins.
func said(err error) string {
	text := err.Error()
	if g, ok := errors.AsType[*git.Error](err); ok && g.Stderr != "" {
		text = g.Stderr
	}
	return login.ReplaceAllString(strings.Join(strings.Fields(text), " "), "://…@")
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ": " + b
}
