package keys

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// EnvFile is a file of NAME=value lines in a repository, of which the operator said
// that plugins may have their keys from it. The zero EnvFile is none.
type EnvFile struct {
	Root string // of the repository
	Path string // relative to Root
}

// Read gives the variables of the file; none when there is no file. A file that git
// tracks is refused: a key in it would be everybody's, and anyone who writes to the
// repository could choose it. Errors are *diag.Error and hold no values.
func (e EnvFile) Read(ctx context.Context) (map[string]string, error) {
	if e.Path == "" {
		return nil, nil
	}
	f, err := beneath.Open(e.Root, e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, noKey(e.Path+" can't be read", err.Error(), "`ls -l "+diag.Word(e.Path)+"`")
	}
	defer f.Close()
	if err := e.untracked(ctx); err != nil {
		return nil, err
	}
	b, err := private(f, e.Path)
	if err != nil {
		return nil, err
	}
	vars, line := parseEnv(b)
	if line > 0 {
		return nil, noKey(fmt.Sprintf("%s can't be read: line %d is not NAME=value", e.Path, line), "", fmt.Sprintf("`${EDITOR:-vi} +%d %s`", line, diag.Word(e.Path)))
	}
	return vars, nil
}

func (e EnvFile) untracked(ctx context.Context) error {
	git, err := git.Open(ctx, e.Root)
	var out []byte
	if err == nil {
		out, err = git.Run(ctx, nil, "ls-files", "-z", "--", ":(literal,top)"+e.Path)
	}
	switch {
	case err != nil:
		return diag.Wrap(err, judge.BlockedAuth, "it is not known whether git tracks "+e.Path, "`git ls-files "+diag.Word(e.Path)+"`")
	case len(out) > 0:
		return noKey(e.Path+" is tracked by git, so relay takes no key from it", "everyone with a copy of the repository has it",
			"`git rm --cached "+diag.Word(e.Path)+"`, add it to .gitignore, commit, and renew the keys that were in it")
	}
	return nil
}

// parseEnv reads NAME=value lines: comments, "export", single and double quotes;
// nothing is expanded. line is the first that can't be read, 0 when all can.
func parseEnv(b []byte) (vars map[string]string, line int) {
	vars = map[string]string{}
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, maxKey+1)
	for n := 1; sc.Scan(); n++ {
		text := strings.TrimSpace(sc.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(text, "export "), "=")
		name = strings.TrimSpace(name)
		if !ok || !variable.MatchString(name) {
			return nil, n
		}
		if value, ok = unquote(strings.TrimSpace(value)); !ok {
			return nil, n
		}
		vars[name] = value
	}
	return vars, 0
}

func unquote(s string) (string, bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		s, _, _ = strings.Cut(s, " #")
		return strings.TrimSpace(s), true
	}
	end := strings.IndexByte(s[1:], s[0])
	if end < 0 {
		return "", false
	}
	rest := strings.TrimSpace(s[end+2:])
	return s[1 : end+1], rest == "" || strings.HasPrefix(rest, "#")
}
