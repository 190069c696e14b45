package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/program"
)

// schemeSigstore is in front of an identity that signs without a key of its own: who
// vouches for it and what it is, "sigstore:ISSUER#IDENTITY". A "*" at the end of the
// identity is any one name of a tag or branch.
const schemeSigstore = "sigstore:"

const (
	cosign     = "cosign"
	cosignTime = time.Minute
	// rootBelowHome is where `cosign initialize` leaves whom sigstore trusts.
	rootBelowHome = ".sigstore/root/tuf-repo-cdn.sigstore.dev/targets/trusted_root.json"
)

// anyName is what the "*" of an identity stands for.
const anyName = `[A-Za-z0-9][A-Za-z0-9._+-]*`

var identity = regexp.MustCompile(`^https://[^\s#*]+#[^\s#*]{3,}\*?$`)

func parseIdentity(text string) (string, error) {
	if !identity.MatchString(text) {
		return "", fmt.Errorf("%.120q is not an identity: it must be sigstore:ISSUER#IDENTITY, such as "+
			"sigstore:https://token.actions.githubusercontent.com#https://github.com/OWNER/REPOSITORY/.github/workflows/release.yml@refs/tags/*", text)
	}
	return schemeSigstore + text, nil
}

// checkBundle holds SHA256SUMS to a sigstore bundle, by the separate program cosign and
// without the network: all that is needed is in the bundle and in the file of trusted
// roots.
func checkBundle(key, sums, bundle string) error {
	issuer, who, _ := strings.Cut(strings.TrimPrefix(key, schemeSigstore), "#")
	found, err := program.Find(cosign, os.Getenv("PATH"), program.Tree("."))
	if err != nil {
		return diag.New(judge.BlockedPlugin, "the release is signed with sigstore, and the program that checks such signatures is missing",
			"relay checks minisign and ed25519 by itself, sigstore bundles by "+cosign+" 2.4 or newer in PATH",
			"`go install github.com/sigstore/cosign/v3/cmd/cosign@latest`, or your system's package of it, then try again")
	}
	root, err := trustedRoot()
	if err != nil {
		return err
	}
	as := []string{"--certificate-identity", who}
	if before, any := strings.CutSuffix(who, "*"); any {
		as = []string{"--certificate-identity-regexp", "^" + regexp.QuoteMeta(before) + anyName + "$"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), cosignTime)
	defer cancel()
	argv := append([]string{"verify-blob", "--new-bundle-format", "--bundle", bundle, "--trusted-root", root, "--certificate-oidc-issuer", issuer}, as...)
	cmd := exec.CommandContext(ctx, found.Name, append(argv, sums)...)
	cmd.Dir, cmd.WaitDelay = filepath.Dir(sums), time.Second
	// A proxy that nobody serves: a check that would ask the network fails instead.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(sums), "HTTPS_PROXY=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9"}
	out := &tail{}
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s did not end within %v", cosign, cosignTime)
	case errors.As(err, &exit):
		return bad(fmt.Sprintf("%s is not a signature of %s by %s: %s says %q", bundleFile, sumsFile, key, cosign, out))
	}
	return fmt.Errorf("%s can't be started: %w", cosign, err)
}

// trustedRoot is the file that says whom sigstore trusts: one of the user's own for
// relay, or the one that cosign has fetched.
func trustedRoot() (string, error) {
	config, err := os.UserConfigDir()
	home, bad := os.UserHomeDir()
	if err != nil || bad != nil {
		return "", errors.Join(err, bad)
	}
	own, fetched := filepath.Join(config, "relay", "trusted_root.json"), filepath.Join(home, filepath.FromSlash(rootBelowHome))
	for _, path := range []string{own, fetched} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", diag.New(judge.BlockedPlugin, "the release is signed with sigstore, and this machine has no list of whom sigstore trusts",
		"the check uses no network; it needs "+own+" or "+fetched, "`"+cosign+" initialize` fetches it once, then try again")
}

// tail keeps the end of what a program prints, as one line.
type tail struct{ last []byte }

const maxTail = 600

func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	if extra := len(t.last) - maxTail; extra > 0 {
		t.last = append(t.last[:0], t.last[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(bytes.Join(bytes.Fields(t.last), []byte(" "))) }
