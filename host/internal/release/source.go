package release

import (
	"net/url"
	"regexp"
	"strings"
)

var notPlain = regexp.MustCompile(`[^A-Za-z0-9._+-]+`)

// Source is the part of the install folder for what came from a URL or a module, and how
// the lock file names its publisher.
func Source(from, name string) string {
	text := strings.TrimPrefix(Newest(from), schemeGo)
	if repo, ok := strings.CutPrefix(from, schemeGitHub); ok {
		text = "github.com/" + repo
	} else if u, err := url.Parse(from); err == nil && IsRemote(from) {
		text = u.Host + u.Path
		if strings.HasSuffix(u.Scheme, "file") {
			text = "file" + u.Path
		}
	}
	var parts []string
	for part := range strings.SplitSeq(text, "/") {
		if part = strings.Trim(notPlain.ReplaceAllString(part, "_"), ".-+"); part != "" && !strings.Contains(part, "..") {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "local/" + name
	}
	return strings.Join(parts, "/")
}
