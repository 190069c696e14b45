package claudecli

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/plugins/internal/httpapi"
	"github.com/paxiom/relay/sdk"
)

// Setup is the part of a configuration that both plugins have.
type Setup struct {
	Command   string `json:"command"`
	BaseURL   string `json:"base_url"`
	ConfigDir string `json:"config_dir"`
}

// SetupSchema describes Setup's keys: the properties of a JSON Schema.
//
//go:embed setup.schema.json
var SetupSchema []byte

// Env are the variables that Claude Code may need from the host's environment.
func Env() []sdk.EnvVar {
	return []sdk.EnvVar{
		{Name: "ANTHROPIC_API_KEY", Secret: true, Purpose: "key of the Anthropic API"},
		{Name: "ANTHROPIC_AUTH_TOKEN", Secret: true, Purpose: "bearer token for a gateway"},
		{Name: "CLAUDE_CODE_OAUTH_TOKEN", Secret: true, Purpose: "long-lived login made by `claude setup-token`"},
		{Name: "ANTHROPIC_BASE_URL", Purpose: "another server for the Anthropic API"},
		{Name: "CLAUDE_CONFIG_DIR", Purpose: "where Claude Code keeps its login, when not in ~/.claude"},
	}
}

// Versions is what the recorded outputs and the end-to-end tests cover.
var Versions = clitool.Tested{From: clitool.Version{2, 1, 197}, To: clitool.Version{2, 1, 329}}

const anthropicAPI = "https://api.anthropic.com"

const install = "`npm install -g @anthropic-ai/claude-code@2.1.329`, or set claude_code_cli.command to its path"

// Program finds Claude Code.
func (s Setup) Program() (string, error) {
	command := cmp.Or(s.Command, "claude")
	return clitool.Find(command, install)
}

// Health reports whether the program is there and how it would log in. It starts
// `claude --version`; only when it may use the network it tries whether the server
// can be reached.
func (s Setup) Health(ctx context.Context, network bool) (*sdk.Health, error) {
	path, err := s.Program()
	if err != nil {
		return nil, err
	}
	v, err := clitool.ReadVersion(ctx, path, sdk.ChildEnv())
	if err != nil {
		return nil, err
	}
	login := credential()
	if login == "" {
		if login, err = s.userLogin(); err != nil {
			return nil, err
		}
	}
	if network {
		if err := httpapi.Reachable(ctx, cmp.Or(s.BaseURL, os.Getenv("ANTHROPIC_BASE_URL"), anthropicAPI)); err != nil {
			return nil, err
		}
	}
	return clitool.Healthy(fmt.Sprintf("claude %v, %s", v, login), Versions.Warning("claude", v)), nil
}

// credential names the credential in the environment; empty: there is none.
func credential() string {
	for _, c := range []struct{ name, what string }{
		{"ANTHROPIC_AUTH_TOKEN", "token of ANTHROPIC_AUTH_TOKEN"},
		{"ANTHROPIC_API_KEY", "API key of ANTHROPIC_API_KEY"},
		{"CLAUDE_CODE_OAUTH_TOKEN", "login of CLAUDE_CODE_OAUTH_TOKEN"},
	} {
		if os.Getenv(c.name) != "" {
			return c.what
		}
	}
	return ""
}

// userLogin looks for the file in which Claude Code keeps a login on Linux. On
// macOS it is in the keychain, which only the program itself may ask.
func (s Setup) userLogin() (string, error) {
	dir := s.userDir()
	if dir == "" {
		return "", sdk.Fail(sdk.NotLoggedIn, "claude has no credential and HOME is not set", sdk.Fix(loginFix))
	}
	if _, err := os.Stat(filepath.Join(dir, ".credentials.json")); err == nil {
		return "login in " + dir, nil
	}
	if runtime.GOOS == "darwin" {
		return "login not checked (it is in the keychain)", nil
	}
	return "", sdk.Fail(sdk.NotLoggedIn, "claude has no key in the environment and no login in "+dir, sdk.Fix(loginFix))
}

// userDir is the folder that a call without a private one uses.
func (s Setup) userDir() string {
	if filepath.IsAbs(s.ConfigDir) {
		return s.ConfigDir
	}
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".claude")
}

// configDir is the value for CLAUDE_CONFIG_DIR of a call whose private folder is
// dir; empty leaves the variable as it is.
func (s Setup) configDir(dir string) string {
	switch {
	case filepath.IsAbs(s.ConfigDir):
		return s.ConfigDir
	case s.ConfigDir == "private", s.ConfigDir != "user" && credential() != "":
		return filepath.Join(dir, "config")
	}
	return ""
}
