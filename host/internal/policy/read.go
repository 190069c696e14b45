package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/config"
	said "github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge/git"
)

// Dir is the repository's folder of rules, and the user's below relay's configuration.
const Dir = "policy"

const suffix = ".cel"

// ofRules reports whether a file of this name has rules. A.CEL does, too: on some systems it
// is a.cel, and a rule that is passed over in silence forbids nothing.
func ofRules(name string) bool { return strings.EqualFold(filepath.Ext(name), suffix) }

// errLinked: what a link leads to is in no commit, so its rules would hold nowhere.
func errLinked() error {
	return wrong(Dir, 0, "%s is a link, and rules are read from the commit alone: make it a folder", Dir)
}

// bom is the mark that editors on Windows put before a text.
const bom = "\ufeff"

// bytesOfUTF16 are those that UTF-16 and UTF-32 have besides the letters of a rule.
var bytesOfUTF16 = strings.NewReplacer("\x00", "", "\xff\xfe", "", "\xfe\xff", "")

// The bounds of a folder that may be somebody else's: what is there is read to see whether
// it is relay's.
const (
	maxLooked     = 8 << 20
	maxLookedAt   = 2000
	maxNamedAlone = 20
)

// folder sorts out what lies in a repository's folder: other programs have rules in CEL,
// too, and may have them in files of these names.
type folder struct {
	files   []File
	ignored []string
	more    int
}

func (d *folder) add(name, text string) {
	text = strings.TrimPrefix(text, bom)
	if mark.MatchString(text) || mark.MatchString(bytesOfUTF16.Replace(text)) {
		d.files = append(d.files, File{Name: name, Text: text})
		return
	}
	d.ignore(name, "no line of it begins with forbid NAME: or ask NAME:")
}

func (d *folder) ignore(name, why string) {
	if len(d.ignored) == maxNamedAlone {
		d.more++
		return
	}
	d.ignored = append(d.ignored, said.Clip(name+": "+why, 400))
}

// with makes the policy of the user's files and these.
func (d *folder) with(user []File) (*Set, error) {
	s, err := New(append(user, d.files...))
	if err != nil {
		return nil, err
	}
	if s.Ignored = d.ignored; d.more > 0 {
		s.Ignored = append(s.Ignored, fmt.Sprintf("and %d more", d.more))
	}
	return s, nil
}

// Open gives the policy for work on a commit: the user's rules, and those that the commit
// has.
func Open(ctx context.Context, git *git.Repo, commit string, environ []string) (*Set, error) {
	files, err := ofUser(environ, git.Root)
	if err != nil {
		return nil, err
	}
	committed, err := ofCommit(ctx, git, commit)
	if err != nil {
		return nil, err
	}
	return committed.with(files)
}

// OpenTree gives the policy with the repository's files as they are in the work tree, for
// who is writing them.
func OpenTree(root string, environ []string) (*Set, error) {
	files, err := ofUser(environ, root)
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(filepath.Join(root, Dir)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, errLinked()
	}
	names, err := beneath.ReadDir(root, Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, wrong(Dir, 0, "%v", err)
	}
	slices.Sort(names)
	var d folder
	for _, name := range names {
		if !ofRules(name) {
			continue
		}
		if name = Dir + "/" + name; !plain(root, name) {
			d.ignore(name, "it is not a plain file")
			continue
		}
		text, err := beneath.ReadFile(root, name, maxLooked)
		if err != nil {
			return nil, wrong(name, 0, "%v", err)
		}
		d.add(name, string(text))
	}
	return d.with(files)
}

// left are names of what others leave beside a file: Emacs a lock, macOS a file's attributes.
var left = regexp.MustCompile(`^\.[#_]`)

// ofUser reads the user's own files, in the order of their names.
func ofUser(environ []string, root string) (files []File, err error) {
	dir, err := config.PolicyDir(environ, root)
	if dir == "" || err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, wrong(dir, 0, "%v", err)
	}
	for _, e := range entries {
		if !ofRules(e.Name()) || left.MatchString(e.Name()) {
			continue
		}
		name := filepath.Join(dir, e.Name())
		if err := workspace.Own(dir, name); err != nil {
			return nil, err
		}
		text, err := beneath.ReadPlain(name, maxText)
		if err != nil {
			return nil, wrong(name, 0, "%v", err)
		}
		files = append(files, File{Name: name, Text: strings.TrimPrefix(string(text), bom), User: true})
	}
	return files, nil
}

// ofCommit reads the files of a commit: what is in the work tree does not count.
func ofCommit(ctx context.Context, git *git.Repo, commit string) (*folder, error) {
	out, err := git.Run(ctx, nil, "ls-tree", "-l", "-z", "--full-tree", commit, Dir, Dir+"/") // itself where it is no folder
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(string(out), "120000 ") && strings.HasSuffix(string(out), "\t"+Dir+"\x00") {
		return nil, errLinked()
	}
	d := &folder{}
	total, n := int64(0), 0
	for row := range strings.SplitSeq(string(out), "\x00") {
		meta, name, ok := strings.Cut(row, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 4 || !ofRules(name) {
			continue
		}
		if f[0] != "100644" && f[0] != "100755" {
			d.ignore(name, "it is not a plain file")
			continue
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if total, n = total+size, n+1; err != nil || total > maxLooked || n > maxLookedAt {
			return nil, wrong(name, 0, "%s/*%s has over %d files or %d MiB, and relay doesn't look through more for its rules", Dir, suffix, maxLookedAt, maxLooked>>20)
		}
		text, err := git.Run(ctx, nil, "cat-file", "blob", f[2])
		if err != nil {
			return nil, err
		}
		d.add(name, string(text))
	}
	return d, nil
}

// plain reports whether a name in the work tree is a file, and no link or folder.
func plain(root, name string) bool {
	info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular()
}
