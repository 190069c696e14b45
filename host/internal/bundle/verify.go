package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/judge/git"
)

// Checked is an archive that is what somebody who is believed put together, and the answer
// about each of its commits.
type Checked struct {
	*Manifest
	By, Key string // who signed the manifest
	Found   []attest.Found
}

// Verify checks an archive. Its objects go into a repository of their own in a temporary
// folder, and its commits are verified there as in any other.
func Verify(ctx context.Context, r io.Reader, signers attest.Signers) (*Checked, error) {
	dir, err := os.MkdirTemp("", "relay-evidence-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	c, notes, pack := &Checked{}, map[string]string{}, filepath.Join(dir, "objects")
	err = read(r, func(sealed []byte) ([]Subject, error) {
		var err error
		_, c.By, c.Key, err = signers.Open(payloadType, sealed, func(payload []byte) (time.Time, error) {
			if c.Manifest, err = decode(payload); err != nil {
				return time.Time{}, err
			}
			return c.Predicate.AsOf, nil
		})
		if err == nil {
			err = c.bounded()
		}
		if err == nil {
			err = c.policies()
		}
		if err != nil {
			return nil, &Refused{err}
		}
		return c.Subject, nil
	}, func(s Subject, r io.Reader) error {
		switch commit, isNote := strings.CutPrefix(s.Name, notesDir); {
		case isNote:
			text, err := io.ReadAll(io.LimitReader(r, maxText))
			notes[strings.TrimSuffix(commit, notesEnd)] = string(text)
			return err
		case s.Name == objectsName:
			f, err := os.OpenFile(pack, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return err
			}
			_, err = io.Copy(f, r)
			return errors.Join(err, f.Close())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	git, err := unpack(ctx, filepath.Join(dir, "repository"), pack, c.Predicate.ObjectFormat)
	if err != nil {
		return nil, &Refused{fmt.Errorf("its objects can't be read: %w", err)}
	}
	if err := gaps(ctx, git, c.Predicate.Commits); err != nil {
		return nil, &Refused{err}
	}
	v := &attest.Verifier{Git: git, Signers: signers, Notes: notes}
	if c.Found, err = v.Verify(ctx, c.Predicate.Commits); err != nil {
		return nil, &Refused{err}
	}
	return c, nil
}

// gaps refuses a list of commits that no range has: one before its parent, or one whose parent, which
// is left out, stands on another of the list.
func gaps(ctx context.Context, git *git.Repo, commits []string) error {
	parents := func(of []string) (map[string][]string, error) {
		if len(of) == 0 {
			return nil, nil
		}
		// The base of a commit that no signer speaks of is not in the archive.
		out, err := git.Run(ctx, strings.NewReader(strings.Join(of, "\n")+"\n"), "rev-list", "--no-walk", "--parents", "--ignore-missing", "--stdin")
		all := map[string][]string{}
		for line := range strings.Lines(string(out)) {
			names := strings.Fields(line)
			all[names[0]] = names[1:]
		}
		return all, err
	}
	above, err := parents(commits)
	if err != nil {
		return err
	}
	var bases []string
	before := map[string]bool{}
	for _, c := range commits {
		before[c] = true
		for _, p := range above[c] {
			if _, listed := above[p]; !listed {
				bases = append(bases, p)
			} else if !before[p] {
				return fmt.Errorf("its commits are not in order: %.12s is before its parent", c)
			}
		}
	}
	below, err := parents(bases)
	for base, all := range below {
		if slices.ContainsFunc(all, func(p string) bool { return before[p] }) {
			return fmt.Errorf("its list leaves out the commit %.12s, between two that it has", base)
		}
	}
	return err
}

// bounded holds the members to their bounds before any is read.
func (c *Checked) bounded() error {
	texts, last := int64(0), ""
	for _, s := range c.Subject {
		if s.Name <= last {
			return errors.New("its members are not in order")
		}
		last = s.Name
		size, most := s.Annotations.Bytes, int64(maxText)
		if s.Name == objectsName {
			most = maxObjects
		} else {
			texts += size
		}
		if size < 0 || size > most || texts > maxTexts {
			return fmt.Errorf("%s is larger than such a member is", s.Name)
		}
	}
	return nil
}

// unpack makes a repository that has the objects and nothing else.
func unpack(ctx context.Context, dir, pack, format string) (*git.Repo, error) {
	config := "[core]\n\trepositoryformatversion = 0\n"
	if format != "sha1" {
		config = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = " + format + "\n"
	}
	inside := filepath.Join(dir, ".git")
	for _, d := range []string{"objects/pack", "refs"} {
		if err := os.MkdirAll(filepath.Join(inside, d), 0o700); err != nil {
			return nil, err
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config} {
		if err := os.WriteFile(filepath.Join(inside, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	git, err := git.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(pack)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = git.Write(ctx, []string{"GIT_ALLOC_LIMIT=512m"}, f, "index-pack", "--stdin", "--threads=1")
	return git, err
}
