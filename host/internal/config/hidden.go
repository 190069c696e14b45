package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/verify"
)

// Hidden is one check of which no builder sees the files.
type Hidden struct {
	ID         string   `json:"id"`
	Cmd        string   `json:"cmd"`
	Args       []string `json:"args"`
	Folder     string   `json:"folder,omitempty"`     // absolute, or below the home: "~/…"
	Class      string   `json:"class,omitempty"`      // all that a model is told when it fails
	Repository string   `json:"repository,omitempty"` // its root; "" for every one
	OnRequest  bool     `json:"on_request,omitempty"` // run by hand alone
}

// CheckFile describes a hidden check in its own folder below [ChecksDir].
const CheckFile = "check.json"

// ChecksDir is where the user's own hidden checks lie, each in a folder: they need no other
// configuration.
func ChecksDir(userDir string) string { return filepath.Join(userDir, "checks") }

// ownChecks adds those checks to the user's layer. Their folders are hidden from every box,
// whatever repository they are for.
func (l *Loaded) ownChecks(userDir string, user *node) (*node, error) {
	files, _ := filepath.Glob(filepath.Join(ChecksDir(userDir), "*"))
	if userDir == "" || len(files) == 0 {
		return user, nil
	}
	if user == nil {
		user = newMap(Origin{Layer: LayerUser, File: ChecksDir(userDir)})
	}
	list, _ := user.lookup("verification", "hidden").list()
	list = slices.Clone(list)
	for _, dir := range files {
		l.checkDirs = append(l.checkDirs, dir)
		path := filepath.Join(dir, CheckFile)
		if err := workspace.Own(ChecksDir(userDir), dir, path); err != nil {
			return nil, err
		}
		b, err := beneath.ReadPlain(path, maxFileBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue // one that its author has not agreed to yet
		}
		if err != nil {
			return nil, &diag.Error{Code: judge.BlockedMissingConfig, What: path + " can't be read", Why: reason(err), Fix: "`ls -l " + diag.Word(path) + "`", Err: err}
		}
		n, err := parse(path, b, Origin{Layer: LayerUser, File: path})
		if err != nil {
			return nil, &diag.Error{Code: judge.BlockedMissingConfig, What: path + " can't be read as a hidden check", Why: err.Error(), Fix: edit(path, 0), Err: err}
		}
		if n.fields() != nil {
			n.set(&node{v: dir, at: n.at}, "folder")
		}
		whole := newMap(n.at)
		whole.set(&node{v: []*node{n}, at: n.at}, "verification", "hidden")
		if p := inspect(whole); len(p) > 0 {
			f := badInput(path, p)
			f.Fix = edit(path, p[0].at.Line)
			return nil, f
		}
		list = append(list, n)
	}
	if len(list) > 0 {
		user = withHidden(user, list, list[0].at)
	}
	return user, nil
}

// withOwnHidden puts the user's hidden checks before those of a repository: both count.
func withOwnHidden(repo, user *node) *node {
	own, _ := user.lookup("verification", "hidden").list()
	theirs := repo.lookup("verification", "hidden")
	if list, _ := theirs.list(); len(own) > 0 && theirs != nil {
		return withHidden(repo, slices.Concat(own, list), theirs.at)
	}
	return repo
}

func withHidden(n *node, list []*node, at Origin) *node {
	path := []string{"verification", "hidden"}
	out := withoutLeaf(n, path)
	out.set(&node{v: list, at: at}, path...)
	return out
}

// HiddenFor is how a hidden check names a repository: by the top of its first work tree, so
// that the check counts in all of them.
func HiddenFor(g *git.Repo) string {
	if filepath.Base(g.CommonDir) == ".git" {
		return filepath.Dir(g.CommonDir)
	}
	return g.Root
}

// HiddenChecks are the hidden checks that a change of the repository has to pass: those
// that count always, and those that are asked for. missing are asked for and not there.
func (v *Verification) HiddenChecks(g *git.Repo, home string, asked []string) (all []verify.Command, missing []string) {
	missing = slices.Clone(asked)
	for _, h := range v.Hidden {
		if h.Repository != "" && h.Repository != g.Root && h.Repository != HiddenFor(g) {
			continue
		}
		missing = slices.DeleteFunc(missing, func(id string) bool { return id == h.ID })
		if h.OnRequest && !slices.Contains(asked, h.ID) {
			continue
		}
		folder := h.Folder
		if rest, ok := strings.CutPrefix(folder, "~/"); ok {
			folder = filepath.Join(home, rest)
		}
		argv := []string{h.Cmd}
		for _, arg := range h.Args {
			argv = append(argv, strings.ReplaceAll(arg, "{folder}", folder))
		}
		all = append(all, verify.Command{ID: h.ID, Slow: true, Argv: argv, Folder: folder, Class: h.Class})
	}
	return all, missing
}
