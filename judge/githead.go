package judge

import (
	"context"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// HeadNow is Head for who knows the repository and only wants to see whether HEAD moved:
// that the commit is there is not looked at. Most times git's own files say it, which
// takes no process; where they don't, plainly, git is asked.
func (g *Git) HeadNow(ctx context.Context) (commit, branch string, err error) {
	if commit, branch, ok := g.readHead(); ok {
		return commit, branch, nil
	}
	return g.Head(ctx)
}

// readHead reads HEAD and the branch that it names. Whatever is not of the usual form (a
// packed ref, a link, a ref that names another one, another store of refs) is not ok.
func (g *Git) readHead() (commit, branch string, ok bool) {
	if g.GitDir == "" || g.CommonDir == "" {
		return "", "", false
	}
	head, ok := refFile(filepath.Join(g.GitDir, "HEAD"))
	if !ok {
		return "", "", false
	}
	branch, named := strings.CutPrefix(head, "ref: refs/heads/")
	if named {
		if !filepath.IsLocal(branch) {
			return "", "", false
		}
		if head, ok = refFile(filepath.Join(g.CommonDir, "refs", "heads", filepath.FromSlash(branch))); !ok {
			return "", "", false
		}
	} else {
		branch = ""
	}
	want := 20
	if g.ObjectFormat == "sha256" {
		want = 32
	}
	id, err := hex.DecodeString(head)
	return head, branch, err == nil && len(id) == want
}

// refFile reads the one line of a small file of git's.
func refFile(path string) (line string, ok bool) {
	text, err := ReadFile(path, 4<<10)
	line, ok = strings.CutSuffix(string(text), "\n")
	return line, ok && err == nil && !strings.Contains(line, "\n")
}
