package host

import (
	"errors"
	"io/fs"
	"os"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

func readSigners(path string, own bool) (attest.Signers, error) {
	b, err := workspace.ReadFile(path, maxSigners)
	if own && errors.Is(err, fs.ErrNotExist) {
		return nil, diag.New(judge.BlockedMissingConfig, "relay knows no signers", "relay has signed nothing on this machine, and no signers were named",
			"`relay verify --signers FILE`, with a file of allowed signers as ssh-keygen(1) and git have it")
	}
	if err != nil {
		return nil, diag.New(judge.BlockedMissingConfig, "the signers file can't be read", err.Error(), "`ls -l "+diag.Word(path)+"`")
	}
	signers, err := attest.ParseSigners(string(b))
	if err != nil {
		return nil, diag.New(judge.BlockedMissingConfig, "the signers file can't be read", err.Error(), "`man ssh-keygen` has its form, under ALLOWED SIGNERS")
	}
	return signers, nil
}

// maxSigners is the largest file of signers, in bytes.
const maxSigners = 4 << 20

// Signers are those of a file, or of this machine.
func (r *Repo) Signers(file string) (attest.Signers, string, error) {
	own := file == ""
	if own {
		file = attest.OwnSigners(r.StateDir())
	}
	all, err := readSigners(file, own)
	return all, file, err
}

// Believed are this machine's own signers and those of a file.
func (r *Repo) Believed(file string) (attest.Signers, error) {
	var all attest.Signers
	if own := attest.OwnSigners(r.StateDir()); exists(own) {
		signers, err := readSigners(own, true)
		if err != nil {
			return nil, err
		}
		all = signers
	}
	if file != "" {
		signers, err := readSigners(file, false)
		if err != nil {
			return nil, err
		}
		all = append(all, signers...)
	}
	return all, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
