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

// toolchains are the variables by which tools of a language find their own files, and how
// they are to work. Builders and checks get them; none is meant to hold a key.
var toolchains = strings.Fields(`
	CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN RUSTFLAGS
	GOPATH GOROOT GOFLAGS GOCACHE GOMODCACHE GOTOOLCHAIN GOPRIVATE GONOSUMDB GONOPROXY CGO_ENABLED
	NODE_OPTIONS NODE_PATH NVM_DIR VOLTA_HOME FNM_DIR FNM_MULTISHELL_PATH PNPM_HOME COREPACK_HOME BUN_INSTALL DENO_DIR PLAYWRIGHT_BROWSERS_PATH
	VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYENV_ROOT PYENV_VERSION POETRY_HOME UV_PYTHON UV_PROJECT_ENVIRONMENT
	GEM_HOME GEM_PATH RBENV_ROOT RBENV_VERSION BUNDLE_PATH BUNDLE_GEMFILE RUBYOPT RUBYLIB
	JAVA_HOME JAVA_TOOL_OPTIONS MAVEN_OPTS GRADLE_USER_HOME GRADLE_OPTS SDKMAN_DIR ANDROID_HOME ANDROID_SDK_ROOT
	DOTNET_ROOT NUGET_PACKAGES COMPOSER_HOME MIX_HOME HEX_HOME
	MISE_DATA_DIR MISE_CONFIG_DIR MISE_CACHE_DIR ASDF_DIR ASDF_DATA_DIR
	CC CXX CFLAGS CXXFLAGS LDFLAGS PKG_CONFIG_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH CMAKE_PREFIX_PATH`)

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

// Toolchains are those variables of relay's environment that tools of a language need.
func Toolchains() (env []string) {
	for _, name := range toolchains {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// CheckEnv is the environment of a check: the user's own, without what is relay's.
func CheckEnv() []string {
	return slices.DeleteFunc(Env(nil, Toolchains()), func(kv string) bool {
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
