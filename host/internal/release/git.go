package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/store"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// schemeGit begins the address of a mirror that is a git repository, "git+https://host/mirror.git":
// its files are those of HEAD.
const schemeGit = "git+"

// mirrorRef is where HEAD of such a repository is kept.
const mirrorRef = "refs/relay/mirror"

// splitGit takes the address of a file in such a mirror apart.
func splitGit(source string) (repo, file string, err error) {
	repo = strings.TrimPrefix(source, schemeGit)
	at := strings.Index(repo+"/", ".git/")
	switch {
	case !strings.HasPrefix(repo, "https://") && !strings.HasPrefix(repo, "file:///"):
		return "", "", bad("of git repositories only git+https: and git+file: are taken")
	case at < 0:
		return "", "", bad("the address of a git repository ends in .git, and the plugin's name comes after that")
	}
	at += len(".git")
	repo, file = repo[:at], strings.Trim(repo[at:], "/")
	file, err = url.PathUnescape(file)
	return repo, file, err
}

// openGit opens a file of a mirror that is a git repository. Nothing is checked out, so no
// filter, link or hook of the repository counts. The index is always asked for first, and
// fetches: the rest is of the same commit.
func openGit(ctx context.Context, source string) (io.ReadCloser, error) {
	repo, file, err := splitGit(source)
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(repo))
	dir := filepath.Join(cache, "relay", "mirrors", hex.EncodeToString(sum[:16])+".git")
	if file == indexFile {
		if err := fetchGit(ctx, repo, dir); err != nil {
			return nil, err
		}
	} else if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	git, err := git.OpenCommits(ctx, dir)
	if err != nil {
		return nil, err
	}
	out, err := git.Run(ctx, nil, "ls-tree", "-z", mirrorRef, "--", file)
	if err != nil {
		return nil, err
	}
	f := strings.Fields(string(out)) // mode, type, object, name
	if len(f) < 4 || f[1] != "blob" {
		return nil, fs.ErrNotExist
	}
	if f[0] == "120000" {
		return nil, bad(file + " is a symbolic link; a release has files only")
	}
	out, err = git.Run(ctx, nil, "cat-file", "blob", f[2]) // which bounds what it reads
	return io.NopCloser(bytes.NewReader(out)), err
}

// fetchGit gets HEAD of a repository, by the user's own git and logins.
func fetchGit(ctx context.Context, repo, dir string) error {
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return err
		}
	}
	unlock, err := store.Lock(dir + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	git, err := git.OpenCommits(ctx, dir)
	if err == nil {
		_, err = git.Talk(ctx, []string{"-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--refmap="},
			repo, "+HEAD:"+mirrorRef)
	}
	if err != nil {
		return diag.Wrap(err, judge.BlockedPlugin, fmt.Sprintf("the mirror %s can't be fetched", repo), "`git ls-remote "+diag.Word(repo)+"` shows whether git reaches it")
	}
	return nil
}
