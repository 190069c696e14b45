package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
)

// leaks finds values of the user's credentials in what would land: in files, in the targets
// of links, and in names. What the base holds already is no secret of his any more. The
// rule that a leak breaks names where the value comes from, and never the value.
func (c *Change) leaks(ctx context.Context) ([]judge.Violation, error) {
	var broken []judge.Violation
	for _, ch := range c.verdict.Kept {
		if ch.Kind == judge.Deleted {
			continue
		}
		named, err := c.leak(ctx, strings.NewReader(ch.Path))
		if named != "" { // and the path is not repeated
			return []judge.Violation{{Code: judge.StopSecret, Rule: "the name of a file: " + named}}, err
		}
		if err != nil {
			return nil, err
		}
		rule, err := c.leakIn(ctx, ch)
		if err != nil {
			return nil, err
		}
		if rule != "" {
			broken = append(broken, judge.Violation{Code: judge.StopSecret, Path: ch.Path, Rule: rule})
		}
	}
	return broken, nil
}

// unsaid stands for what holds a value of a credential, in a name that is told.
const unsaid = "[redacted]"

// untold finds the names that hold a value of a credential, among all that the builder
// touched, and what each is told as: reports, histories and prompts have that instead.
func (c *Change) untold(ctx context.Context) error {
	c.told = nil
	var names []string
	for _, ch := range c.touched.Changes {
		names = append(names, ch.Path)
	}
	for _, b := range c.verdict.Violations { // such as of a ref
		names = append(names, b.Path, b.Rule)
	}
	if found, err := c.leak(ctx, strings.NewReader(strings.Join(names, "\x00"))); found == "" {
		return err // in one go: a change can have very many names
	}
	for _, name := range names {
		parts := strings.Split(name, "/")
		for i, part := range parts {
			found, err := c.leak(ctx, strings.NewReader(part))
			if err != nil {
				return err
			}
			if found != "" {
				parts[i] = unsaid
				c.told = append(c.told, part, unsaid)
			}
		}
		if safe := strings.Join(parts, "/"); safe == name { // over several folders
			if found, err := c.leak(ctx, strings.NewReader(name)); found != "" || err != nil {
				c.told = append(c.told, name, unsaid)
			}
		}
	}
	return nil
}

// tell leaves out of a verdict what must not be told.
func (c *Change) tell(v judge.Verdict) judge.Verdict {
	if len(c.told) > 0 {
		r := strings.NewReplacer(c.told...)
		v.Violations = slices.Clone(v.Violations)
		for i := range v.Violations {
			v.Violations[i].Path, v.Violations[i].Rule = r.Replace(v.Violations[i].Path), r.Replace(v.Violations[i].Rule)
		}
	}
	return v
}

// withheld reports whether a change holds a value of a credential: then neither the patch nor
// the ref of a run that was stopped has it. What can't be looked through is withheld, too. Of a
// file that is larger than any file is read (a sparse one of a terabyte costs its builder
// nothing) neither keeps the content, so its name alone is looked at.
func (c *Change) withheld(ch judge.Change) bool {
	if c.env.Secrets == nil || c.harmless[ch.Path] || ch.Kind == judge.Deleted {
		return false
	}
	held, known := c.leaky[ch.Path]
	if !known {
		ctx := context.Background() // what is kept of a run that was interrupted is looked through as well
		rule, err := c.leak(ctx, strings.NewReader(ch.Path))
		if err == nil && rule == "" && ch.Size <= judge.MaxFileSize {
			rule, err = c.leakIn(ctx, ch)
		}
		held = err != nil || rule != ""
		c.mark(ch.Path, held)
	}
	return held
}

func (c *Change) leakIn(ctx context.Context, ch judge.Change) (string, error) {
	if ch.NewMode&fs.ModeSymlink != 0 {
		return c.leak(ctx, strings.NewReader(ch.Link))
	}
	r, err := c.content(ch)
	if err != nil {
		return "", err
	}
	defer r.Close()
	return c.leak(ctx, r)
}

func (c *Change) mark(path string, held bool) {
	if c.leaky == nil {
		c.leaky = map[string]bool{}
	}
	c.leaky[path] = held
}

// leakStored is [Change.leak] for what git stores of a file. One that breaks a rule is not
// kept either.
func (c *Change) leakStored(ctx context.Context, path string, r io.Reader) (string, error) {
	rule, err := c.leak(ctx, r)
	if rule != "" {
		c.mark(path, true)
		c.harmless[path] = false
	}
	return rule, err
}

// leak is the rule that a text breaks, "" for none.
func (c *Change) leak(ctx context.Context, r io.Reader) (string, error) {
	if c.env.Secrets == nil {
		return "", nil
	}
	var failed error
	known := func(form string) bool {
		had, err := c.env.Git.Holds(ctx, c.opts.Base, form)
		failed = errors.Join(failed, err)
		return had
	}
	from, line, err := c.env.Secrets(r, known)
	if err := errors.Join(err, failed); err != nil {
		return "", fmt.Errorf("look for credentials in the change: %w", err)
	}
	if from == "" {
		return "", nil
	}
	return fmt.Sprintf("line %d holds %s", line, from), nil
}
