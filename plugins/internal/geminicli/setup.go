package geminicli

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/paxiom/relay/plugins/internal/clitool"
	"github.com/paxiom/relay/plugins/internal/httpapi"
	"github.com/paxiom/relay/sdk"
)

// Setup is the part of a configuration that both plugins have.
type Setup struct {
	Command    string `json:"command"`
	BaseURL    string `json:"base_url"`
	GeminiHome string `json:"gemini_home"`
	Backend    string `json:"backend"`
	Project    string `json:"project"`
	Location   string `json:"location"`
}

// SetupSchema describes Setup's keys: the properties of a JSON Schema.
//
//go:embed setup.schema.json
var SetupSchema []byte

// Env are the variables that the plugins may need from the host's environment.
func Env() []sdk.EnvVar {
	return []sdk.EnvVar{
		{Name: "GEMINI_API_KEY", Secret: true, Purpose: "key of the Gemini API"},
		{Name: "GOOGLE_API_KEY", Secret: true, Purpose: "the same, after GEMINI_API_KEY; also for Vertex AI without a project"},
		{Name: "GOOGLE_APPLICATION_CREDENTIALS", Purpose: "file of Google Cloud's default credentials, when not in ~/.config/gcloud"},
		{Name: "GOOGLE_CLOUD_PROJECT", Purpose: "project for Vertex AI"},
		{Name: "GOOGLE_CLOUD_LOCATION", Purpose: "region for Vertex AI"},
		{Name: "GOOGLE_GENAI_USE_VERTEXAI", Purpose: "true: Vertex AI answers instead of the Gemini API"},
		{Name: "GOOGLE_GEMINI_BASE_URL", Purpose: "another server for the Gemini API"},
		{Name: "GOOGLE_VERTEX_BASE_URL", Purpose: "another server for Vertex AI"},
		{Name: "GEMINI_CLI_HOME", Purpose: "where Gemini CLI keeps its login, when not in the home folder"},
	}
}

// Versions is what the recorded outputs and the end-to-end tests cover.
var Versions = clitool.Tested{From: clitool.Version{0, 61, 0}, To: clitool.Version{0, 61, 0}}

// KeyFix says how to get a key.
const KeyFix = "put a key into GEMINI_API_KEY: https://aistudio.google.com/apikey"

const (
	geminiAPI = "https://generativelanguage.googleapis.com"
	vertexAPI = "https://aiplatform.googleapis.com"

	install  = "`npm install -g @google/gemini-cli@0.61.0`, or set plugins.gemini.command to its path (the builder's: plugins.gemini-cli.command)"
	loginFix = KeyFix + "; or `gcloud auth application-default login` and a project for Vertex AI"
)

// Program finds Gemini CLI.
func (s Setup) Program() (string, error) {
	return clitool.Find(cmp.Or(s.Command, "gemini"), install)
}

// Health reports whether the program is there and how it would log in. It starts
// `gemini --version`; only when it may use the network it tries whether the server
// can be reached.
func (s Setup) Health(ctx context.Context, network bool) (*sdk.Health, error) {
	path, err := s.Program()
	if err != nil {
		return nil, err
	}
	v, err := readVersion(ctx, path, "")
	if err != nil {
		return nil, err
	}
	login, err := s.login()
	if err != nil {
		return nil, err
	}
	if vertex := s.Account().Vertex; network {
		server := geminiAPI
		if vertex {
			server = vertexAPI
		}
		if err := httpapi.Reachable(ctx, cmp.Or(s.Server(vertex), server)); err != nil {
			return nil, err
		}
	}
	return clitool.Healthy(fmt.Sprintf("gemini %v, %s", v, login), Versions.Warning("gemini", v)), nil
}

// readVersion asks the program for its version, in a home of its own: it writes there
// even for that.
func readVersion(ctx context.Context, path, workDir string) (clitool.Version, error) {
	home, remove, err := clitool.CallDir(workDir)
	if err != nil {
		return clitool.Version{}, err
	}
	defer remove()
	return clitool.ReadVersion(ctx, path, sdk.ChildEnv("GEMINI_CLI_HOME="+home, "GEMINI_CLI_NO_RELAUNCH=true"))
}

// login says in words what a call would log in with.
func (s Setup) login() (string, error) {
	a := s.Account()
	if a.Complete() || a.Vertex && s.Backend == "vertex" {
		return a.String(), nil
	}
	dir := s.userHome()
	if _, err := os.Stat(filepath.Join(dir, ".gemini", "oauth_creds.json")); dir == "" || err != nil {
		return "", sdk.Fail(sdk.NotLoggedIn, "gemini has no key in the environment and no login in "+cmp.Or(dir, "a home (HOME is not set)"),
			sdk.EffectNone, sdk.Fix(loginFix))
	}
	return "login in " + dir, nil
}

// userHome is the folder that a call without a private one uses.
func (s Setup) userHome() string {
	if filepath.IsAbs(s.GeminiHome) {
		return s.GeminiHome
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	return cmp.Or(os.Getenv("GEMINI_CLI_HOME"), home)
}

// home is GEMINI_CLI_HOME of one call; own says that it is private and gets relay's
// settings. Private is the folder of the call.
func (s Setup) home(private string) (dir string, own bool) {
	if s.GeminiHome == "user" || filepath.IsAbs(s.GeminiHome) {
		return s.userHome(), false
	}
	return filepath.Join(private, "home"), true
}
