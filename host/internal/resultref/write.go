package resultref

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/judge/git"
)

// Secrets says where a text holds a value of the user's credentials; "" when nowhere.
type Secrets func(r io.Reader, known func(form string) bool) (from string, line int, err error)

// Write keeps a result as a commit at its ref. Its parent is what landed, or what was
// rejected, so that a fetch of the one brings the other. What stood there before does
// not count, or it would have been found.
func Write(ctx context.Context, o attest.Options, s Statement, files map[string][]byte, secrets Secrets) (object string, err error) {
	s.Version, s.Files = 1, map[string]string{}
	var names []string
	for name, b := range files {
		safe, err := fits(name, b, secrets)
		if err != nil {
			return "", err
		}
		if !safe {
			s.Left = append(s.Left, name)
			continue
		}
		s.Files[name] = digest(b)
		names = append(names, name)
	}
	slices.Sort(names)
	slices.Sort(s.Left)
	sealed, err := o.Seal(ctx, kind, attest.JSON(s))
	if err != nil {
		return "", fmt.Errorf("it can't be signed: %w", err)
	}
	var in bytes.Buffer // of git fast-import: all objects and the ref by one process
	message := "The result of run " + s.Run + "\n\nRelay-Key: " + s.Key + "\nRelay-Code: " + string(s.Code) + "\n"
	fmt.Fprintf(&in, "commit %s\nmark :1\ncommitter relay <relay@localhost> %d +0000\ndata %d\n%s\n", Ref(s.Key), s.EndedAt.Unix(), len(message), message)
	for _, parent := range []string{s.Commit, s.Kept} {
		if parent != "" {
			fmt.Fprintf(&in, "from %s\ndeleteall\n", parent)
			break
		}
	}
	add := func(name string, b []byte) {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n", name, len(b))
		in.Write(b)
		in.WriteString("\n")
	}
	add(statementName, sealed)
	for _, name := range names {
		add(name, files[name])
	}
	in.WriteString("get-mark :1\ndone\n")
	out, err := o.Git.Write(ctx, nil, &in, "-c", "core.ignoreCase=false", "fast-import", "--quiet", "--done", "--force", "--date-format=raw")
	return strings.TrimSpace(string(out)), err
}

func fits(name string, b []byte, secrets Secrets) (bool, error) {
	if int64(len(b)) > limits[name] {
		return false, nil
	}
	if secrets == nil {
		return true, nil
	}
	from, _, err := secrets(bytes.NewReader(b), nil)
	return from == "", err
}

// Attestation is the note about a commit, nil when there is none.
func Attestation(ctx context.Context, git *git.Repo, commit string) []byte {
	out, err := git.Run(ctx, nil, "notes", "--ref="+attest.Ref, "show", commit)
	if commit == "" || err != nil {
		return nil
	}
	return out
}
