package judge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Git calls git on one untouched repository so that nothing configured there or by
// the user runs or writes on the way: no hook, no fsmonitor, no pager, no prompt,
// no network. Filters that the user configured (LFS) do run, since without them a
// clean tree looks dirty. Any failing call is an error, never an empty answer.
type Git struct {
	// Root is the top of the work tree, links resolved.
	Root string
	// GitDir is the git directory of this work tree; CommonDir is where refs and
	// objects are. They differ in a linked worktree.
	GitDir, CommonDir string
	// ObjectFormat is "sha1" or "sha256".
	ObjectFormat string
	hold         *os.File // see Holding
}

// Holding is the same repository, of which every git that is called to write, and what it starts,
// has f open: who finds a lock on f taken knows that one of them still is at work.
func (g *Git) Holding(f *os.File) *Git {
	out := *g
	out.hold = f
	return &out
}

// StatusEntry is one line of git status: index and work tree state, and the path.
type StatusEntry struct {
	Index, Work byte // as in "git status --porcelain": ' ', M, T, A, D, U, ?
	Path        string
}

// gitSettings switch off what a repository's or user's configuration could make
// git execute, write or fetch. protocol.allow stops a promisor remote from being
// asked for missing objects, which would run core.sshCommand.
var gitSettings = []string{
	"core.fsmonitor=false",
	"core.hooksPath=/dev/null",
	"core.pager=cat",
	"color.ui=false",
	"status.showUntrackedFiles=all",
	"submodule.recurse=false",
	noProtocol,
	"gc.auto=0",
	"maintenance.auto=false",
}

// noProtocol keeps git from talking to anybody.
const noProtocol = "protocol.allow=never"

// ways are the variables by which a user says how git reaches a remote.
var ways = []string{"GIT_SSH=", "GIT_SSH_COMMAND=", "GIT_SSH_VARIANT=", "GIT_ASKPASS=", "GIT_PROXY_COMMAND=", "GIT_SSL_"}

// settings are the variables by which a user configures git: as good as a .gitconfig in
// the home, and weaker than what gitSettings say.
var settings = []string{"GIT_CONFIG_GLOBAL=", "GIT_CONFIG_SYSTEM=", "GIT_CONFIG_NOSYSTEM=", "GIT_CONFIG_COUNT=", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"}

// maxGitOutput bounds what one call may print; 1 million paths are about 100 MB.
const maxGitOutput = 256 << 20

// OpenGit finds the repository that dir lies in. Errors are *GitError.
func OpenGit(ctx context.Context, dir string) (*Git, error) {
	// The answers that exist in a bare repository come first: the last question
	// fails there, and what was printed before says why.
	out, err := gitCall{dir: dir}.run(ctx, nil, "rev-parse", "--path-format=absolute",
		"--is-bare-repository", "--absolute-git-dir", "--git-common-dir", "--show-object-format", "--show-toplevel")
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil {
		if fail, ok := errors.AsType[*GitError](err); ok && answers[0] == "true" {
			fail.Kind = GitBare
		}
		return nil, err
	}
	if len(answers) != 5 {
		return nil, &GitError{Kind: GitFailed, Dir: dir, Stderr: "the repository's path contains a line break"}
	}
	return &Git{Root: answers[4], GitDir: answers[1], CommonDir: answers[2], ObjectFormat: answers[3]}, nil
}

// Outside are the git directories that do not lie in Root: what box.Spec.GitDirs needs.
func (g *Git) Outside() []string {
	var out []string
	for _, dir := range []string{g.CommonDir, g.GitDir} {
		inside := within(dir, g.Root)
		for _, have := range out {
			inside = inside || within(dir, have)
		}
		if !inside {
			out = append(out, dir)
		}
	}
	return out
}

// Run calls git for reading, with the work tree's root as the current directory.
// stdin may be nil. Errors are *GitError.
func (g *Git) Run(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	return gitCall{dir: g.Root, root: g.Root}.run(ctx, stdin, args...)
}

// Write calls git for changing the repository: still no hook and no fsmonitor, but
// locks are taken. env is added last, for example GIT_INDEX_FILE.
func (g *Git) Write(ctx context.Context, env []string, stdin io.Reader, args ...string) ([]byte, error) {
	return gitCall{dir: g.Root, root: g.Root, write: true, env: env, hold: g.hold}.run(ctx, stdin, args...)
}

// Talk calls git for talking to a remote, in the user's own way: the protocols, the
// logins and the programs for them that the user configured hold. Still no hook runs,
// and nobody is asked anything.
func (g *Git) Talk(ctx context.Context, args ...string) ([]byte, error) {
	return gitCall{dir: g.Root, root: g.Root, write: true, talk: true}.run(ctx, nil, args...)
}

// Head gives the commit that HEAD names and the branch, "" when detached. An unborn
// branch is a *GitError of kind GitNoCommits.
func (g *Git) Head(ctx context.Context) (commit, branch string, err error) {
	out, err := g.Run(ctx, nil, "rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
	if err != nil {
		if fail, ok := errors.AsType[*GitError](err); ok && strings.Contains(fail.Stderr, "unknown revision") {
			fail.Kind = GitNoCommits
		}
		return "", "", err
	}
	commit, ref, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	branch, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok {
		branch = ""
	}
	return commit, branch, nil
}

// Status gives everything that differs from HEAD: staged, unstaged and untracked,
// submodules included, ignored files not. It is the one call that scans the tree.
func (g *Git) Status(ctx context.Context) ([]StatusEntry, error) {
	out, err := g.Run(ctx, nil, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none")
	if err != nil {
		return nil, err
	}
	var entries []StatusEntry
	for line := range strings.SplitSeq(string(out), "\x00") {
		if line == "" {
			continue
		}
		if len(line) < 4 || line[2] != ' ' {
			return nil, &GitError{Kind: GitFailed, Dir: g.Root, Args: []string{"status"}, Stderr: fmt.Sprintf("unexpected line %q", line)}
		}
		entries = append(entries, StatusEntry{Index: line[0], Work: line[1], Path: line[3:]})
	}
	return entries, nil
}

// gitCall is one call of git: where, under which profile, with what in addition.
type gitCall struct {
	dir   string
	root  string // "" while it is not known yet
	write bool
	talk  bool // to a remote
	env   []string
	hold  *os.File
}

func (c gitCall) run(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	argv := []string{"-C", c.dir, "-c", "core.untrackedCache=" + map[bool]string{true: "keep", false: "false"}[c.write]}
	for _, setting := range gitSettings {
		if !c.talk || setting != noProtocol {
			argv = append(argv, "-c", setting)
		}
	}
	cmd := exec.CommandContext(ctx, "git", append(argv, args...)...)
	cmd.Env = c.environ()
	cmd.Stdin = stdin
	if c.hold != nil {
		cmd.ExtraFiles = []*os.File{c.hold}
	}
	cmd.WaitDelay = 2 * time.Second // a filter may have left a child that holds the pipe
	if c.talk {
		alone(cmd)
	}
	stdout, stderr := &bounded{max: maxGitOutput}, &bounded{max: 4 << 10, drop: true}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	if err == nil {
		return stdout.buf.Bytes(), nil
	}
	fail := &GitError{Dir: c.dir, Args: args, Exit: -1, Stderr: strings.TrimSpace(stderr.buf.String()), Err: err}
	if ctx.Err() != nil {
		fail.Err = ctx.Err()
	} else if cmd.ProcessState != nil {
		fail.Exit = cmd.ProcessState.ExitCode()
	}
	fail.Kind = fail.classify()
	return stdout.buf.Bytes(), fail
}

// alone gives a call a session of its own: without a terminal no program of it can ask
// anybody, and they all end together.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// environ is the caller's environment without anything that redirects git. HOME and
// what stands for a file in it stay: the user's own excludes and identity count.
func (c gitCall) environ() []string {
	env := []string{"GIT_NO_REPLACE_OBJECTS=1", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ATTR_NOSYSTEM=1", "LC_ALL=C"}
	if !c.write {
		env = append(env, "GIT_OPTIONAL_LOCKS=0")
	}
	if c.root != "" {
		env = append(env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(c.root))
	}
	for _, e := range os.Environ() {
		begins := func(prefix string) bool { return strings.HasPrefix(e, prefix) }
		if c.talk && slices.ContainsFunc(ways, begins) || slices.ContainsFunc(settings, begins) {
			env = append(env, e)
		}
		if !strings.HasPrefix(e, "GIT_") && !strings.HasPrefix(e, "LC_ALL=") && !strings.HasPrefix(e, "LANGUAGE=") {
			env = append(env, e)
		}
	}
	return append(env, c.env...)
}

// within says that path is dir or lies below it; both are clean and absolute.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// bounded keeps the first max bytes; more is an error, or dropped.
type bounded struct {
	buf  bytes.Buffer // not embedded: its ReadFrom would go round the bound
	max  int
	drop bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.max - b.buf.Len()
	if len(p) <= room {
		return b.buf.Write(p)
	}
	if !b.drop {
		return 0, errors.New("git printed more than relay accepts")
	}
	b.buf.Write(p[:room])
	return len(p), nil
}
