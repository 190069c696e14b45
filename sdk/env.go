package sdk

import (
	"os"
	"strings"
)

// ChildEnv is the environment for a program that a plugin starts: the plugin's own
// without what relay and go-plugin put there for the plugin itself (RELAY_*, PLUGIN_*,
// GOMEMLIMIT), and with extra entries of the form NAME=value, which replace others of
// the same name.
func ChildEnv(extra ...string) []string {
	set := map[string]bool{}
	for _, e := range extra {
		name, _, _ := strings.Cut(e, "=")
		set[name] = true
	}
	var out []string
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		ours := strings.HasPrefix(name, "RELAY_") || strings.HasPrefix(name, "PLUGIN_") || name == "GOMEMLIMIT"
		if !ours && !set[name] {
			out = append(out, e)
		}
	}
	return append(out, extra...)
}
