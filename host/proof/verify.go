package proof

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/judge/git"
)

// VerifyOptions say what to verify, and whom to believe.
type VerifyOptions struct {
	What      []string // commits or a range, in git's words; none is HEAD
	Signers   string   // a file of allowed signers; "" is this machine's own
	RelayOnly bool     // commits that nobody says relay landed are no failure
}

// VerifyResult is the answer about each commit, the oldest first.
type VerifyResult struct {
	host.Doc
	Signers    string           `json:"signers"` // file of the signers
	Commits    []VerifiedCommit `json:"commits"`
	Verified   int              `json:"verified"`          // how many commits
	Changed    int              `json:"changed"`           // how many were changed after they landed
	NotCovered int              `json:"not_covered"`       // how many no signer vouches for
	Failed     int              `json:"failed"`            // of Changed and NotCovered, those that count
	Archive    *VerifiedArchive `json:"archive,omitempty"` // of relay evidence verify: where they are from
}

// VerifiedArchive is an archive for an auditor whose every byte somebody has signed.
type VerifiedArchive struct {
	By      string    `json:"by"` // the signer's name
	Key     string    `json:"key"`
	AsOf    time.Time `json:"as_of"`   // when it was made
	Range   string    `json:"range"`   // of the commits
	Tip     string    `json:"tip"`     // the last commit
	Runs    int       `json:"runs"`    // how many
	Unknown []string  `json:"unknown"` // what the archive does not say
}

// VerifiedCommit is the answer about one commit.
type VerifiedCommit = attest.Found

// The answers about a commit.
const (
	CommitVerified = attest.Verified
	CommitChanged  = attest.Changed
)

// Verify checks the attestations of commits. It reads the repository's objects and the
// file of signers, no configuration and no workspace, and asks no network.
func Verify(ctx context.Context, r *host.Repo, o VerifyOptions) (*VerifyResult, error) {
	git, err := git.OpenCommits(ctx, r.Dir)
	if err != nil {
		return nil, diag.Git(err)
	}
	if len(o.What) == 0 {
		o.What = []string{"HEAD"}
	}
	res := &VerifyResult{Doc: host.DocOf("relay.verify", 1)}
	var signers attest.Signers
	if signers, res.Signers, err = r.Signers(o.Signers); err != nil {
		return nil, err
	}
	commits, err := attest.Commits(ctx, git, o.What...)
	if err != nil {
		return nil, notNamed(err, o.What)
	}
	if res.Commits, err = (&attest.Verifier{Git: git, Signers: signers}).Verify(ctx, commits); err != nil {
		return nil, notRead(err)
	}
	res.count(o.RelayOnly)
	return res, nil
}

// notNamed says why what was asked for gives no commits.
func notNamed(err error, what []string) *diag.Error {
	asked := strings.Join(what, " ")
	if errors.Is(err, attest.ErrNoCommit) {
		line := "git log --oneline"
		for _, w := range what {
			line += " " + diag.Word(w)
		}
		return diag.New("", asked+" has no commit", err.Error(), "`"+line+"` shows those of a range, which is written OLD..NEW")
	}
	if bad, ok := errors.AsType[*attest.NameError](err); ok {
		asked = bad.Name
	}
	return diag.New("", fmt.Sprintf("%q names no commit", asked), diag.Git(err).Why, "`git log --oneline` shows those that there are; `git fetch --unshallow` gets the rest of a shallow clone")
}

// notRead says why commits or their notes can't be read.
func notRead(err error) *diag.Error {
	f := diag.Git(err)
	f.Fix = "`git fsck` and `git for-each-ref refs/notes` show what is damaged" // in a bare repository, too
	if strings.Contains(f.Why, "promisor remote") {
		f.What, f.Fix = "this partial clone lacks what is to be read", "`git fetch --refetch --no-filter origin "+attest.Ref+":"+attest.Ref+"` gets all notes, and `git log --raw` the trees"
	}
	return f
}

// count adds the answers up. relayOnly: commits that nobody says relay landed are no failure.
func (res *VerifyResult) count(relayOnly bool) {
	for _, c := range res.Commits {
		switch c.Status {
		case attest.Verified:
			res.Verified++
			continue
		case attest.Changed:
			res.Changed++
		default:
			res.NotCovered++
		}
		if c.Claims || !relayOnly {
			res.Failed++
		}
	}
}
