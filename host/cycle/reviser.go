package cycle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/paxiom/relay/host/cycle/audit"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/patch"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
	"github.com/paxiom/relay/schemas"
)

// build has the plan carried out in a box and takes what came of it through the judge
// onto the branch: a provider answers whole files, a builder changes them itself.
func (p *revision) build(ctx context.Context) error {
	if _, err := p.c.env.Catalog.Find(p.c.rec.Reviser, catalog.Provider); err != nil {
		if _, berr := p.c.env.Catalog.Find(p.c.rec.Reviser, catalog.Builder); berr != nil {
			return err
		}
		return p.byBuilder(ctx)
	}
	files, err := p.askReviser(ctx)
	if err != nil {
		return err
	}
	patch, err := p.patch(files)
	if err != nil {
		return err
	}
	if len(patch) == 0 { // it says that nothing can be done
		p.out.Facts.Code, p.out.Facts.Commit = judge.Success, p.a.Tree
		return p.keep(nil, true)
	}
	return p.byPatch(ctx, string(patch))
}

// ask is the question to the reviser.
func (p *revision) ask() ask {
	return ask{role: "revision", of: p.key, provider: p.c.rec.Reviser, model: p.model(), fallback: p.c.rec.ConfigSnapshot.Models.Revision.Fallback, try: 1}
}

func (p *revision) reviseData() prompts.ReviseData {
	s := p.c.rec.ConfigSnapshot.Scope
	return prompts.ReviseData{Service: p.c.service(p.seen), Plan: p.plan, Code: p.seen.code, Allowed: s.AllowedGlobs, Forbidden: p.forbidden(),
		AllowNewFiles: s.AllowNewFiles, MaxFiles: s.MaxFilesTouched, MaxLines: s.MaxLinesChanged, ResultSchema: schemas.Bytes(schemas.BuilderResult)}
}

// model is the reviser's: the service's own choice, or that of its audit.
func (p *revision) model() string {
	s := &p.c.rec.ConfigSnapshot
	for name, m := range s.Models.Revision.Models {
		if catalog.Canonical(name) == catalog.Canonical(p.c.rec.Reviser) {
			return m
		}
	}
	for _, a := range s.Auditors() {
		if catalog.Canonical(a.Provider) == catalog.Canonical(p.c.rec.Reviser) {
			return a.Model
		}
	}
	return ""
}

// askReviser gets whole files: one question, and one more when the answer has not its
// form.
func (p *revision) askReviser(ctx context.Context) ([]audit.File, error) {
	data := p.reviseData()
	var err error
	if data.Override, err = p.c.override("revise"); err != nil {
		return nil, err
	}
	q := p.ask()
	for ; ; q.try++ {
		if q.system, q.user, err = prompts.Render(data); err != nil {
			return nil, promptFault(err)
		}
		s, err := p.c.call(ctx, q)
		if err != nil {
			return nil, err
		}
		r, perr := p.readAnswer(s)
		p.out.Calls = append(p.out.Calls, formed(s.facts, perr == nil))
		p.out.Facts.By, p.out.Facts.Model = s.facts.Provider, s.facts.Model
		if perr == nil {
			p.claims, p.out.Facts.Conflicts = r.Claims, format.Clip(r.Conflicts, 4000)
			return r.Files, nil
		}
		if q.try == 2 {
			return nil, &diag.Error{Code: judge.StopBuilderOutputInvalid, What: p.out.Facts.By + " returned an invalid revision twice", Why: perr.Error(),
				Fix: fmt.Sprintf("`relay show %s`; `relay audit rotate %s` has another model revise from the next cycle on, `relay audit abort %s` ends this one", Short(p.c.rec.UUID), p.c.rec.ServiceID, Short(p.c.rec.UUID)), Err: perr}
		}
		data.RetryReason = perr.Error()
		p.c.note(fmt.Sprintf("%s returned an invalid revision (%s) and is asked once more", p.out.Facts.By, perr))
	}
}

// readAnswer reads whole files out of an answer that came to its end.
func (p *revision) readAnswer(s *answer) (*audit.Revision, error) {
	switch s.stop {
	case "max_tokens", "length", "max_output_tokens", "MAX_TOKENS":
		return nil, errors.New("the answer was cut off at the model's limit")
	}
	r, err := audit.ParseRevision(s.text)
	if err != nil {
		return nil, err
	}
	for i := range r.Files {
		if err := p.restore(&r.Files[i]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// restore gives a file what the prompt could not show: its kind of line ends. What the
// prompt had to mask can't be restored.
func (p *revision) restore(f *audit.File) error {
	old, err := p.old(f.Path)
	if err != nil || old == nil {
		return err
	}
	if strings.ContainsRune(f.Content, '\uFFFD') && !bytes.ContainsRune(old, '\uFFFD') {
		return fmt.Errorf("the file %q holds invisible characters that a model is not shown, so it can't be written as a whole", f.Path)
	}
	if n := bytes.Count(old, []byte("\r\n")); n > 0 && n == bytes.Count(old, []byte("\n")) {
		f.Content = strings.ReplaceAll(f.Content, "\n", "\r\n")
	}
	return nil
}

// old reads a file of the work tree; nil when there is none.
func (p *revision) old(path string) ([]byte, error) {
	b, err := beneath.ReadFile(p.c.git.Root, path, judge.MaxFileSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the file %q can't be there: %w", path, err)
	}
	return b, nil
}

// patch makes one patch of whole files, for the builder of that name: what is written
// is then judged like any other builder's work.
func (p *revision) patch(files []audit.File) ([]byte, error) {
	var out bytes.Buffer
	for _, f := range files {
		old, err := p.old(f.Path)
		if err != nil {
			return nil, diag.Wrap(err, judge.StopBuilderOutputInvalid, "the revision can't be written", "`relay show "+Short(p.c.rec.UUID)+"`")
		}
		was, is := fs.FileMode(0), fs.FileMode(0o644)
		if old != nil {
			if was = 0o644; p.executable(f.Path) {
				was = 0o755
			}
			is = was
		}
		if f.Delete {
			if old == nil {
				continue
			}
			out.Write(patch.Unified(f.Path, old, nil, was, 0))
			continue
		}
		if old != nil && string(old) == f.Content {
			continue // said again, and not changed
		}
		out.Write(patch.Unified(f.Path, old, []byte(f.Content), was, is))
	}
	return out.Bytes(), nil
}

func (p *revision) executable(path string) bool {
	root, err := os.OpenRoot(p.c.git.Root)
	if err != nil {
		return false
	}
	defer root.Close()
	fi, err := root.Lstat(path)
	return err == nil && fi.Mode()&0o100 != 0
}
