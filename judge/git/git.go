package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/judge/program"
)

// Git calls git on one untouched repository so that nothing configured there or by
// the user runs or writes on the way: no filter, no hook, no fsmonitor, no pager, no
// prompt, no network. Only [Git.Talk] starts what the user configured. What has to be
// filtered by a program of the user's (LFS) is for the caller to do, in a box. Any failing
// call is an error, never an empty answer.
type Repo struct {
	// Root is the top of the work tree, links resolved.
	Root string
	// GitDir is the git directory of this work tree; CommonDir is where refs and
	// objects are. They differ in a linked worktree.
	GitDir, CommonDir string
	// ObjectFormat is "sha1" or "sha256".
	ObjectFormat string
	// Decide says which of the files that a filter of the user's stands for, and that
	// look changed without it, are what git has. nil: all of them are changed.
	Decide func(ctx context.Context, g *Repo, paths []string) (same map[string]bool, err error)
	exe    program.Program
	config config
	hold   *os.File // see Holding
	at     []string // see At
}

// At is the same repository with another work tree and index, such as relay keeps of a
// commit.
func (g *Repo) At(tree, index string) *Repo {
	out := *g
	out.Root, out.at = tree, []string{"GIT_DIR=" + g.GitDir, "GIT_WORK_TREE=" + tree, "GIT_INDEX_FILE=" + index}
	return &out
}

// Holding is the same repository, of which every git that is called to write, and what it starts,
// has f open: who finds a lock on f taken knows that one of them still is at work.
func (g *Repo) Holding(f *os.File) *Repo {
	out := *g
	out.hold = f
	return &out
}

// ownSettings switch off what a repository's or user's configuration could make
// git execute, write or fetch, and the encodings of what it prints. protocol.allow stops a promisor remote from being
// asked for missing objects, which would run core.sshCommand.
var ownSettings = []string{
	"core.fsmonitor=false",
	"core.hooksPath=/dev/null",
	"core.pager=cat",
	"color.ui=false",
	"i18n.commitEncoding=UTF-8",
	"i18n.logOutputEncoding=UTF-8",
	"status.showUntrackedFiles=all",
	"submodule.recurse=false",
	noProtocol,
	"gc.auto=0",
	"maintenance.auto=false",
}

// noProtocol keeps git from talking to anybody.
const noProtocol = "protocol.allow=never"

// settings are the variables by which a user configures git: as good as a .gitconfig in
// the home, and weaker than what ownSettings say.
var settings = []string{"GIT_CONFIG_GLOBAL=", "GIT_CONFIG_SYSTEM=", "GIT_CONFIG_NOSYSTEM=", "GIT_CONFIG_COUNT=", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"}

// maxOutput bounds what one call may print; 1 million paths are about 100 MB.
const maxOutput = 256 << 20

// limit ends a git that hangs, where the caller has no limit of its own.
const limit = 10 * time.Minute

// Open finds the repository that dir lies in. Errors are *Error.
func Open(ctx context.Context, dir string) (*Repo, error) {
	g, err := OpenCommits(ctx, dir)
	if err == nil && g.Root == g.GitDir {
		return nil, &Error{Kind: Bare, Dir: dir}
	}
	return g, err
}

// OpenCommits is Open for callers that read commits and no files: a bare repository, whose Root
// is the git directory, will do.
func OpenCommits(ctx context.Context, dir string) (*Repo, error) {
	g := &Repo{Root: program.Tree(dir)}
	if err := g.find(dir); err != nil {
		return nil, err
	}
	// The answers that exist in a bare repository come first: the last question fails there.
	out, err := call{g: g, dir: dir}.run(ctx, nil, "rev-parse", "--path-format=absolute",
		"--is-bare-repository", "--absolute-git-dir", "--git-common-dir", "--show-object-format", "--show-toplevel")
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if answers[0] == "true" && len(answers) == 4 {
		answers, err = append(answers, answers[1]), nil
	}
	if err != nil {
		return nil, err
	}
	switch {
	case len(answers) < 5 || !strings.HasSuffix(string(out), "\n"):
		return nil, &Error{Kind: Failed, Dir: dir, Args: []string{"rev-parse"}, Stderr: "the answer is cut off"}
	case len(answers) > 5:
		return nil, &Error{Kind: Failed, Dir: dir, Stderr: "the repository's path contains a line break"}
	}
	g.Root, g.GitDir, g.CommonDir, g.ObjectFormat = answers[4], answers[1], answers[2], answers[3]
	if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(real) && !within(real, g.Root) {
		return nil, &Error{Kind: Elsewhere, Dir: dir, Stderr: "core.worktree leads to " + g.Root}
	}
	if err := g.find(dir); err != nil { // now that all the places are known where it must not lie
		return nil, err
	}
	return g, g.readConfig(ctx)
}

// find looks the program git up, once.
func (g *Repo) find(dir string) (err error) {
	if g.exe, err = program.Find("git", os.Getenv("PATH"), g.trees()...); err != nil {
		kind := Missing
		if left := program.Left("git", os.Getenv("PATH"), g.trees()...); left != "" {
			kind, err = Inside, fmt.Errorf("%q: %w", left, program.ErrInside)
		}
		return &Error{Kind: kind, Dir: dir, Exit: -1, Err: err}
	}
	return nil
}

// Outside are the git directories that do not lie in Root: what box.Spec.GitDirs needs.
func (g *Repo) Outside() []string {
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

// Main is the work tree that the repository was made with, where Root is another one of it;
// "" where there is none.
func (g *Repo) Main() string {
	main := filepath.Dir(g.CommonDir)
	if filepath.Base(g.CommonDir) != ".git" || main == g.Root {
		return ""
	}
	return main
}

// Run calls git for reading, with the work tree's root as the current directory.
// stdin may be nil. Errors are *Error.
func (g *Repo) Run(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	return call{g: g, dir: g.Root}.run(ctx, stdin, args...)
}

// Write calls git for changing the repository: still no hook and no fsmonitor, but
// locks are taken. env is added last, for example GIT_INDEX_FILE.
func (g *Repo) Write(ctx context.Context, env []string, stdin io.Reader, args ...string) ([]byte, error) {
	return call{g: g, dir: g.Root, write: true, env: env}.run(ctx, stdin, args...)
}

// Head gives the commit that HEAD names and the branch, "" when detached. An unborn
// branch is a *Error of kind NoCommits.
func (g *Repo) Head(ctx context.Context) (commit, branch string, err error) {
	out, err := g.Run(ctx, nil, "rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
	if err != nil {
		if fail, ok := errors.AsType[*Error](err); ok && strings.Contains(fail.Stderr, "unknown revision") {
			fail.Kind = NoCommits
		}
		return "", "", err
	}
	answers := strings.Split(string(out), "\n")
	if len(answers) != 3 || answers[2] != "" {
		return "", "", &Error{Kind: Failed, Dir: g.Root, Args: []string{"rev-parse"}, Stderr: "the answer is cut off"}
	}
	commit = answers[0]
	if name, ok := strings.CutPrefix(answers[1], "refs/heads/"); ok {
		branch = name
	}
	return commit, branch, nil
}

// call is one call of git: where, under which profile, with what in addition.
type call struct {
	g     *Repo
	dir   string
	write bool
	talk  bool // to a remote, from /
	env   []string
	set   []setting // for a talk
}

func (c call) run(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	argv := []string{"-C", c.dir, "-c", "core.untrackedCache=" + map[bool]string{true: "keep", false: "false"}[c.write]}
	for _, setting := range ownSettings {
		if !c.talk || setting != noProtocol {
			argv = append(argv, "-c", setting)
		}
	}
	if err := c.g.exe.Same(); err != nil {
		return nil, &Error{Kind: Failed, Dir: c.dir, Args: args, Exit: -1, Err: err}
	}
	cmd := c.g.exe.Start(ctx, append(argv, args...)...)
	cmd.Env = c.environ()
	cmd.Stdin = stdin
	if c.write && c.g.hold != nil {
		cmd.ExtraFiles = []*os.File{c.g.hold}
	}
	cmd.WaitDelay = 2 * time.Second // what a push has started may hold the pipe
	if c.talk {
		alone(cmd)
	}
	stdout, stderr := &bounded{max: maxOutput}, &bounded{max: 4 << 10, drop: true}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	if err == nil && !whole(stdout.buf.Bytes(), args) {
		return nil, &Error{Kind: Failed, Dir: c.dir, Args: args, Stderr: "the answer is cut off"}
	}
	if err == nil {
		return stdout.buf.Bytes(), nil
	}
	fail := &Error{Dir: c.dir, Args: args, Exit: -1, Stderr: strings.TrimSpace(stderr.buf.String()), Err: err}
	if ctx.Err() != nil {
		fail.Err = ctx.Err()
	} else if cmd.ProcessState != nil {
		fail.Exit = cmd.ProcessState.ExitCode()
	}
	fail.Kind = fail.classify()
	return stdout.buf.Bytes(), fail
}

// environ is the caller's environment without anything that redirects git, or makes it
// write elsewhere or start something. HOME and what stands for a file in it stay: the
// user's own excludes and identity count.
func (c call) environ() []string {
	env := []string{"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=/dev/null/none", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ATTR_NOSYSTEM=1", "LC_ALL=C",
		"GIT_TRACE2=0", "GIT_TRACE2_PERF=0", "GIT_TRACE2_EVENT=0", // -c does not override those
		"GIT_PAGER=cat", "GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:"}
	if !c.write {
		env = append(env, "GIT_OPTIONAL_LOCKS=0")
	}
	if !c.talk {
		env = append(env, "GIT_ALLOW_PROTOCOL=none") // stronger than what is configured for a single one
	}
	if c.g.CommonDir != "" {
		env = append(env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(c.g.Root))
	}
	for _, e := range program.Environ(os.Environ(), c.g.trees()...) {
		begins := func(prefix string) bool { return strings.HasPrefix(e, prefix) }
		if c.talk && slices.ContainsFunc(ways, begins) || slices.ContainsFunc(settings, begins) {
			env = append(env, e)
		}
		if !strings.HasPrefix(e, "GIT_") && !strings.HasPrefix(e, "LC_ALL=") && !strings.HasPrefix(e, "LANGUAGE=") {
			env = append(env, e)
		}
	}
	off := c.g.config.off
	if c.talk {
		env, off = append(c.g.away(env), "PWD=/", "GIT_DIR="+c.g.GitDir), slices.Concat(c.g.config.idle, c.set)
	}
	env = overridden(env, off)
	return append(append(env, c.g.at...), c.env...)
}

// List gives the names that a commit has below some paths ("./a/"): with all, those of every
// file, otherwise those directly there.
func (g *Repo) List(ctx context.Context, commit string, all bool, paths []string) ([]string, error) {
	how := "-t"
	if all {
		how = "-r"
	}
	out, err := g.Run(ctx, nil, append([]string{"ls-tree", "-z", how, "--name-only", "--full-tree", commit}, paths...)...)
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 }), err
}

// Holds reports whether a file of a commit holds the text. Git gets it on its standard
// input: a command line can be read by everybody on the machine.
func (g *Repo) Holds(ctx context.Context, commit, text string) (bool, error) {
	if strings.ContainsAny(text, "\n\x00") { // git would look for each line by itself
		return false, nil
	}
	_, err := g.Run(ctx, strings.NewReader(text), "grep", "--quiet", "--no-textconv", "--fixed-strings", "-f", "-", commit)
	var fail *Error
	if errors.As(err, &fail) && ctx.Err() == nil { // none, or a partial clone without some of its files
		return false, nil
	}
	return err == nil, err
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

// whole says that the last part of an answer has its end; a file that git shows, and a pack, need none.
func whole(out []byte, args []string) bool {
	return len(out) == 0 || out[len(out)-1] == '\n' || out[len(out)-1] == 0 || slices.ContainsFunc(args, func(arg string) bool { return arg == "cat-file" || arg == "show" || arg == "pack-objects" })
}
