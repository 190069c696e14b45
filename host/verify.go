package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// VerifyOptions say what to verify, and whom to believe.
type VerifyOptions struct {
	What      string // a commit or a range; "" is HEAD
	Signers   string // a file of allowed signers; "" is this machine's own
	RelayOnly bool   // commits that nobody says relay landed are no failure
}

// VerifyResult is the answer about each commit, the oldest first.
type VerifyResult struct {
	Doc
	Signers    string           `json:"signers"`
	Commits    []VerifiedCommit `json:"commits"`
	Verified   int              `json:"verified"`
	Changed    int              `json:"changed"`
	NotCovered int              `json:"not_covered"`
	Failed     int              `json:"failed"`            // of Changed and NotCovered, those that count
	Archive    *VerifiedArchive `json:"archive,omitempty"` // of relay evidence verify: where they are from
}

// VerifiedArchive is an archive for an auditor whose every byte somebody has signed.
type VerifiedArchive struct {
	By      string    `json:"by"`
	Key     string    `json:"key"`
	AsOf    time.Time `json:"as_of"`
	Range   string    `json:"range"`
	Tip     string    `json:"tip"`
	Runs    int       `json:"runs"`
	Unknown []string  `json:"unknown"`
}

// VerifiedCommit is the answer about one commit.
type VerifiedCommit = attest.Found

// The answers about a commit.
const (
	CommitVerified = attest.Verified
	CommitChanged  = attest.Changed
)

// maxSigners is the largest file of signers, in bytes.
const maxSigners = 4 << 20

// Verify checks the attestations of commits. It reads the repository's objects and the
// file of signers, no configuration and no workspace, and asks no network.
func (r *Repo) Verify(ctx context.Context, o VerifyOptions) (*VerifyResult, error) {
	git, err := judge.OpenGit(ctx, r.dir)
	if err != nil {
		return nil, fault.Git(err)
	}
	if o.What == "" {
		o.What = "HEAD"
	}
	res := &VerifyResult{Doc: Doc{"relay.verify", 1}}
	var signers attest.Signers
	if signers, res.Signers, err = r.signers(o.Signers); err != nil {
		return nil, err
	}
	commits, err := attest.Commits(ctx, git, o.What)
	if err != nil {
		return nil, fault.New("", fmt.Sprintf("%q names no commit", o.What), fault.Git(err).Why, "`git log --oneline` shows those that there are; `git fetch --unshallow` gets the rest of a shallow clone")
	}
	res.Commits, err = (&attest.Verifier{Git: git, Signers: signers}).Verify(ctx, commits)
	if err != nil {
		return nil, fault.Git(err)
	}
	res.count(o.RelayOnly)
	return res, nil
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

// signers are those of a file, or of this machine.
func (r *Repo) signers(file string) (attest.Signers, string, error) {
	own := file == ""
	if own {
		file = attest.OwnSigners(r.stateDir())
	}
	all, err := readSigners(file, own)
	return all, file, err
}

func readSigners(path string, own bool) (attest.Signers, error) {
	b, err := workspace.ReadFile(path, maxSigners)
	if own && errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(judge.BlockedMissingConfig, "there is nobody to believe", "relay has signed nothing on this machine, and no signers were named",
			"`relay verify --signers FILE`, with a file of allowed signers as ssh-keygen(1) and git have it")
	}
	if err != nil {
		return nil, fault.New(judge.BlockedMissingConfig, "the file of signers can't be read", err.Error(), "`ls -l "+fault.Word(path)+"`")
	}
	signers, err := attest.ParseSigners(string(b))
	if err == nil && len(signers) == 0 {
		err = errors.New("it has no ed25519 key")
	}
	if err != nil {
		return nil, fault.New(judge.BlockedMissingConfig, "the file of signers can't be read", err.Error(), "`man ssh-keygen` has its form, under ALLOWED SIGNERS")
	}
	return signers, nil
}
