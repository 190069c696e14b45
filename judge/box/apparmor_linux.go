package box

import (
	"os"
	"regexp"
	"strings"
)

// profile lets the program at a path, and nothing else of the user's, have user namespaces
// where AppArmor keeps ordinary programs from them. No line of it has a quote.
func profile(exe string) []string {
	return []string{"abi <abi/4.0>,", "profile relay " + exe + " flags=(unconfined) {", "  userns,", "}"}
}

// plainPath has no sign that a shell or a profile reads in another way.
var plainPath = regexp.MustCompile(`^/[A-Za-z0-9/._+-]+$`)

// profileCommand installs the profile of this very program; "" where its path can't be
// written as it is.
func profileCommand() string {
	exe, err := os.Executable()
	if err != nil || !plainPath.MatchString(exe) {
		return ""
	}
	return `sudo sh -c 'printf "%s\n" "` + strings.Join(profile(exe), `" "`) + `" >/etc/apparmor.d/relay && apparmor_parser -r /etc/apparmor.d/relay'`
}
