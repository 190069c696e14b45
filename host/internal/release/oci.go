package release

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

// schemeOCI begins a source that is a repository of a registry: oci://HOST/REPOSITORY. Its tags
// are versions, and the layers of each are the files of that release, named as `oras push` names
// them. See https://github.com/opencontainers/distribution-spec/blob/main/spec.md.
const schemeOCI = "oci://"

const (
	titleKey    = "org.opencontainers.image.title" // the annotation with the name of a layer's file
	manifestOCI = "application/vnd.oci.image.manifest.v1+json"
	tagPages    = 100 // more than any list of tags has
)

var (
	ofOCI     = regexp.MustCompile(`^oci://[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+$`)
	challenge = regexp.MustCompile(`(realm|service|scope)="([^"]*)"`)
	nextPage  = regexp.MustCompile(`<([^>]+)>\s*;\s*rel="?next"?`)
)

// registry is one repository of a registry. Only what anyone may read is asked for.
type registry struct {
	base  string // https://HOST/v2/REPOSITORY/
	token string // for readers without an account, once it was asked for
}

func openRegistry(source string) (*registry, error) {
	if !ofOCI.MatchString(source) {
		return nil, bad("it is not oci://HOST/REPOSITORY or oci://HOST/REPOSITORY:TAG")
	}
	host, repo, _ := strings.Cut(strings.TrimPrefix(source, schemeOCI), "/")
	return &registry{base: "https://" + host + "/v2/" + repo + "/"}, nil
}

// splitTag takes the tag off a source in a registry.
func splitTag(source string) (repo, tag string, ok bool) {
	at := strings.LastIndexByte(source, ':')
	if !strings.HasPrefix(source, schemeOCI) || at < strings.LastIndexByte(source, '/') {
		return source, "", false
	}
	return source[:at], source[at+1:], true
}

// takeOCI takes the files of one version, or of the newest.
func (r *Release) takeOCI(ctx context.Context, source, version string) error {
	reg, err := openRegistry(source)
	if err == nil && version == "" {
		version, err = reg.newest(ctx)
	}
	if err != nil {
		return err
	}
	tags := []string{version}
	if semver.IsValid(canon(version)) { // a pin has it without the v that some tags have
		tags = []string{strings.TrimPrefix(version, "v"), canon(version)}
	}
	for _, tag := range tags {
		layers, err := reg.layers(ctx, tag)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		err = r.takeFiles(func(name string) (io.ReadCloser, error) {
			if layers[name] == "" {
				return nil, fs.ErrNotExist
			}
			return reg.open(ctx, "blobs/"+layers[name], "")
		})
		if errors.Is(err, fs.ErrNotExist) {
			err = bad("its tag " + tag + " has no " + sumsFile + " among its layers: push the files that relay plugin pack writes")
		}
		return err
	}
	return bad("it has no tag " + version + ", or not for everyone to read")
}

// newest is the tag of the highest version.
func (g *registry) newest(ctx context.Context) (string, error) {
	newest := ""
	for page, n := "tags/list?n=1000", 0; page != "" && n < tagPages; n++ {
		var list struct{ Tags []string }
		next, err := g.read(ctx, page, &list)
		if errors.Is(err, fs.ErrNotExist) {
			return "", bad("the repository is not there, or not public")
		} else if err != nil {
			return "", err
		}
		for _, tag := range list.Tags {
			if semver.IsValid(canon(tag)) && (newest == "" || semver.Compare(canon(tag), canon(newest)) > 0) {
				newest = tag
			}
		}
		page = next
	}
	if newest == "" {
		return "", bad("none of its tags is a version: name one, as in oci://HOST/REPOSITORY:TAG")
	}
	return newest, nil
}

// layers are the digests of a tag's layers by the names of their files.
func (g *registry) layers(ctx context.Context, tag string) (map[string]string, error) {
	var manifest struct {
		Layers []struct {
			Digest      string
			Annotations map[string]string
		}
	}
	body, err := g.open(ctx, "manifests/"+url.PathEscape(tag), manifestOCI)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxText))
	if err != nil {
		return nil, err
	}
	if want, ok := strings.CutPrefix(tag, "sha256:"); ok {
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
			return nil, bad("the registry answers with another manifest than " + tag)
		}
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, bad("the manifest of " + tag + ": " + err.Error())
	}
	layers := map[string]string{}
	for _, l := range manifest.Layers {
		layers[l.Annotations[titleKey]] = url.PathEscape(l.Digest)
	}
	return layers, nil
}

// read decodes an answer and gives the page after it.
func (g *registry) read(ctx context.Context, path string, into any) (next string, err error) {
	res, err := g.get(ctx, path, "")
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if err := json.NewDecoder(io.LimitReader(res.Body, 16<<20)).Decode(into); err != nil {
		return "", bad("the registry's answer: " + err.Error())
	}
	if m := nextPage.FindStringSubmatch(res.Header.Get("Link")); m != nil {
		if u, err := res.Request.URL.Parse(m[1]); err == nil && "https://"+u.Host+u.Path == g.base+"tags/list" {
			return "tags/list?" + u.RawQuery, nil
		}
	}
	return "", nil
}

func (g *registry) open(ctx context.Context, path, accept string) (io.ReadCloser, error) {
	res, err := g.get(ctx, path, accept)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// get asks the registry, and for a reader's token where it wants one.
func (g *registry) get(ctx context.Context, path, accept string) (*http.Response, error) {
	for try := 1; ; try++ {
		header := http.Header{}
		if accept != "" {
			header.Set("Accept", accept)
		}
		if g.token != "" {
			header.Set("Authorization", "Bearer "+g.token)
		}
		res, err := ask(ctx, g.base+path, header)
		if err != nil || res.StatusCode != http.StatusUnauthorized {
			return res, err
		}
		res.Body.Close()
		if try == 2 {
			return nil, fs.ErrNotExist // as registries answer what is not for everyone
		}
		if g.token, err = reader(ctx, res.Header.Get("WWW-Authenticate")); err != nil {
			return nil, err
		}
	}
}

// reader gets the token of a reader without an account.
func reader(ctx context.Context, wanted string) (string, error) {
	if !strings.HasPrefix(strings.ToLower(wanted), "bearer ") {
		return "", fs.ErrNotExist
	}
	query, realm := url.Values{}, ""
	for _, m := range challenge.FindAllStringSubmatch(wanted, -1) {
		if m[1] == "realm" {
			realm = m[2]
		} else {
			query.Set(m[1], m[2])
		}
	}
	body, err := open(ctx, realm+"?"+query.Encode())
	if err != nil {
		return "", fmt.Errorf("the registry's tokens come from %s: %w", realm, err)
	}
	defer body.Close()
	var answer struct {
		Token  string
		Access string `json:"access_token"`
	}
	err = json.NewDecoder(io.LimitReader(body, maxText)).Decode(&answer)
	token := cmp.Or(answer.Token, answer.Access)
	if err == nil && token == "" {
		err = errors.New("no token")
	}
	return token, err
}
