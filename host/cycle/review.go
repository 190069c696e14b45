package cycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/host/cycle/audit"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Reviewed is how a review ended.
type Reviewed string

// The ends of a review.
const (
	Unchanged  Reviewed = "unchanged"  // saved, or left, as it was
	Changed    Reviewed = "changed"    // the plan is the edited one now
	Emptied    Reviewed = "emptied"    // nothing is left; the plan stays unchanged
	Unparsable Reviewed = "unparsable" // the edited text is kept, and continue will refuse it
)

// Review is what a review found.
type Review struct {
	Outcome Reviewed
	Why     string // when unparsable
	Items   int
	File    string // plan.md
}

const (
	headerBegin = "<!-- relay: "
	headerEnd   = "-->"
	rawBegin    = "<!-- relay: raw text"
)

// ReviewPlan lets edit change the plan of a cycle that waits at the first gate. edit
// gets the path of a file to edit; its error leaves the plan as it was.
func ReviewPlan(ctx context.Context, e *Env, uuid string, edit func(path string) error) (*Review, error) {
	c, _, err := e.at(ctx, uuid, AwaitingReview, "review")
	if err != nil {
		return nil, err
	}
	before, err := workspace.ReadFile(c.path(planFile), 16<<20)
	if err != nil {
		return nil, c.noPlan(err)
	}
	shown, err := c.reviewText(string(before))
	if err != nil {
		return nil, err
	}
	draft := c.path("plan.edit.md")
	if err := workspace.WriteFile(draft, []byte(shown)); err != nil {
		return nil, err
	}
	defer os.Remove(draft)
	if err := edit(draft); err != nil {
		return nil, diag.Wrap(err, "", "the editor failed, so the plan is unchanged", "`export EDITOR=vi`, then `relay audit review "+Short(uuid)+"` again")
	}
	after, err := workspace.ReadFile(draft, 16<<20)
	if err != nil {
		return nil, diag.Wrap(err, "", "what the editor saved can't be read, so the plan is unchanged", "`relay audit review "+Short(uuid)+"`")
	}
	return c.takeReview(string(before), stripReview(string(after)))
}

// takeReview makes the edited text the plan.
func (c *Cycle) takeReview(before, edited string) (*Review, error) {
	r := &Review{Outcome: Changed, File: c.path(planFile)}
	d, err := usable(edited)
	switch {
	case strings.TrimSpace(edited) == "":
		r.Outcome = Emptied
		c.log("operator review: emptied, the plan stays unchanged")
		return r, nil
	case strings.TrimSpace(edited) == strings.TrimSpace(before):
		r.Outcome, edited = Unchanged, before
	}
	if err != nil {
		r.Outcome, r.Why = Unparsable, err.Error()
	} else {
		r.Items = len(d.Items)
	}
	if err := workspace.WriteFile(c.path(planFile), []byte(edited)); err != nil {
		return nil, err
	}
	c.log(fmt.Sprintf("operator review: %s, %d entries%s", r.Outcome, r.Items, after(": ", r.Why)))
	err = workspace.WriteFile(c.path("reviewed"), []byte(hashOf([]byte(edited))+"\n"))
	_ = c.env.WS.Publish() // old copies harm nothing
	return r, err
}

// reviewed reports whether exactly this plan was opened in an editor.
func (c *Cycle) reviewed(plan string) bool {
	b, err := workspace.ReadFile(c.path("reviewed"), 1<<10)
	return err == nil && strings.TrimSpace(string(b)) == plan
}

// reviewText is the plan under a header of facts, and over the texts that kept to no
// form.
func (c *Cycle) reviewText(plan string) (string, error) {
	var b strings.Builder
	r := &c.rec
	line := func(format string, args ...any) {
		b.WriteString("  " + strings.ReplaceAll(fmt.Sprintf(format, args...), "--", "—") + "\n")
	}
	b.WriteString(headerBegin + "what you should know. All of this block is taken out when you save.\n\n")
	line("Cycle %s, service %s, iteration %d of %d", Short(r.UUID), r.ServiceID, r.Iteration, r.ConfigSnapshot.Cycle.MaxIterations)
	if in := r.Input; in != nil {
		line("Read: %s and %s, %d KB; %d left out", format.Count(in.Files, "file"), format.Count(len(in.References), "reference"), in.Bytes/1000, len(in.LeftOut))
		for _, w := range in.Warnings {
			line("WARNING: %s", w)
		}
	}
	for _, a := range r.Audits {
		switch {
		case a.File == "":
			line("%s by %s is missing: %s", a.Role, a.Provider, a.Why)
		case !a.Conforming:
			line("%s by %s KEPT TO NO FORM (%s): its text stands at the end", a.Role, a.Provider, a.Why)
		default:
			line("%s by %s: %d entries", a.Role, a.Provider, a.Items)
		}
	}
	if f := r.Refined; f != nil {
		if !f.Conforming {
			line("The refinement by %s KEPT TO NO FORM: this plan is the audits put together", f.Provider)
		}
		for _, a := range f.Added {
			line("ADDED by the refinement, no auditor raised it: %s", a)
		}
		for _, l := range f.Lost {
			line("LOST in the refinement: %s", l)
		}
	}
	if p := r.Plan; p != nil && len(p.Marks) > 0 {
		line("To decide: %d ambiguous, %d conflicts, %d duplicates", p.Marks["AMBIGUOUS"], p.Marks["CONFLICT"], p.Marks["DUPLICATE"])
	}
	if r.Iteration > 1 {
		line("Findings: %d new, %d still open, %d came back, %d no longer raised", r.Findings[audit.New], r.Findings[audit.Open], r.Findings[audit.Returned], r.Findings[audit.Fixed])
	}
	line("Keep the five headings. What you delete is not carried out. Save an empty file to change nothing.")
	line("Then: relay audit continue %s", Short(r.UUID))
	b.WriteString(headerEnd + "\n" + plan)
	_, _, raw, err := c.readAudits()
	if err != nil {
		return "", err
	}
	for _, a := range raw {
		fmt.Fprintf(&b, "\n%s of %s. Everything from here on is taken out when you save; move what you want into the sections above. %s\n%s", rawBegin, a.Name, headerEnd, a.Text)
	}
	return b.String(), nil
}

// stripReview takes relay's own header and the raw texts out again.
func stripReview(text string) string {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
	if i := strings.Index("\n"+text, "\n"+rawBegin); i >= 0 {
		text = text[:i]
	}
	if rest := strings.TrimLeft(text, " \t\n"); strings.HasPrefix(rest, headerBegin) {
		if _, body, ok := strings.Cut(rest, "\n"+headerEnd+"\n"); ok {
			text = body
		} else if rest, ok := strings.CutSuffix(strings.TrimRight(rest, "\n"), "\n"+headerEnd); ok && rest != "" {
			text = ""
		}
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return strings.TrimRight(text, "\n") + "\n"
}

// noPlan is that the plan can't be read: what was proposed takes its place.
func (c *Cycle) noPlan(err error) error {
	plan := diag.Word(c.path(planFile))
	return diag.Wrap(err, judge.BlockedCrashRecovery, "the plan can't be read", "`rm -rf "+plan+" && cp "+diag.Word(c.path(proposedFile))+" "+plan+"` begins with the proposed plan again")
}

// planText reads the plan and its entries.
func (c *Cycle) planText() (string, *audit.Document, error) {
	b, err := workspace.ReadFile(c.path(planFile), 16<<20)
	if err != nil {
		return "", nil, c.noPlan(err)
	}
	d, err := usable(string(b))
	if err != nil {
		what, id := "the plan can't be carried out", Short(c.rec.UUID)
		if errors.Is(err, audit.ErrEmpty) {
			what = "the plan is empty"
		}
		fix := "`relay audit review " + id + "` adds what is to be done, `relay audit abort " + id + "` ends the cycle"
		if c.rec.LastLanded != nil {
			fix = c.rec.earlier() + ", `relay audit review " + id + "` adds what is to be done"
		}
		return "", nil, diag.Wrap(err, "", what, fix)
	}
	return string(b), d, nil
}

// moveAside moves the files of an iteration to a folder of theirs, so that the next one's have the usual
// names.
func moveAside(from, to string, names []string) error {
	for _, n := range names {
		src, dst := filepath.Join(from, n), filepath.Join(to, n)
		if _, err := os.Lstat(src); errors.Is(err, os.ErrNotExist) {
			continue // not made, or moved before a crash
		}
		if err := os.RemoveAll(dst); err != nil {
			return err
		}
		if err := os.Rename(src, dst); err != nil {
			return err
		}
	}
	return nil
}
