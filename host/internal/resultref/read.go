package resultref

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// Read gives the result at a key's ref; nil where there is none. What does not count is an
// *Untrusted.
func Read(ctx context.Context, git *git.Repo, signers attest.Signers, key string) (*Result, error) {
	return readAt(ctx, git, signers, key, Ref(key))
}

func readAt(ctx context.Context, repo *git.Repo, signers attest.Signers, key, ref string) (*Result, error) {
	names := []string{ref + "^{commit}"}
	files := []string{statementName}
	for name := range limits {
		if name != statementName {
			files = append(files, name)
		}
	}
	for _, f := range files {
		names = append(names, ref+":"+f)
	}
	at, err := look(ctx, repo, names)
	if err != nil {
		return nil, err
	}
	if at[0].kind == "" {
		return nil, nil
	}
	r, err := open(ctx, repo, signers, key, files, at[1:])
	if err != nil {
		if e, ok := errors.AsType[*git.Error](err); ok {
			return nil, e
		}
		return nil, &Untrusted{ref, err}
	}
	r.Object = at[0].name
	return r, nil
}

// open checks everything that a result says, before any of it is used.
func open(ctx context.Context, git *git.Repo, signers attest.Signers, key string, files []string, at []object) (*Result, error) {
	sealed, err := read(ctx, git, statementName, at[0])
	if err != nil {
		return nil, err
	}
	r := &Result{}
	_, r.By, r.Print, err = signers.Open(kind, sealed, func(payload []byte) (when time.Time, err error) {
		r.Statement, err = decode(payload)
		return r.EndedAt, err
	})
	if err != nil {
		return nil, err
	}
	if r.Key != key || !history.ValidRunID(r.Run) {
		return nil, errors.New("it is the result of another key")
	}
	if r.Code.Outcome() == judge.OutcomeBlocked || r.Code == judge.StopInterrupted {
		return nil, errors.New("it is of a run that did not end")
	}
	if err := r.here(ctx, git); err != nil {
		return nil, err
	}
	for i, name := range files[1:] {
		want, listed := r.Files[name]
		if !listed && at[i+1].kind == "" {
			continue
		}
		b, err := read(ctx, git, name, at[i+1])
		if err != nil {
			return nil, err
		}
		if digest(b) != want {
			return nil, fmt.Errorf("its %s is not what was signed", name)
		}
		if name == TrailName {
			r.Trail = b
		}
		if name == ReportName {
			if r.Report, err = report.Decode(b); err != nil {
				return nil, err
			}
		}
	}
	if r.Report == nil {
		return nil, errors.New("it has no report")
	}
	if rep := r.Report; rep.RunID != r.Run || rep.Code != r.Code || rep.Commit != r.Commit {
		return nil, errors.New("its report is another run's")
	}
	return r, nil
}

// here reports whether what it speaks of belongs to this repository: signed results of another
// one say nothing here.
func (r *Result) here(ctx context.Context, git *git.Repo) error {
	names := []string{r.Base}
	for _, name := range []string{r.Commit, r.Kept} {
		if name != "" {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if len(name) < 40 || strings.Trim(name, "0123456789abcdef") != "" {
			return errors.New("it names no commit")
		}
	}
	at, err := look(ctx, git, names)
	if err != nil {
		return err
	}
	for i, o := range at {
		if o.kind != "commit" {
			return fmt.Errorf("it is about %.12s, which is not a commit of this repository", names[i])
		}
	}
	return nil
}

// object is what git says of one before it is read.
type object struct {
	name, kind string // "" when it is not there
	size       int64
}

// look asks git what stands at names.
func look(ctx context.Context, git *git.Repo, names []string) ([]object, error) {
	out, err := git.Run(ctx, strings.NewReader(strings.Join(names, "\n")+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)")
	if err != nil {
		return nil, err
	}
	rows := slices.Collect(strings.Lines(string(out)))
	if len(rows) != len(names) {
		return nil, errors.New("git's answer can't be read")
	}
	all := make([]object, len(names))
	for i, row := range rows {
		if f := strings.Fields(row); len(f) == 3 {
			if n, err := strconv.ParseInt(f[2], 10, 64); err == nil {
				all[i] = object{f[0], f[1], n}
			}
		}
	}
	return all, nil
}

// read reads a file of a result that is no larger than such a file may be.
func read(ctx context.Context, git *git.Repo, name string, o object) ([]byte, error) {
	switch {
	case o.kind != "blob":
		return nil, fmt.Errorf("it has no %s", name)
	case o.size > limits[name]:
		return nil, fmt.Errorf("its %s is larger than such a file is", name)
	}
	return git.Run(ctx, nil, "cat-file", "blob", o.name)
}

// Take makes an object that was fetched the result of a key, when it counts.
func Take(ctx context.Context, git *git.Repo, signers attest.Signers, key, object string) (*Result, error) {
	r, err := readAt(ctx, git, signers, key, object)
	if err == nil && r == nil {
		err = &Untrusted{Ref(key), errors.New("it is not a commit")}
	}
	if err != nil {
		return nil, err
	}
	_, err = git.Write(ctx, nil, nil, "update-ref", Ref(key), r.Object)
	return r, err
}
