package program

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Program is a file that was found. The zero Program is none.
type Program struct {
	Path string // absolute, without links
	// Name is the absolute path by which it was found: some programs are many, and go by
	// their name.
	Name string
	seen os.FileInfo
}

// ErrInside says that a program lies in a work tree, where a builder's change may land.
var ErrInside = errors.New("it lies in the work tree, where a change can replace it")

// Find looks a program up that is started on the host. A name with a slash must be
// absolute; any other is searched along path, the value of a PATH, as [Clean] leaves it.
// trees are folders in which no program is found, nor the interpreter of one. The error
// wraps exec.ErrNotFound or [ErrInside].
func Find(name, path string, trees ...string) (Program, error) {
	p, err := FindBoxed(name, path, trees...)
	if err != nil {
		return p, err
	}
	if word := Named(append([]string{p.Path}, Interpreter(p.Path)...), "/", trees...); word != "" {
		return Program{}, fmt.Errorf("%q begins with %q: %w", p.Name, word, ErrInside)
	}
	return p, nil
}

// FindBoxed is Find for a program that is started in a box, where an interpreter of the
// work tree is as good as any.
func FindBoxed(name, path string, trees ...string) (Program, error) {
	trees = resolved(trees)
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			return Program{}, fmt.Errorf("%q: %w: a path must be absolute", name, exec.ErrNotFound)
		}
		return open(name, trees)
	}
	for _, dir := range filepath.SplitList(Clean(path, trees...)) {
		if p, err := open(filepath.Join(dir, name), trees); err == nil {
			return p, nil
		}
	}
	return Program{}, fmt.Errorf("%q: %w", name, exec.ErrNotFound)
}

func open(name string, trees []string) (Program, error) {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return Program{}, fmt.Errorf("%q: %w", name, exec.ErrNotFound)
	}
	fi, err := os.Stat(real)
	if err != nil || !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 {
		return Program{}, fmt.Errorf("%q: %w", name, exec.ErrNotFound)
	}
	// The name, too: a link in the work tree can be made to lead elsewhere.
	if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err != nil || below(real, trees) || below(dir, trees) || below(name, trees) {
		return Program{}, fmt.Errorf("%q: %w", name, ErrInside)
	}
	return Program{real, name, fi}, nil
}

// Interpreter is what a script's first line names, which the kernel starts in its place;
// nil for another file.
func Interpreter(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n') // as much as the kernel reads
	if line, ok := strings.CutPrefix(line, "#!"); ok {
		return strings.Fields(line)
	}
	return nil
}

// Start is a command that starts the program when it is run, with these arguments.
func (p Program) Start(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Args[0] = p.Name
	return cmd
}

// Same is an error when the file is not the one that was found any more.
func (p Program) Same() error {
	now, err := os.Lstat(p.Path)
	if err != nil {
		return err
	}
	if p.seen == nil || !os.SameFile(p.seen, now) || now.Size() != p.seen.Size() || !now.ModTime().Equal(p.seen.ModTime()) || now.Mode() != p.seen.Mode() {
		return &fs.PathError{Op: "start", Path: p.Path, Err: errors.New("the program was replaced since it was found")}
	}
	return nil
}

// Clean takes the folders out of a PATH that are relative, empty or lie in one of the
// trees.
func Clean(path string, trees ...string) string {
	trees = resolved(trees)
	var out []string
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) || below(dir, trees) {
			continue
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil && below(real, trees) {
			continue
		}
		out = append(out, dir)
	}
	return strings.Join(out, string(filepath.ListSeparator))
}

// Left is the file that a name would be found as along path, were relative folders and
// those in the trees not taken out; "" for none.
func Left(name, path string, trees ...string) string {
	root := ""
	if len(trees) > 0 {
		root = trees[0]
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		if p, err := open(filepath.Join(dir, name), nil); err == nil && Clean(path, trees...) != path {
			return p.Name
		}
	}
	return ""
}

// Named gives the first argument of a command, but for the program itself, that names a
// file in one of the trees, "" when there is none; dir is where it will run. An argument of
// several words (as `sh -c "tools/key.sh -v"` has one) counts as each of them, with what a
// shell puts in the place of ~ and of variables. A whole path counts as well when it is a
// folder's (`make -C /tree`), or when nothing is there yet. Where argv[0] is "" the words
// after it are commands themselves, whose programs git or a shell looks up.
func Named(argv []string, dir string, trees ...string) string {
	trees = resolved(trees)
	for _, arg := range argv[min(1, len(argv)):] {
		if names(wordsOf(arg), argv[0] == "", dir, trees) || names(wordsOf(expanded(arg)), argv[0] == "", dir, trees) {
			return arg
		}
	}
	return ""
}

// names is Named for words, the first of which are a program's name where first says so.
func names(words []string, first bool, dir string, trees []string) bool {
	for i, word := range words {
		if i <= 1 && first && !strings.Contains(word, "/") {
			continue // looked up in PATH
		}
		if inside(word, dir, trees) || inside(word, "/", trees) { // where the operator's commands are started
			return true
		}
		at := strings.IndexByte(word, '/')
		if at > 0 && inside(word[at:], dir, trees) { // -C/tree, file:///tree
			return true
		}
		if at > 2 && word[0] == '-' && inside(word[2:], "/", trees) {
			return true
		}
	}
	return false
}

func inside(word, dir string, trees []string) bool {
	whole := filepath.IsAbs(word)
	if !whole {
		word = filepath.Join(dir, word)
	}
	if whole && below(word, trees) {
		return true
	}
	real, err := filepath.EvalSymlinks(word)
	if err != nil {
		return false // a word, and no file
	}
	fi, err := os.Stat(real)
	return err == nil && (whole || !fi.IsDir()) && (below(real, trees) || below(word, trees))
}

// expanded is an argument with what a shell puts in the place of ~ and of variables.
func expanded(arg string) string {
	arg = os.Expand(arg, func(name string) string {
		if at := strings.IndexAny(name, ":-=+?"); at > 0 { // ${NAME:-word}
			name = name[:at]
		}
		return os.Getenv(name)
	})
	home := strings.ReplaceAll(os.Getenv("HOME"), "$", "$$")
	return tilde.ReplaceAllString(arg, "${1}"+home+"/")
}

// tilde is where a shell, and git, puts the home.
var tilde = regexp.MustCompile(`(^|[\s;&|<>()\x60"'=,:])~/`)

// wordsOf are an argument, and what a shell could take for words in it.
func wordsOf(arg string) []string {
	return append([]string{arg}, strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(" \t\n;&|<>()$`\"'=,", r) })...)
}

// Words are the arguments of a command, and what a shell could take for words in them.
func Words(argv ...string) (all []string) {
	for _, arg := range argv {
		all = append(all, wordsOf(arg)...)
	}
	return all
}

// Tree gives the work tree that a folder lies in, without asking git: the nearest folder
// that has a .git, or else the folder itself; "" for a root without one, below which every
// program lies.
func Tree(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return strings.TrimSuffix(dir, "/")
		}
	}
}

// ErrRelative says that a command depends on the folder that relay was called in.
var ErrRelative = errors.New("it names a file relative to the current folder, and it is started in /")

// Command finds the program of a command that the operator has configured, which may
// name no file of the trees either: a change could rewrite it. It is to be started in /,
// since many programs take modules and settings from the current folder (python3 -m, npx).
func Command(argv []string, path string, trees ...string) (Program, error) {
	if len(argv) == 0 {
		return Program{}, exec.ErrNotFound
	}
	p, err := Find(argv[0], path, trees...)
	if err != nil {
		return Program{}, err
	}
	for _, arg := range argv[1:] {
		if Relative(arg) {
			return Program{}, fmt.Errorf("%q: %w", arg, ErrRelative)
		}
	}
	dir, _ := os.Getwd()
	for _, dir := range append([]string{dir}, trees...) {
		if word := Named(argv, dir, trees...); word != "" {
			return Program{}, fmt.Errorf("%q: %w", word, ErrInside)
		}
	}
	return p, nil
}

// Relative reports whether a word of an argument is a path that depends on the current folder.
func Relative(arg string) bool {
	return slices.ContainsFunc(wordsOf(arg), func(word string) bool {
		return word == ".." || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")
	})
}

// resolved adds to each tree what it is without links.
func resolved(trees []string) []string {
	var out []string
	for _, t := range trees {
		if t == "" {
			continue
		}
		out = append(out, filepath.Clean(t))
		if real, err := filepath.EvalSymlinks(t); err == nil && real != filepath.Clean(t) {
			out = append(out, real)
		}
	}
	return out
}

func below(path string, trees []string) bool {
	path = filepath.Clean(path)
	return slices.ContainsFunc(trees, func(t string) bool { return path == t || strings.HasPrefix(path, strings.TrimSuffix(t, "/")+"/") })
}
