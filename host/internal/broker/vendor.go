package broker

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// vendor is one maker of models: how it wants its key, and where a key may go.
type vendor struct {
	// keys are the variables that hold its keys, with the header in which it wants
	// each; a header that ends in a space has a scheme, "Authorization: Bearer ".
	keys map[string]string
	// base is the variable of its base URL, server what holds without one.
	base, server string
	// off are variables that would lead its programs elsewhere.
	off []string
	// routes are what may be asked, below the base URL.
	routes []route
	// Logins are files below the home in which its programs keep a login or a key.
	logins []string
}

type route struct {
	method string
	path   *regexp.Regexp
}

func routes(list ...string) (all []route) {
	for _, r := range list {
		method, path, _ := strings.Cut(r, " ")
		all = append(all, route{method, regexp.MustCompile("^" + path + "$")})
	}
	return all
}

const (
	bearer = "Authorization: Bearer "
	name   = `[A-Za-z0-9][A-Za-z0-9._:@-]*` // of a model
)

var vendors = []*vendor{
	{
		keys: map[string]string{"ANTHROPIC_API_KEY": "X-Api-Key: ", "ANTHROPIC_AUTH_TOKEN": bearer},
		base: "ANTHROPIC_BASE_URL", server: "https://api.anthropic.com",
		routes: routes("POST /v1/messages", "POST /v1/messages/count_tokens", "GET /v1/models", "GET /v1/models/"+name),
		logins: []string{".claude/.credentials.json"},
	},
	{
		keys: map[string]string{"OPENAI_API_KEY": bearer, "CODEX_API_KEY": bearer},
		base: "OPENAI_BASE_URL", server: "https://api.openai.com/v1",
		routes: routes("POST /responses", "POST /responses/input_tokens", "POST /responses/compact", "POST /chat/completions", "GET /models", "GET /models/"+name),
		logins: []string{".codex/auth.json"},
	},
	{
		keys: map[string]string{"GEMINI_API_KEY": "X-Goog-Api-Key: ", "GOOGLE_API_KEY": "X-Goog-Api-Key: "},
		base: "GOOGLE_GEMINI_BASE_URL", server: "https://generativelanguage.googleapis.com",
		off:    []string{"GOOGLE_GENAI_USE_VERTEXAI"},
		routes: routes("POST /v1(alpha|beta)?/models/"+name+":(generateContent|streamGenerateContent|countTokens)", "GET /v1(alpha|beta)?/models", "GET /v1(alpha|beta)?/models/"+name),
		logins: []string{".gemini/oauth_creds.json", ".gemini/.env"},
	},
}

func vendorOf(variable string) *vendor {
	for _, v := range vendors {
		if v.keys[variable] != "" {
			return v
		}
	}
	return nil
}

// Knows reports whether a key in this variable can be lent.
func Knows(variable string) bool { return vendorOf(variable) != nil }

// Base is the variable of the base URL that belongs to a key's variable; "" when the
// key can't be lent.
func Base(variable string) string {
	if v := vendorOf(variable); v != nil {
		return v.base
	}
	return ""
}

// Logins are the files below the home in which vendors' programs keep what is as good
// as a key.
func Logins() (all []string) {
	for _, v := range vendors {
		all = append(all, v.logins...)
	}
	return all
}

// allows reports whether this may be asked of the vendor; below is the path without that
// of the base URL.
func (v *vendor) allows(method, below string) bool {
	return slices.ContainsFunc(v.routes, func(r route) bool { return r.method == method && r.path.MatchString(below) })
}

// parseServer reads a base URL. A key goes through TLS, unless it stays on this machine.
func parseServer(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the base URL can't be read")
	}
	local := u.Hostname() == "localhost"
	if ip := net.ParseIP(u.Hostname()); ip != nil {
		local = ip.IsLoopback()
	}
	switch {
	case u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		return nil, fmt.Errorf("the base URL must be https://HOST or https://HOST/PATH, with no password, query or fragment")
	case u.Scheme != "https" && !(u.Scheme == "http" && local):
		return nil, fmt.Errorf("the base URL of %s must begin with https://: the key would be readable on the way", u.Host)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

// give puts the real key where the vendor wants it.
func (l *loan) give(h http.Header) {
	header := l.vendor.keys[l.variable]
	name, scheme, _ := strings.Cut(header, ": ")
	h.Set(name, scheme+l.key)
}
