package release

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

// schemeGitHub begins a source that is a repository's releases: gh:OWNER/REPO, with @TAG for
// one that is not the newest. The files of the release are its assets.
const schemeGitHub = "gh:"

var (
	gitHub   = "https://github.com" // another one in tests
	ofGitHub = regexp.MustCompile(`^gh:[A-Za-z0-9-]+/[A-Za-z0-9._-]+$`)
)

// takeGitHub takes the assets of one release, or of the newest.
func (r *Release) takeGitHub(ctx context.Context, source, version string) error {
	if !ofGitHub.MatchString(source) {
		return bad("it is not gh:OWNER/REPO or gh:OWNER/REPO@TAG")
	}
	folders := []string{"latest/download"}
	if version != "" {
		folders = []string{"download/" + version}
		if semver.IsValid(canon(version)) { // a pin has it without the v that most tags have
			folders = []string{"download/" + canon(version), "download/" + strings.TrimPrefix(version, "v")}
		}
	}
	for _, folder := range folders {
		err := r.takeFiles(files(ctx, gitHub+"/"+strings.TrimPrefix(source, schemeGitHub)+"/releases/"+folder))
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return bad(strings.TrimSpace("it has no release "+version) + " with " + sumsFile + " among its assets, as relay plugin pack writes them")
}

// transport is that of client.
func transport() http.RoundTripper {
	if client.Transport != nil {
		return client.Transport
	}
	return http.DefaultTransport
}

// newestTag is the tag of a repository's newest release: to it the page of that leads.
func newestTag(ctx context.Context, source string) (string, error) {
	if !ofGitHub.MatchString(source) {
		return "", fs.ErrNotExist
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, gitHub+"/"+strings.TrimPrefix(source, schemeGitHub)+"/releases/latest", nil)
	if err != nil {
		return "", err
	}
	res, err := transport().RoundTrip(req) // follows nothing
	if err != nil {
		return "", err
	}
	res.Body.Close()
	tag := path.Base(res.Header.Get("Location"))
	if !semver.IsValid(canon(tag)) {
		return "", fs.ErrNotExist
	}
	return strings.TrimPrefix(tag, "v"), nil
}
