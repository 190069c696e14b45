package codexcli

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/plugins/internal/httpapi"
	"github.com/paxiom/relay/sdk"
)

// Setup is the part of a configuration that both plugins have.
type Setup struct {
	Command   string `json:"command"`
	BaseURL   string `json:"base_url"`
	CodexHome string `json:"codex_home"`
}

// SetupSchema describes Setup's keys: the properties of a JSON Schema.
//
//go:embed setup.schema.json
var SetupSchema []byte

// Env are the variables that Codex may need from the host's environment.
func Env() []sdk.EnvVar {
	return []sdk.EnvVar{
		{Name: "OPENAI_API_KEY", Secret: true, Purpose: "key of the OpenAI API"},
		{Name: "CODEX_API_KEY", Secret: true, Purpose: "key of the OpenAI API for Codex; goes before OPENAI_API_KEY"},
		{Name: "OPENAI_BASE_URL", Purpose: "another server for the OpenAI API"},
		{Name: "CODEX_HOME", Purpose: "where Codex keeps its login, when not in ~/.codex"},
	}
}

// Versions is what the recorded outputs and the end-to-end tests cover.
var Versions = clitool.Tested{From: clitool.Version{0, 169, 0}, To: clitool.Version{0, 169, 0}}

const (
	install  = "`npm install -g @openai/codex@0.169.0`, or set plugins.codex.command to its path (the builder's: plugins.codex-exec.command)"
	loginFix = "`codex login`, or put a key into OPENAI_API_KEY"
	openAI   = "https://api.openai.com/v1"
	chatGPT  = "https://chatgpt.com"
)

// Program finds Codex: the native program where there is one, since ending the
// script around it does not end it.
func (s Setup) Program() (string, error) {
	path, err := clitool.Find(cmp.Or(s.Command, "codex"), install)
	if err != nil {
		return "", err
	}
	if native := native(path); native != "" {
		return native, nil
	}
	return path, nil
}

// native gives the program that the npm package's script would start; empty when
// path is not that script.
func native(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || filepath.Base(real) != "codex.js" {
		return ""
	}
	pkg := filepath.Dir(filepath.Dir(real)) // …/@openai/codex
	for _, vendor := range []string{
		filepath.Join(filepath.Dir(pkg), "codex-*", "vendor"),
		filepath.Join(pkg, "node_modules", "@openai", "codex-*", "vendor"),
		filepath.Join(pkg, "vendor"),
	} {
		found, _ := filepath.Glob(filepath.Join(vendor, "*", "bin", "codex")) // errs on bad patterns only
		for _, f := range found {
			if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return f
			}
		}
	}
	return ""
}

// Health reports whether the program is there and how it would log in. It starts
// `codex --version`; only when it may use the network it tries whether the server
// can be reached.
func (s Setup) Health(ctx context.Context, network bool) (*sdk.Health, error) {
	path, err := s.Program()
	if err != nil {
		return nil, err
	}
	v, err := readVersion(ctx, path, "", "")
	if err != nil {
		return nil, err
	}
	if err := s.openAddress(); err != nil {
		return nil, err
	}
	login, err := s.login()
	if err != nil {
		return nil, err
	}
	if network {
		server := cmp.Or(s.server(), openAI)
		if keyName() == "" && s.server() == "" {
			server = chatGPT // where a login goes
		}
		if err := httpapi.Reachable(ctx, server); err != nil {
			return nil, err
		}
	}
	return clitool.Healthy(fmt.Sprintf("codex %v, %s", v, login), Versions.Warning("codex", v)), nil
}

// readVersion asks the program for its version. Even for that it writes into its
// home, which is therefore not the user's.
func readVersion(ctx context.Context, path, stateDir, workDir string) (clitool.Version, error) {
	home, remove, err := callDir(stateDir, workDir)
	if err != nil {
		return clitool.Version{}, err
	}
	defer remove()
	return clitool.ReadVersion(ctx, path, sdk.ChildEnv("CODEX_HOME="+home))
}

// openAddress refuses a server's address with a password in it: Codex takes the address on
// its command line, which every process of the machine can read.
func (s Setup) openAddress() error {
	if u, err := url.Parse(s.server()); err != nil || u.User == nil {
		return nil
	}
	return sdk.Fail(sdk.BadConfig, "the server's address has a password in it, and codex takes the address on its command line, where others can read it",
		sdk.EffectNone, sdk.Fix("put the address without it into OPENAI_BASE_URL, and the key into OPENAI_API_KEY"))
}

// login says in words what a call would log in with.
func (s Setup) login() (string, error) {
	if key := keyName(); key != "" {
		return "API key of " + key, nil
	}
	if s.server() != "" {
		return "no key, for " + s.server(), nil
	}
	dir := s.userDir()
	if _, err := os.Stat(filepath.Join(dir, "auth.json")); dir == "" || err != nil {
		return "", sdk.Fail(sdk.NotLoggedIn, "codex has no key in the environment and no login in "+cmp.Or(dir, "a home (HOME is not set)"),
			sdk.Fix(loginFix))
	}
	return "login in " + dir, nil
}

// keyName names the variable that holds a key; empty: there is none.
func keyName() string {
	for _, name := range []string{"CODEX_API_KEY", "OPENAI_API_KEY"} {
		if os.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

// server is the base URL that was asked for; empty: OpenAI's own.
func (s Setup) server() string {
	return strings.TrimRight(cmp.Or(s.BaseURL, os.Getenv("OPENAI_BASE_URL")), "/")
}

// userDir is the folder that a call without a private one uses.
func (s Setup) userDir() string {
	if filepath.IsAbs(s.CodexHome) {
		return s.CodexHome
	}
	if dir := os.Getenv("CODEX_HOME"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".codex")
}

// home is CODEX_HOME for one call; empty leaves the variable as it is. Private is
// the folder that a call of its own has.
func (s Setup) home(private string) string {
	switch {
	case filepath.IsAbs(s.CodexHome):
		return s.CodexHome
	case s.CodexHome == "private", s.CodexHome != "user" && (keyName() != "" || s.server() != ""):
		return filepath.Join(private, "home")
	}
	return ""
}

// callDir makes the private folder of one call. Codex puts helper programs into its
// home and refuses to do so below the system's folder for temporary files, so the
// folder is elsewhere where that is possible.
func callDir(stateDir, workDir string) (string, func(), error) {
	bases := []string{stateDir}
	if cache, err := os.UserCacheDir(); err == nil {
		bases = append(bases, filepath.Join(cache, "relay", "codex"))
	}
	for _, base := range bases {
		if base == "" || temporary(base) || os.MkdirAll(base, 0o700) != nil {
			continue
		}
		if dir, remove, err := clitool.CallDir(base); err == nil {
			return dir, remove, nil
		}
	}
	return clitool.CallDir(workDir)
}

func temporary(dir string) bool {
	return slices.ContainsFunc([]string{os.TempDir(), "/tmp", "/var/tmp"}, func(tmp string) bool {
		rel, err := filepath.Rel(tmp, dir)
		return err == nil && filepath.IsLocal(rel)
	})
}
