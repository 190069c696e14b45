package judge

import (
	"io/fs"
	"path"
	"strings"
)

// gitEffect is what a change inside the box's .git amounts to. That .git is thrown
// away in any case; the effect reports whether the builder did more than look.
type gitEffect uint8

const (
	gitNoise     gitEffect = iota // left by status, add, diff, or by making a commit
	gitCommitted                  // the branch that is checked out, or a HEAD without one, got another commit
	gitMoved                      // HEAD, another ref, a tag or a stash
	gitTampered                   // configuration, hooks, existing objects, everything else
)

// gitDir judges what was done inside .git.
func (j *trial) gitDir(t Touched) {
	module := "" // the folder whose files were told of
	for i := range t.Git {
		c := &t.Git[i]
		shown := path.Join(".git", c.Path)
		switch classifyGit(c, t.Branch) {
		case gitNoise:
		case gitCommitted:
			j.out.BuilderCommitted = true
			if b := j.policy.commits; b != SquashCommits && b != KeepCommits {
				j.breaks(StopHeadMoved, shown, "the builder committed, and builder_commits is not squash or keep")
			}
		case gitMoved:
			j.breaks(StopHeadMoved, shown, "HEAD, a branch, a tag or a stash was changed")
		default:
			if strings.HasPrefix(c.Path, "modules/") {
				if module != "" && strings.HasPrefix(c.Path, module+"/") {
					continue
				}
				module = path.Dir(c.Path) // as a rule a submodule's own: its HEAD and config come before its folders
				j.breaks(StopRunnerOwned, path.Join(".git", module), "git's own files may not be changed; a submodule moves where the scope names it, to a commit that it has here, and with nothing else changed in it")
				continue
			}
			j.breaks(StopRunnerOwned, shown, "git's own files may not be changed")
		}
	}
}

// nameSize and longNameSize are the sizes of a file that holds the name of an object, of
// SHA-1 and of SHA-256, and a line break.
const nameSize, longNameSize = int64(40 + 1), int64(64 + 1)

// leastPackedRef is the size of a file of packed refs that can hold one: an object's name,
// a space, the shortest name of a ref, a line break.
const leastPackedRef = nameSize + int64(1+len("refs/x"))

// classifyGit names the effect of one change. What it does not know is tampering.
func classifyGit(c *Change, branch string) gitEffect {
	if c.NewMode != 0 && !c.NewMode.IsRegular() && !c.NewMode.IsDir() || c.Kind == Special {
		return gitTampered
	}
	if c.Kind == Added && c.NewMode.IsDir() {
		return gitNoise
	}
	p := c.Path
	// A linked worktree keeps its own HEAD, index and logs in a folder like .git.
	if rest, ok := strings.CutPrefix(p, "worktrees/"); ok {
		if _, own, ok := strings.Cut(rest, "/"); ok {
			p = own
		}
	}
	first, rest, _ := strings.Cut(p, "/")
	if (first == "refs" || first == "HEAD" || first == "packed-refs") && sameAgain(c) {
		return gitNoise
	}
	switch first {
	case "index":
		return noiseIf(rest == "" && rewritten(c))
	case "index.lock", "ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "AUTO_MERGE":
		return noiseIf(rest == "" && !c.NewMode.IsDir())
	case "logs":
		return gitNoise
	case "opencode":
		// The agent OpenCode's id of the project, which it writes when it starts; git reads no such file.
		return noiseIf(rest == "" && (c.Kind == Added && c.NewMode.IsRegular() || rewritten(c)))
	case "objects":
		// An object that exists never changes; a new one is not reachable from outside.
		return noiseIf(c.Kind == Added && rest != "info" && !strings.HasPrefix(rest, "info/"))
	case "lfs":
		// What git-lfs stores of a file that is added, under the name of its own hash.
		return noiseIf(c.Kind == Added && (strings.HasPrefix(rest, "objects/") || strings.HasPrefix(rest, "tmp/")))
	case "modules":
		// A status of the repository refreshes the index of each submodule; a fetch looks
		// into them too.
		name, ref := path.Base(rest), strings.Contains(rest, "/refs/")
		return noiseIf(!ref && (name == "index" && rewritten(c) || name == "index.lock" || name == "FETCH_HEAD" && !c.NewMode.IsDir()))
	case "refs":
		if p == "refs/heads/"+branch && branch != "" && (c.Kind == Added || c.Kind == Modified) {
			return gitCommitted
		}
		return gitMoved
	case "packed-refs":
		// Deleting a branch that was never packed leaves one with a header alone.
		if c.Kind == Added && rest == "" && c.Size < leastPackedRef {
			return gitNoise
		}
		return gitMoved
	case "HEAD":
		if branch == "" && rest == "" && rewritten(c) && (c.Size == nameSize || c.Size == longNameSize) {
			return gitCommitted // a name of an object, and not of a branch
		}
		return gitMoved
	case "reftable":
		return gitMoved
	}
	return noiseIf(strings.HasPrefix(first, "sharedindex.") && rest == "")
}

// gitDirInside gives the git directory, of a repository inside the work tree, that a path lies
// in; the path itself where there is none.
func gitDirInside(path string) string {
	for i := strings.IndexByte(path, '/') + 1; i > 0; {
		part, _, below := strings.Cut(path[i:], "/")
		if !below {
			break
		}
		if looksLikeDotGit(part) {
			return path[:i+len(part)]
		}
		i += len(part) + 1
	}
	return path
}

// nestedIndex reports whether git only looked at a repository inside the work tree, one of
// its own or a submodule of the old kind: a status of the one around it refreshes its
// index too. It is thrown away like that of the one around it.
func nestedIndex(c *Change) bool {
	return strings.HasSuffix(c.Path, "/.git/index") && rewritten(c)
}

// nested reports whether a path that is thrown away would have a lawful name but for the
// git directory of a repository that it belongs to: build tools check out what they need
// among their output.
func (j *trial) nested(c *Change) bool {
	if !c.Ignored || j.wanted(c) || !discardable(c) {
		return false
	}
	dir, rest, ok := strings.Cut(c.Path, "/.git")
	return ok && HostileName(dir) == "" && (rest == "" || rest[0] == '/' && HostileName(rest[1:]) == "")
}

// rewritten reports whether a file still is a file.
func rewritten(c *Change) bool {
	return (c.Kind == Modified || c.Kind == ModeOnly) && c.NewMode.IsRegular() && c.OldMode&fs.ModeType == 0
}

// sameAgain reports whether git wrote what a file held before, as after a commit that was
// taken back: the permissions are then what umask and core.sharedRepository make them.
func sameAgain(c *Change) bool {
	return c.Kind == ModeOnly && rewritten(c) && c.NewMode&special == 0 && c.NewMode&0o600 == 0o600
}

func noiseIf(ok bool) gitEffect {
	if ok {
		return gitNoise
	}
	return gitTampered
}
