package attest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge/git"
)

// Carried is what answers about commits need where their repository is not, besides the
// objects of those commits.
type Carried struct {
	Commits []string          // those asked about, and those that their notes speak of
	Notes   map[string]string // texts by commit
}

var objectName = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Carry gathers that. Nothing of it is believed: what a note names has to be a commit.
func (v *Verifier) Carry(ctx context.Context, commits []string) (*Carried, error) {
	all, err := v.read(ctx, commits)
	if err != nil {
		return nil, err
	}
	c, names, lost := &Carried{Notes: map[string]string{}}, map[string]bool{}, map[string]bool{}
	for _, name := range commits {
		body, ok := all[name]
		if !ok {
			return nil, fmt.Errorf("the commit %s is not there", name)
		}
		names[name] = true
		if text, ok := v.note(all, name); ok {
			if c.Notes[name] = text; c.covers(text, name, names) {
				continue
			}
		}
		for _, run := range readCommit(body).runs {
			lost[run] = true
		}
	}
	if len(lost) > 0 { // a note on another commit may say as what they landed
		all, err := objects(ctx, v.Git, slices.Compact(slices.Sorted(maps.Values(v.notes))))
		if err != nil {
			return nil, err
		}
		for on, blob := range v.notes {
			if s, err := Parse(string(all[blob])); err == nil && lost[s.Predicate.Relay.Run] && objectName.MatchString(on) {
				c.Notes[on] = string(all[blob])
			}
		}
	}
	asked := strings.Join(slices.Sorted(maps.Keys(names)), "\n") + "\n"
	out, err := v.Git.Run(ctx, strings.NewReader(asked), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	for row := range bytes.Lines(out) {
		if name, ok := strings.CutSuffix(string(row), " commit\n"); ok {
			c.Commits = append(c.Commits, name)
		}
	}
	return c, err
}

// covers adds the commits that a note speaks of to names, and reports whether commit is one.
func (c *Carried) covers(text, commit string, names map[string]bool) bool {
	s, err := Parse(text)
	if err != nil {
		return false
	}
	claimed, err := s.chain()
	if err != nil || !slices.Contains(claimed.commits, commit) {
		return false
	}
	for _, name := range append(claimed.commits, claimed.base) {
		if objectName.MatchString(name) {
			names[name] = true
		}
	}
	return true
}

// Parse reads the statement of a note. Who signed it, and whether it is true, is not looked at.
func Parse(text string) (*Statement, error) {
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	return n.statement, nil
}

// Rules is the digest of the policy as code that the change was held to; "" for none.
func (s *Statement) Rules() string {
	var l law
	if json.Unmarshal([]byte(s.Predicate.Relay.Policy.Text), &l) != nil {
		return ""
	}
	return l.Rules
}

// FromFirst gives those of the commits that follow the first one with a note, and that one.
func FromFirst(ctx context.Context, git *git.Repo, commits []string) ([]string, error) {
	notes, err := notesIn(ctx, git, Ref)
	at := slices.IndexFunc(commits, func(c string) bool { return notes[c] != "" })
	if err != nil || at < 0 {
		return nil, err
	}
	return commits[at:], nil
}
