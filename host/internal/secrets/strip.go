package secrets

import (
	"bytes"
	"errors"
	"io/fs"
	"regexp"

	"github.com/paxiom/relay/host/internal/beneath"
)

// maxStrip is the largest file that is shown in part, in bytes.
const maxStrip = 256 << 10

var (
	// word ends the name of something that holds a secret.
	word = `(?i)(auth[-_]?token|_auth|auth[-_]?ident|passw(or)?d|passphrase|pass|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|extraheader|cookie|credentials?|session[-_]?key|_key|_pat)["'\]]*\s*`
	// setting is such a name with its value, which is no reference to a variable.
	setting = regexp.MustCompile(word + `(=>|=|:)\s*["']?([^\s"',}]+)`)
	// exported is such a setting of csh and fish.
	exported = regexp.MustCompile(`(?i)^\s*set(env)?\s.*(passw(or)?d|passphrase|secret|token|key|credentials?|_pat)\s+["']?[^\s"'$-]`)
	variable = regexp.MustCompile(`^\$\{?\w+\}?$|^%\w+%$`)
	userinfo = regexp.MustCompile(`://([^/\s:@"']*:[^/\s@"']+|[^/\s:@"']{20,})@`)
	// element is a secret of an XML file.
	element = regexp.MustCompile(`(?i)<(password|passphrase|privateKey|secretKey|token|apikey)>\s*[^<\s$]|(ClearTextPassword|"Password"|apikeys>)`)
	// known are beginnings and marks of tokens.
	known = regexp.MustCompile(`\b(gh[pousr]_|github_pat_|glpat-|npm_[A-Za-z0-9]{20}|sk-[A-Za-z0-9]|xox[abprs]-|AKIA|ASIA|AIza|hvs\.|dop_v1_|pypi-)|-----BEGIN [A-Z ]*PRIVATE KEY`)
)

// stripped gives the file without what is secret in it, nil when only nothing is safe;
// clean says that there is nothing secret. In a shell's file a command that does nothing takes
// the place of a line, since an empty branch is none.
func stripped(path string, shell bool) (instead []byte, clean bool) {
	text, err := beneath.ReadPlain(path, maxStrip)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, true // the box can't read it either
	case err != nil:
		return nil, false
	}
	if element.Match(text) {
		return nil, false
	}
	for line := range bytes.Lines(text) {
		m := setting.FindSubmatch(line)
		reference := m != nil && (variable.Match(m[len(m)-1]) || shell && m[len(m)-1][0] == '$')
		switch {
		case (m == nil || reference) && !(shell && exported.Match(line)):
			instead = append(instead, userinfo.ReplaceAll(line, []byte("://"))...)
		case shell:
			instead = append(instead, ":\n"...)
		}
	}
	if known.Match(instead) {
		return nil, false
	}
	return instead, bytes.Equal(instead, text)
}
