package host

import (
	"context"
	"strconv"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge/git"
)

// FileDiff is what a change does to one file, with the rules that it broke.
type FileDiff struct {
	Path    string           `json:"path"`
	Added   int              `json:"added"`
	Deleted int              `json:"deleted"`
	Rules   []report.RuleHit `json:"rules,omitempty"`
	Text    string           `json:"text"` // as git writes it
}

// maxDiff is how much of a kept patch is shown, in bytes.
const maxDiff = 16 << 20

// ReadDiff takes in what a run changed, or would have changed, from its history.
func (r *Repo) ReadDiff(s *ShowResult) error {
	for _, f := range s.Files {
		if f.Name != "diff.patch" || f.Bytes == 0 {
			continue
		}
		raw, err := workspace.ReadFile(f.Path, maxDiff)
		if err != nil {
			return diag.Wrap(err, "", "the patch of run "+s.Run.RunID+" can't be shown", "`relay salvage "+s.Run.RunID+" --patch -` writes it as it is")
		}
		s.Diff = SplitDiff(string(raw))
		if s.Report != nil {
			attach(s.Diff, s.Report.Rules)
		}
	}
	return nil
}

// readCommit takes in what the commit of a run that landed changed.
func (r *Repo) readCommit(ctx context.Context, s *ShowResult) error {
	git, err := git.OpenCommits(ctx, r.Dir)
	var out []byte
	if err == nil {
		out, err = git.Run(ctx, nil, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", s.Run.BaseCommit, s.Run.Commit)
	}
	if err != nil {
		return diag.Git(err)
	}
	s.Diff = SplitDiff(string(out[:min(len(out), maxDiff)]))
	return nil
}

// SplitDiff takes git's diff apart into its files. A line of a file's text always begins
// with a sign of its own, so none can look like the beginning of another file.
func SplitDiff(patch string) []FileDiff {
	const begin = "diff --git "
	var all []FileDiff
	inHunk, from, end := false, 0, 0
	for line := range strings.Lines(patch) {
		end += len(line)
		if strings.HasPrefix(line, begin) {
			from = end - len(line)
			all, inHunk = append(all, FileDiff{Path: headPath(strings.TrimSpace(line[len(begin):]))}), false
		}
		if len(all) == 0 {
			continue
		}
		f := &all[len(all)-1]
		f.Text = patch[from:end]
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case inHunk && line[0] == '+':
			f.Added++
		case inHunk && line[0] == '-':
			f.Deleted++
		case !inHunk && (strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- ")):
			if name := sidePath(line[4:]); name != "" {
				f.Path = name
			}
		}
	}
	return all
}

// headPath is the path of "a/PATH b/PATH", in which both are the same but for a rename.
func headPath(both string) string {
	if half := len(both) / 2; strings.HasPrefix(both, "a/") && len(both)%2 == 1 && both[half] == ' ' && both[2:half] == both[half+3:] {
		return both[2:half]
	}
	if _, after, ok := strings.Cut(both, `" "`); ok {
		return sidePath(`"` + after)
	}
	return both
}

// sidePath is the path of one side of a diff; "" for the side that is not there. git writes
// unusual names in quotes.
func sidePath(text string) string {
	text = strings.TrimRight(text, "\t\r\n")
	if name, err := strconv.Unquote(text); err == nil && strings.HasPrefix(text, `"`) {
		text = name
	}
	if text == "/dev/null" || len(text) < 2 {
		return ""
	}
	return text[2:]
}

// attach gives each file the rules that were broken on its path.
func attach(files []FileDiff, rules []report.RuleHit) {
	for i := range files {
		for _, h := range rules {
			if h.Path == files[i].Path {
				files[i].Rules = append(files[i].Rules, h)
			}
		}
	}
}

// DiffResult is what a run or a cycle changed, or would have changed, file by file.
type DiffResult struct {
	Doc
	ID    string     `json:"id"`    // of the run or the cycle
	Files []FileDiff `json:"files"` // none when it has left no diff
}

// Diff gives the change of a run or a cycle; "" means the last run.
func (r *Repo) Diff(ctx context.Context, id string) (*DiffResult, error) {
	d := &DiffResult{Doc: DocOf("relay.diff", 1), Files: []FileDiff{}}
	if uuid := r.FindCycle(id); uuid != "" {
		s, err := r.ShowCycle(ctx, uuid)
		if err != nil {
			return nil, err
		}
		s.SplitDiff()
		d.ID, d.Files = uuid, append(d.Files, s.Changes...)
		return d, nil
	}
	s, err := r.Show(ctx, id)
	if err != nil {
		return nil, err
	}
	if err = r.ReadDiff(s); err == nil && len(s.Diff) == 0 && s.Landed { // an undo, or no patches are kept
		err = r.readCommit(ctx, s)
	}
	d.ID, d.Files = s.Run.RunID, append(d.Files, s.Diff...)
	return d, err
}
