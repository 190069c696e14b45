package launch

import (
	"os"
	"slices"
	"strings"
)

// always are the variables of relay's own environment that every plugin gets.
var always = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", // certificates of a proxy that opens TLS
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME",
	"RELAY_LOG_LEVEL",
}

// memoryLimit is the soft limit of a plugin's Go heap: room for ten times the
// largest message, which is what handling one costs.
const memoryLimit = "GOMEMLIMIT=512MiB"

// Env makes a plugin's environment: the few variables that every plugin gets, those
// of relay's environment that were granted by name, and extra (NAME=value), where a
// later entry replaces an earlier one of the same name. Nothing else is passed on.
func Env(grants, extra []string) []string {
	env := []string{memoryLimit}
	for _, name := range append(slices.Clone(always), grants...) {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return dedupe(append(env, extra...))
}

// CheckEnv is the environment of a check: the user's own, without what is relay's.
func CheckEnv() []string {
	return slices.DeleteFunc(Env(nil, nil), func(kv string) bool {
		return strings.HasPrefix(kv, "RELAY_") || strings.HasPrefix(kv, "GOMEMLIMIT=")
	})
}

// dedupe keeps the last entry of each name, in the order of the first.
func dedupe(env []string) []string {
	at := map[string]int{}
	out := env[:0:0]
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if i, ok := at[name]; ok {
			out[i] = kv
			continue
		}
		at[name] = len(out)
		out = append(out, kv)
	}
	return out
}
