package trust

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/attest"
	reporoot "github.com/paxiom/relay/host/internal/root"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Widening is what a person has added to the ceiling of a repository for good.
type Widening struct {
	Globs     []string `json:"globs,omitempty"` // patterns beyond the configuration's
	NewFiles  bool     `json:"new_files,omitempty"`
	Lockfiles bool     `json:"lockfiles,omitempty"` // they may change
	Files     int      `json:"files,omitempty"`     // 0: as the configuration says
	Lines     int      `json:"lines,omitempty"`     // most that may change; 0: as the configuration says
}

// Widen gives the ceiling with it.
func (w Widening) Widen(c judge.Ceiling) judge.Ceiling {
	if len(w.Globs) > 0 {
		c.Allowed = slices.Clone(c.Allowed)
		for i := range c.Allowed {
			c.Allowed[i] = slices.Concat(c.Allowed[i], w.Globs)
		}
	}
	c.NewFiles, c.LockfileChanges = c.NewFiles || w.NewFiles, c.LockfileChanges || w.Lockfiles
	c.MaxFiles, c.MaxLines = max(c.MaxFiles, w.Files), max(c.MaxLines, w.Lines)
	return c
}

func (w *Widening) add(more Widening) {
	for _, g := range more.Globs {
		if !slices.Contains(w.Globs, g) {
			w.Globs = append(w.Globs, g)
		}
	}
	w.NewFiles, w.Lockfiles = w.NewFiles || more.NewFiles, w.Lockfiles || more.Lockfiles
	w.Files, w.Lines = max(w.Files, more.Files), max(w.Lines, more.Lines)
}

// Wish is a task of a model's that asks for more than the ceiling gives, while a person is
// asked about it. It lies in the user's state: a repository can't bring one that is allowed.
type Wish struct {
	RunID    string          `json:"run_id"`
	Task     json.RawMessage `json:"task"`
	Widening Widening        `json:"widening"`
	// OnceOnly: it names protected files, which are opened for one task at a time.
	OnceOnly bool `json:"once_only,omitempty"`
	Allowed  bool `json:"allowed,omitempty"`
	// Built is set where the wish is not about a task to build: it is built, and the policy
	// asks whether it may land.
	Built *Built           `json:"built,omitempty"`
	Yes   *attest.Approval `json:"yes,omitempty"` // to the task, where nothing is built
}

// Built is a change that a run has kept, with the rules that ask about it.
type Built struct {
	Base   string      `json:"base_commit"`
	Commit string      `json:"commit"` // that keeps it, on top of Base
	By     judge.Asker `json:"by"`     // who wrote the task
	Beyond bool        `json:"beyond,omitempty"`
	Policy string      `json:"policy_sha256"`
	Rules  []string    `json:"rules"`
	// Touched is the digest of what it touches; Yes are the approvals that it has.
	Touched string            `json:"touched_sha256,omitempty"`
	Yes     []attest.Approval `json:"yes,omitempty"`
	// Plugins are those that planned and built it.
	Plugins []attest.Plugin `json:"plugins,omitempty"`
}

// The answers to the question about a wish. Any other text is a no that the planner reads.
const (
	AllowOnce   = "allow it once"
	AllowAlways = "always allow it in this repository"
	AllowNo     = "no"
	Land        = "land it"
	LeaveIt     = "leave it"
)

// Choices are the answers that are offered.
func (w *Wish) Choices() []string {
	switch {
	case w.Built != nil:
		return []string{Land, LeaveIt}
	case w.OnceOnly:
		return []string{AllowOnce, AllowNo}
	}
	return []string{AllowOnce, AllowAlways, AllowNo}
}

// Digest is that of the task as an attestation has it: indented from the margin.
func (w *Wish) Digest() (string, error) {
	var text bytes.Buffer
	err := json.Indent(&text, w.Task, "", "  ")
	sum := sha256.Sum256(text.Bytes())
	return hex.EncodeToString(sum[:]), err
}

// maxWish is the largest file of a wish, in bytes: a task may hold a patch.
const maxWish = 4 << 20

func (s *Store) wishPath(root string) string {
	id, _ := identity(root, false) // without one nothing was asked
	sum := sha256.Sum256([]byte(canonicalRoot(root) + "\x00" + id))
	return filepath.Join(s.dir, "wishes", hex.EncodeToString(sum[:12])+".json")
}

// Ask keeps a wish until it is answered, in place of an earlier one.
func (s *Store) Ask(root string, w Wish) error {
	if _, err := identity(root, true); err != nil {
		return err
	}
	path := s.wishPath(root)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return workspace.WriteJSON(path, w)
}

// wish gives what was asked, nil when nothing was.
func (s *Store) wish(root string) (*Wish, error) {
	b, err := workspace.ReadFile(s.wishPath(root), maxWish)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	w := &Wish{}
	if err == nil {
		err = strictjson.Unmarshal(b, w)
	}
	return w, err
}

// AnswerWish takes the answer to the question of a run, when that was about a wish. approve
// makes an approval of a yes.
func (s *Store) AnswerWish(root, run, answer string, approve func(*Wish) attest.Approval) error {
	w, err := s.wish(root)
	if err != nil || w == nil || w.RunID != run {
		return err
	}
	answer = strings.TrimSpace(answer)
	if answer == AllowAlways && !w.OnceOnly && w.Built == nil {
		id, err := identity(root, true)
		if err != nil {
			return err
		}
		if _, err := s.change(func(f *file) bool {
			e := f.Repositories[canonicalRoot(root)]
			if e.Of != id {
				e.Of, e.Ceiling = id, Widening{}
			}
			e.Ceiling.add(w.Widening)
			f.Repositories[canonicalRoot(root)] = e
			return true
		}); err != nil {
			return err
		}
		answer = AllowOnce
	}
	if yes := w.Choices()[0]; answer != yes {
		return s.dropWish(root)
	}
	w.Allowed = true
	if yes := approve(w); w.Built != nil {
		w.Built.Yes = append(w.Built.Yes, yes)
	} else {
		w.Yes = &yes
	}
	return s.Ask(root, *w)
}

// Allowed reports whether TakeAllowed would give a wish.
func (s *Store) Allowed(root string) bool {
	w, err := s.wish(root)
	return err == nil && w != nil && w.Allowed
}

// TakeAllowed gives the wish that was allowed, once; nil when there is none. One that was
// not answered is dropped.
func (s *Store) TakeAllowed(root string) (*Wish, error) {
	w, err := s.wish(root)
	if err != nil || w == nil {
		return nil, err
	}
	if err := s.dropWish(root); err != nil || !w.Allowed {
		return nil, err
	}
	return w, nil
}

func (s *Store) dropWish(root string) error {
	err := os.Remove(s.wishPath(root))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Widened gives what was added to the ceiling of the repository at root.
func (s *Store) Widened(root string) (Widening, error) {
	f, err := s.read()
	if err != nil {
		return Widening{}, err
	}
	e := f.Repositories[canonicalRoot(root)]
	if id, err := identity(root, false); e.Of == "" || err != nil || id != e.Of {
		return Widening{}, err
	}
	return e.Ceiling, nil
}

// identity is a random text in a repository's state: a clone at the same path has none.
func identity(root string, create bool) (string, error) {
	path := filepath.Join(reporoot.GitDir(canonicalRoot(root)), workspace.StateName, "id")
	b, err := workspace.ReadFile(path, 100)
	if !errors.Is(err, fs.ErrNotExist) {
		return string(b), err
	}
	if !create {
		return "", nil
	}
	id := rand.Text()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return id, workspace.WriteFile(path, []byte(id))
}
