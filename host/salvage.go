package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/pipeline"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// maxKeptPatch bounds the patch that is read back from the history.
const maxKeptPatch = 64 << 20

// Salvage gives access to what a stopped run, or the revision of a cycle, had built; ""
// means the last run that was stopped. Nothing of the work tree is written.
func (r *Repo) Salvage(ctx context.Context, run string, so SalvageOptions) (*SalvageResult, error) {
	o, err := r.Look()
	if err != nil {
		return nil, err
	}
	id, patch, err := o.kept(run)
	if err != nil {
		return nil, err
	}
	git, err := git.Open(ctx, o.Root)
	if err != nil {
		return nil, diag.Git(err)
	}
	s := &SalvageResult{Doc: DocOf("relay.salvage", 1), RunID: id, name: id}
	if patch != o.History.Path(id, "diff.patch") {
		s.name = run
	}
	if change.Kept(ctx, git, id) != "" {
		s.Ref = refPrefix + id
	}
	text, err := workspace.ReadFile(patch, maxKeptPatch)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Wrap(err, "", "the patch of run "+id+" can't be read", "`relay salvage --branch NAME`, if the run has a ref")
	}
	if s.Ref == "" && len(text) == 0 {
		return nil, diag.New("", "run "+s.name+" left nothing to salvage", "its builder changed nothing, or did not get that far", "`relay show "+s.name+"`")
	}
	if err := s.to(ctx, git, so, text); err != nil {
		return nil, err
	}
	if so == (SalvageOptions{}) {
		if len(text) > 0 {
			s.File = patch
		}
		s.suggest()
	}
	return s, nil
}

// to puts what was kept where it was asked for.
func (s *SalvageResult) to(ctx context.Context, git *git.Repo, so SalvageOptions, patch []byte) error {
	switch {
	case so.Branch != "" && s.Ref == "":
		return diag.New("", "run "+s.name+" can't become a branch", "only its patch was kept (commit.on_success is false)", "`relay salvage "+s.name+" --patch FILE`")
	case so.Branch != "":
		s.Branch = so.Branch
		s.Next = []string{"`git diff HEAD..." + so.Branch + "`"}
		return change.Branch(ctx, git, s.RunID, so.Branch)
	case so.Patch != "" && len(patch) == 0:
		return diag.New("", "run "+s.name+" has no patch", "its task has not ended, or history.include_diff_patch or history.enabled is false", "`relay salvage "+s.name+" --branch NAME`")
	case so.Patch == "-":
		s.Patch = string(patch)
	case so.Patch != "":
		return s.writePatch(so.Patch, patch)
	}
	return nil
}

// writePatch writes a new file; one that exists is not replaced.
func (s *SalvageResult) writePatch(name string, patch []byte) error {
	abs, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(abs, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		_, err = f.Write(patch)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return diag.Wrap(err, "", "the patch can't be written to "+name, "`relay salvage "+s.name+" --patch FILE`, with the name of another file")
	}
	s.File = abs
	s.Next = []string{"`git apply " + name + "`"}
	return nil
}

func (s *SalvageResult) suggest() {
	if s.Ref != "" {
		s.Next = append(s.Next, fmt.Sprintf("`relay salvage %s --branch NAME` makes a branch of it", s.name), "`git show "+s.Ref+"` shows it")
	}
	if s.File != "" {
		s.Next = append(s.Next, fmt.Sprintf("`relay salvage %s --patch FILE` writes it for `git apply`", s.name))
	}
}

// kept finds what was built and did not land: its id, and its patch.
func (o *Opened) kept(name string) (id, patch string, err error) {
	if uuid, err := cycle.Find(o.WS, name); name != "" && err == nil {
		rec, err := cycle.ReadRecord(o.WS, uuid)
		if err != nil {
			return "", "", err
		}
		if rec.Revision == nil || rec.Revision.Salvage == "" {
			return "", "", diag.New("", "cycle "+cycle.Short(uuid)+" left nothing to salvage", "its revision landed, changed nothing, or did not get that far", "`relay show "+cycle.Short(uuid)+"`")
		}
		return strings.TrimPrefix(rec.Revision.Salvage, refPrefix), filepath.Join(cycle.Dir(o.WS), uuid, "revision.diff"), nil
	}
	open, err := pipeline.Open(o.WS)
	for _, t := range open {
		if t.Kept != "" && (t.TaskID == name || t.RunID == name) { // the operator is asked what becomes of it
			return t.RunID, o.History.Path(t.RunID, "diff.patch"), nil
		}
	}
	if err != nil {
		return "", "", err
	}
	m, err := o.stopped(name)
	return m.RunID, o.History.Path(m.RunID, "diff.patch"), err
}

// stopped finds a run; "" means the newest one that was stopped with something built.
func (o *Opened) stopped(run string) (history.Meta, error) {
	if run != "" {
		return o.find(run)
	}
	all, err := o.History.List(0)
	if err != nil {
		return history.Meta{}, err
	}
	for _, m := range all {
		if m.Code.Outcome() != judge.OutcomeStop {
			continue
		}
		fi, err := os.Lstat(o.History.Path(m.RunID, "diff.patch"))
		if m.Salvage != "" || err == nil && fi.Size() > 0 {
			return m, nil
		}
	}
	return history.Meta{}, diag.New("", "there is nothing to salvage", "no stopped run in the history had built anything", "`relay history list`")
}

// SalvageOptions say where a rejected change goes; at most one of the two.
type SalvageOptions struct {
	Branch string // make this branch from the rejected tree
	Patch  string // write the patch to this file, "-" gives it in the result
}

// SalvageResult is where a rejected change is now.
type SalvageResult struct {
	Doc
	RunID  string     `json:"run_id"` // of a cycle's revision, too
	name   string     // by which it is asked for again
	Ref    string     `json:"ref,omitempty"` // refs/relay/…; "" when only the patch exists
	Branch string     `json:"branch,omitempty"`
	File   string     `json:"file,omitempty"`
	Patch  string     `json:"patch,omitempty"` // the change as a patch
	Notes  []string   `json:"notes,omitempty"`
	Next   diag.Steps `json:"next,omitempty"`
}
