package attest

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/paxiom/relay/judge/git"
)

// chain is what landed together: commits one on top of the other, the tree of the last, and
// what differs from the base.
type chain struct {
	base, tree string
	commits    []string
	touched    []string
}

func (c *chain) head() string { return c.commits[len(c.commits)-1] }

// maxChain is more commits than a builder makes in one change.
const maxChain = 1000

// landed asks git for what landed on a base.
func landed(ctx context.Context, git *git.Repo, base, commit string) (chain, error) {
	c := chain{base: base}
	out, err := git.Run(ctx, nil, "rev-list", "--reverse", "--format=%H %T %P", "-n", strconv.Itoa(maxChain), "--end-of-options", base+".."+commit)
	if err != nil {
		return c, err
	}
	on := base
	for line := range strings.Lines(string(out)) {
		names := strings.Fields(line)
		if names[0] == "commit" {
			continue // each has a line of git's own, too
		}
		if len(names) != 3 || names[2] != on {
			return c, fmt.Errorf("%.12s is not one line of commits on %.12s", commit, base)
		}
		on, c.tree = names[0], names[1]
		c.commits = append(c.commits, on)
	}
	if len(c.commits) == 0 || c.head() != commit {
		return c, fmt.Errorf("%.12s is not on top of %.12s", commit, base)
	}
	c.touched, err = touched(ctx, git, base, commit)
	return c, err
}

// touched are the lines of what differs between two commits: modes, blobs and paths, every
// path in ASCII.
func touched(ctx context.Context, git *git.Repo, base, head string) ([]string, error) {
	out, err := git.Run(ctx, nil, "-c", "core.quotePath=true", "diff-tree", "-r", "--raw", "--no-abbrev", "--no-renames", "--no-relative", "--ignore-submodules=none", base, head)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), nil
}

// commit is a commit's object, whose name was computed from its bytes.
type commit struct {
	tree    string
	parents []string
	runs    []string // that its message names
}

// tooLarge stands for the object of a note that is not read.
const tooLarge = "-"

// errDamaged says what of a repository can't be read.
type errDamaged string

func (e errDamaged) Error() string { return string(e) + ": the repository is damaged (git fsck)" }

// objects reads objects and computes their names again. Absent ones are not in the answer.
func objects(ctx context.Context, git *git.Repo, names []string) (map[string][]byte, error) {
	found := map[string][]byte{}
	for some := range slices.Chunk(names, 1000) { // what git may answer at once is bounded
		out, err := git.Run(ctx, strings.NewReader(strings.Join(some, "\n")+"\n"), "cat-file", "--batch")
		if err == nil {
			err = takeObjects(found, out, git.ObjectFormat)
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// noteObjects are the objects of notes, and others. A note whose object is absent is no commit
// without a note: nothing can be said.
func noteObjects(ctx context.Context, git *git.Repo, notes []string, others ...string) (map[string][]byte, error) {
	notes = slices.DeleteFunc(slices.Clone(notes), func(name string) bool { return name == tooLarge })
	found, err := objects(ctx, git, append(others[:len(others):len(others)], notes...))
	if err != nil {
		return nil, err
	}
	for _, name := range notes {
		if _, ok := found[name]; !ok {
			return nil, errDamaged("the object " + name + ", a note, is not there")
		}
	}
	return found, nil
}

// takeObjects adds the objects that cat-file tells.
func takeObjects(found map[string][]byte, out []byte, format string) error {
	for len(out) > 0 {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		fields := strings.Fields(string(head))
		if len(fields) != 3 { // missing
			out = rest
			continue
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size < 0 || size >= len(rest) {
			return errors.New("git's answer can't be read")
		}
		body := rest[:size]
		if nameOf(fields[1], body, format) != fields[0] {
			return errDamaged("the object " + fields[0] + " is not what its name says")
		}
		found[fields[0]] = body
		out = rest[size+1:]
	}
	return nil
}

func nameOf(kind string, body []byte, format string) string {
	var h hash.Hash = sha1.New()
	if format == "sha256" {
		h = sha256.New()
	}
	fmt.Fprintf(h, "%s %d\x00", kind, len(body))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// readCommit takes a commit's object apart as git does: its tree stands first and its parents
// follow, wherever else such a line may be.
func readCommit(body []byte) *commit {
	c := &commit{}
	head, message, _ := strings.Cut(string(body), "\n\n")
	lines := strings.Split(head, "\n")
	c.tree = strings.TrimPrefix(lines[0], "tree ")
	for _, line := range lines[1:] {
		parent, ok := strings.CutPrefix(line, "parent ")
		if !ok {
			break
		}
		c.parents = append(c.parents, parent)
	}
	const blank = " \t\r\n"
	for line := range strings.Lines(message) {
		key, run, ok := strings.Cut(line, ":")
		key, run = strings.ToLower(strings.Trim(key, blank)), strings.Trim(run, blank)
		if ok && (key == "relay-run" || key == "relay-step") && !slices.Contains(c.runs, run) {
			c.runs = append(c.runs, run)
		}
	}
	return c
}

// notesIn lists the notes: for each commit the object of its note, "-" where that is larger
// than any of relay's.
func notesIn(ctx context.Context, git *git.Repo, ref string) (map[string]string, error) {
	notes := map[string]string{}
	out, err := git.Run(ctx, nil, "for-each-ref", "--format=%(refname)", ref)
	if name := string(bytes.TrimSpace(out)); strings.HasPrefix(name, ref+"/") { // it names those below a folder, too
		name, _, _ = strings.Cut(name, "\n")
		return nil, fmt.Errorf("%s is a folder, with the ref %s in it", ref, name)
	}
	if err == nil && len(bytes.TrimSpace(out)) == 0 {
		// Of a ref that git can't read it says no more than of one that is not there.
		if fi, err := os.Lstat(filepath.Join(git.CommonDir, filepath.FromSlash(ref))); err == nil && !fi.IsDir() {
			return nil, errDamaged("the ref " + ref + " can't be read")
		}
	}
	if err != nil || len(bytes.TrimSpace(out)) == 0 {
		return notes, err
	}
	out, err = git.Run(ctx, nil, "ls-tree", "-r", "-l", "-z", "--full-tree", ref)
	if err != nil {
		return nil, err
	}
	for row := range strings.SplitSeq(string(out), "\x00") {
		meta, path, ok := strings.Cut(row, "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 4 || fields[1] != "blob" {
			continue
		}
		if size, err := strconv.Atoi(fields[3]); err == nil && size > maxNote { // of what is not there it says BAD
			fields[2] = tooLarge
		}
		notes[strings.ReplaceAll(path, "/", "")] = fields[2]
	}
	return notes, nil
}
