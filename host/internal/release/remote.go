package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/judge"
)

// IsRemote says that a source is a URL, or the releases of a repository.
func IsRemote(source string) bool {
	return strings.Contains(source, "://") || strings.HasPrefix(source, schemeGitHub)
}

const fetchTime = 10 * time.Minute

// Remote takes a release from a URL: an archive, the folder of a release, or a plugin of
// a mirror ("https://host/mirror/NAME", with "@VERSION" for one that is not the newest), or
// the releases of a repository on GitHub ("gh:OWNER/REPO", with "@TAG") or in a registry
// ("oci://HOST/REPOSITORY", with ":TAG").
// It must be signed. With "file:" it is the same, from a folder of this machine.
func Remote(ctx context.Context, source, version, scratch, key string) (*Release, error) {
	r, err := newRelease(scratch)
	if err != nil {
		return nil, err
	}
	chosen := false // now, and not when it was pinned
	if at := strings.LastIndexByte(source, '@'); at > strings.LastIndexByte(source, '/') {
		source, version, chosen = source[:at], source[at+1:], true
	} else if repo, tag, ok := splitTag(source); ok {
		source, version, chosen = repo, tag, true
	}
	r.From = strings.TrimSuffix(source, "/")
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	if err = r.takeRemote(ctx, r.From, version, chosen); err == nil {
		err = r.settle(key)
	}
	if _, bundled := r.seen[bundleFile]; err == nil && !r.Signed && bundled {
		err = bad("it is signed with sigstore, and nobody here knows by whom it should be: --key sigstore:ISSUER#IDENTITY says so")
	} else if err == nil && !r.Signed {
		err = bad("it is not signed: it needs " + minisigFile + " and " + keyFile + ", or " + ed25519File + " and --key")
	}
	if err != nil {
		r.Close()
		return nil, refuse(source, err)
	}
	return r, nil
}

func (r *Release) takeRemote(ctx context.Context, source, version string, chosen bool) error {
	if strings.HasPrefix(source, schemeGitHub) {
		return r.takeGitHub(ctx, source, version)
	}
	if strings.HasPrefix(source, schemeOCI) {
		return r.takeOCI(ctx, source, version)
	}
	if isArchive(source) {
		place := filepath.Join(r.dir, "archive"+path.Ext(source))
		if !strings.HasSuffix(source, ".zip") {
			place = filepath.Join(r.dir, "archive.tar.gz")
		}
		f, err := os.OpenFile(place, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		defer os.Remove(place)
		defer f.Close()
		n, err := fetch(ctx, source, maxAll, f)
		if err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err != nil {
			return err
		}
		return r.takeArchive(place, f, n)
	}
	err := r.takeFiles(files(ctx, source))
	if errors.Is(err, fs.ErrNotExist) {
		if source, err = inMirror(ctx, source, version, filepath.Dir(r.dir), chosen); err == nil {
			err = r.takeFiles(files(ctx, source))
		}
	}
	return err
}

// files opens the files of a folder.
func files(ctx context.Context, folder string) func(name string) (io.ReadCloser, error) {
	return func(name string) (io.ReadCloser, error) { return open(ctx, folder+"/"+url.PathEscape(name)) }
}

// takeFiles takes the files of a release; where there are no sums it is none,
// and the error is fs.ErrNotExist.
func (r *Release) takeFiles(get func(name string) (io.ReadCloser, error)) error {
	take := func(name string) error {
		body, err := get(name)
		if err != nil {
			return err
		}
		defer body.Close()
		return r.take(name, body)
	}
	if err := take(sumsFile); err != nil {
		return err
	}
	for _, name := range []string{minisigFile, ed25519File, keyFile, bundleFile} {
		if err := take(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	b, err := judge.ReadFile(filepath.Join(r.dir, sumsFile), maxText)
	if err != nil {
		return err
	}
	sums, err := parseSums(string(b))
	if err != nil {
		return err
	}
	if _, listed := sums[casesFile]; listed {
		if err := take(casesFile); err != nil {
			return err
		}
	}
	for name := range sums {
		if f, ok := parseFile(name); ok && f.platform == catalog.Platform {
			return take(name)
		}
	}
	return bad("it has no file for " + catalog.Platform)
}

// Index is what a mirror has, in its file index.json. Nothing in it is believed: each
// release is signed.
type Index struct {
	Plugins map[string]Listed `json:"plugins"`
}

// Listed is one plugin of a mirror.
type Listed struct {
	Summary  string   `json:"summary,omitempty"`
	Versions []string `json:"versions"`
	// Withdrawn are versions that nobody should take any more, with the reason. What is
	// pinned already is still put back.
	Withdrawn map[string]string `json:"withdrawn,omitempty"`
	// Advisories are versions that are not to be started any more, with the reason.
	Advisories map[string]string `json:"advisories,omitempty"`
}

const indexFile = "index.json"

// Newest is the highest version that nothing is said against; "" when there is none.
func (l Listed) Newest() string {
	newest := ""
	for _, v := range l.Versions {
		if l.against(v) != "" {
			continue
		}
		if newest == "" || semver.Compare(canon(v), canon(newest)) > 0 {
			newest = v
		}
	}
	return newest
}

// notices are what is said of the versions.
func (l Listed) notices() catalog.Notices {
	return catalog.Notices{Newest: l.Newest(), Withdrawn: l.Withdrawn, Advisories: l.Advisories}
}

// against is what the publisher says against a version.
func (l Listed) against(v string) string {
	if why, bad := l.Advisories[v]; bad {
		return "warns of " + v + ": " + why
	}
	if why, gone := l.Withdrawn[v]; gone {
		return "has withdrawn " + v + ": " + why
	}
	return ""
}

func canon(v string) string { return "v" + strings.TrimPrefix(v, "v") }

// ReadIndex reads what a mirror has. What it says against versions is kept beside the plugins
// that are installed in a folder; "" keeps nothing.
func ReadIndex(ctx context.Context, mirror, installDir string) (*Index, error) {
	body, err := open(ctx, strings.TrimSuffix(mirror, "/")+"/"+indexFile)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	b, err := io.ReadAll(io.LimitReader(body, 16<<20))
	if err != nil {
		return nil, err
	}
	var i Index
	if err := json.Unmarshal(b, &i); err != nil {
		return nil, bad(indexFile + ": " + err.Error())
	}
	if installDir == "" {
		return &i, nil
	}
	said := map[string]catalog.Notices{}
	for name, l := range i.Plugins {
		if len(l.Withdrawn)+len(l.Advisories) > 0 {
			said[name] = l.notices()
		}
	}
	return &i, catalog.KeepNotices(installDir, mirror, said)
}

// inMirror is the folder of a version of a plugin of a mirror; one that something is said
// against can't be chosen.
func inMirror(ctx context.Context, source, version, installDir string, chosen bool) (string, error) {
	mirror, name := source[:strings.LastIndexByte(source, '/')], path.Base(source)
	index, err := ReadIndex(ctx, mirror, installDir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", bad("it has no " + sumsFile + ", and the folder above it no " + indexFile)
	} else if err != nil {
		return "", err
	}
	listed, ok := index.Plugins[name]
	if version == "" {
		version = listed.Newest()
	}
	if !ok || !slices.Contains(listed.Versions, version) || !semver.IsValid(canon(version)) {
		return "", bad(fmt.Sprintf("%s has no version %q of %q", mirror, version, name))
	}
	if why := listed.against(version); why != "" && chosen {
		return "", bad("its publisher " + why)
	}
	return source + "/" + url.PathEscape(version), nil
}

// client follows redirects only to where nobody can look in or change what comes.
var client = &http.Client{CheckRedirect: func(req *http.Request, via []*http.Request) error {
	if req.URL.Scheme != "https" || len(via) > 10 {
		return fmt.Errorf("it leads on to %s", req.URL.Redacted())
	}
	return nil
}}

// open opens what a URL names. What is not there is fs.ErrNotExist.
func open(ctx context.Context, source string) (io.ReadCloser, error) {
	if strings.HasPrefix(source, schemeGit) {
		return openGit(ctx, source)
	}
	u, err := url.Parse(source)
	if err != nil {
		return nil, err
	}
	switch {
	case u.Scheme == "file" && (u.Host == "" || u.Host == "localhost"):
		return os.Open(filepath.FromSlash(u.Path))
	case u.Scheme != "https":
		return nil, bad("only https: and file: are taken, not " + u.Scheme + ":")
	}
	res, err := ask(ctx, source, nil)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusUnauthorized {
		res.Body.Close()
		return nil, answered(res)
	}
	return res.Body, nil
}

func answered(res *http.Response) error {
	return fmt.Errorf("%s answers %s", res.Request.URL.Host, res.Status)
}

// ask gets what an address of the web names, or an answer that wants a login (401).
func ask(ctx context.Context, source string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, source, nil)
	if err != nil {
		return nil, err
	}
	if header != nil {
		req.Header = header
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	switch res.StatusCode {
	case http.StatusOK, http.StatusUnauthorized:
		return res, nil
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden:
		err = fs.ErrNotExist
	default:
		err = answered(res)
	}
	res.Body.Close()
	return nil, err
}

// fetch writes what a URL names to a file.
func fetch(ctx context.Context, source string, most int64, to io.Writer) (int64, error) {
	body, err := open(ctx, source)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	n, err := io.Copy(to, io.LimitReader(body, most+1))
	if err == nil && n > most {
		err = bad(fmt.Sprintf("it is larger than %d GB", most>>30))
	}
	return n, err
}
