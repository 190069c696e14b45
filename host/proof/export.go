package proof

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/bundle"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// ExportOptions say what goes into an archive for an auditor. At most one of Since and
// Range is set; with none of them it begins with the first commit that has an attestation.
type ExportOptions struct {
	Since time.Time // commits of HEAD and runs from then on
	Range string    // these commits, and the runs that landed them
	File  string    // where it goes; "" is a file of relay's own
}

// ExportResult is an archive that was written.
type ExportResult struct {
	host.Doc
	File     string   `json:"file"`
	Bytes    int64    `json:"bytes"`
	Commits  int      `json:"commits"`
	Attested int      `json:"attested"` // of them
	Runs     int      `json:"runs"`     // how many
	Unknown  []string `json:"unknown"`  // what the archive does not say
}

// Export writes an archive that others check without this repository.
func Export(ctx context.Context, r *host.Repo, o ExportOptions) (*ExportResult, error) {
	repo, err := r.Open()
	if err != nil {
		return nil, err
	}
	git, err := git.Open(ctx, repo.Root)
	if err != nil {
		return nil, diag.Git(err)
	}
	cfg := repo.Loaded.Config
	if cfg.Evidence.Sign == attest.Off {
		return nil, diag.New(judge.BlockedMissingConfig, "the archive can't be signed", "evidence.sign is off, and an unsigned archive proves nothing", "`RELAY_EVIDENCE_SIGN=relay relay evidence export`")
	}
	g := &evidence{r: r, o: repo, git: git, asked: o, byID: map[string]*bundle.Run{}, calls: map[string][]attest.Call{}}
	if err := g.gather(ctx); err != nil {
		return nil, err
	}
	pack, err := g.pack(ctx)
	if err != nil {
		return nil, notRead(err)
	}
	page, err := bundle.Page(g.facts, g.landed)
	if err != nil {
		return nil, diag.Internal(err)
	}
	g.members = append(g.members, page)
	if o.File == "" {
		if o.File, err = r.Scratch("evidence.tar.gz"); err != nil {
			return nil, err
		}
	}
	secrets := pluginenv.Secrets(cfg, r.Home())
	for _, m := range g.members {
		if err := tellsNoSecret(secrets, m.Name, m.Content()); err != nil {
			return nil, err
		}
	}
	g.members = append(g.members, bundle.Objects(pack))
	sign := attest.Options{Git: git, StateDir: r.StateDir(), Home: r.Home(), Environ: r.Options.Env, Sign: cfg.Evidence.Sign, Version: r.Options.Version, Now: r.Now()}
	seal := func(kind string, payload []byte) ([]byte, error) {
		if err := tellsNoSecret(secrets, bundle.ManifestName, payload); err != nil {
			return nil, err
		}
		sealed, err := sign.Seal(ctx, kind, payload)
		if err != nil {
			return nil, diag.New(judge.BlockedMissingConfig, "the archive can't be signed", err.Error(), "`RELAY_EVIDENCE_SIGN=relay relay evidence export` signs with relay's own key")
		}
		return sealed, nil
	}
	size, err := writeArchive(o.File, func(w io.Writer) error { return bundle.Write(w, g.facts, g.members, seal) })
	if f, ok := diag.As(err); ok {
		return nil, f
	}
	if err != nil {
		return nil, diag.Wrap(err, "", o.File+" can't be written", "`ls -ld "+diag.Word(filepath.Dir(o.File))+"`")
	}
	return &ExportResult{host.DocOf("relay.evidence", 1), o.File, size, len(g.facts.Commits), g.attested, len(g.facts.Runs), g.facts.Unknown}, nil
}

// tellsNoSecret refuses a text that holds a value of the user's credentials.
func tellsNoSecret(secrets func(io.Reader, func(string) bool) (string, int, error), name string, text []byte) error {
	from, line, err := secrets(bytes.NewReader(text), nil)
	if err == nil && from != "" {
		err = fmt.Errorf("line %d of %s has a value of %s", line, name, from)
	}
	if err != nil {
		return diag.New(judge.StopSecret, "the archive would hold a credential", err.Error(), "`relay evidence export --range RANGE` for a range without it")
	}
	return nil
}

// writeArchive writes all of a file or nothing.
func writeArchive(path string, write func(io.Writer) error) (size int64, err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".relay-evidence-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(tmp.Name())
	err = write(tmp)
	if fi, serr := tmp.Stat(); serr == nil {
		size = fi.Size()
	}
	for _, last := range []func() error{func() error { return tmp.Chmod(0o644) }, tmp.Sync, tmp.Close, func() error { return os.Rename(tmp.Name(), path) }} {
		if err == nil {
			err = last()
		}
	}
	return size, err
}

// pack gives the objects that verifying needs, without contents of files: the same bytes of the
// same objects. Git prints them, since it can't write a pack on another file system than its own.
func (g *evidence) pack(ctx context.Context) ([]byte, error) {
	names, err := g.git.Run(ctx, strings.NewReader(strings.Join(g.objects, "\n")+"\n"), "rev-list", "--objects", "--no-object-names", "--no-walk", "--filter=blob:none", "--stdin")
	if err != nil {
		return nil, err
	}
	return g.git.Run(ctx, bytes.NewReader(names), "-c", "pack.packSizeLimit=0", "pack-objects", "-q", "--threads=1", "--window=0", "--compression=9",
		"--no-reuse-object", "--no-reuse-delta", "--stdout")
}

// VerifyArchive checks an archive. It reads that file and the file of signers, no
// repository, no configuration and no workspace, and asks no network.
func VerifyArchive(ctx context.Context, r *host.Repo, file string, o VerifyOptions) (*VerifyResult, error) {
	signers, path, err := r.Signers(o.Signers)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that nobody writes to is empty
	if err != nil {
		return nil, diag.Wrap(err, "", "the archive can't be read", "`ls -l "+diag.Word(file)+"`")
	}
	defer f.Close()
	c, err := bundle.Verify(ctx, f, signers)
	if err != nil {
		return nil, diag.Wrap(err, "", file+" is not an evidence archive", "`relay evidence export` makes another; `relay evidence verify FILE --signers SIGNERS` names whom to believe")
	}
	res := &VerifyResult{Doc: host.DocOf("relay.evidence.verify", 1), Signers: path, Commits: c.Found,
		Archive: &VerifiedArchive{By: c.By, Key: c.Key, AsOf: c.Predicate.AsOf, Range: c.Predicate.Range, Tip: c.Predicate.Tip, Runs: len(c.Predicate.Runs), Unknown: slices.Clone(c.Predicate.Unknown)}}
	res.count(o.RelayOnly)
	return res, nil
}
