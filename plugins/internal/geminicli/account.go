package geminicli

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/sdk"
)

// Account is what a call logs in with: a key, Google Cloud's credentials, or nothing
// of the two.
type Account struct {
	KeyName string // the variable that holds the key; empty: there is none
	Vertex  bool   // Vertex AI answers, not the Gemini API
	// Project and Location are Google Cloud's. Without a project Vertex takes a key only.
	Project, Location string
	// Credentials is the file of the application default credentials. Empty: there is
	// none, but where the configuration asks for Vertex the machine itself may have some.
	Credentials string
}

// Key is the key's value.
func (a Account) Key() string { return os.Getenv(a.KeyName) }

// Complete reports whether a call can log in with it.
func (a Account) Complete() bool {
	return a.KeyName != "" || a.Vertex && a.Project != "" && a.Credentials != ""
}

// String says in words what a call would log in with; no secret.
func (a Account) String() string {
	where := "the Gemini API"
	if a.Vertex {
		where = strings.TrimSpace("Vertex AI " + a.Project)
	}
	switch {
	case a.KeyName != "":
		return "API key of " + a.KeyName + " for " + where
	case a.Credentials != "":
		return "credentials in " + a.Credentials + " for " + where
	}
	return "no key for " + where
}

// LoginFix says how to log in, in the way that the account does it.
func (a Account) LoginFix() string {
	if a.Vertex && a.KeyName == "" {
		return "`gcloud auth application-default login`, or put a key into GEMINI_API_KEY"
	}
	return KeyFix
}

// Account finds out what there is to log in with. Nothing is asked over a network.
func (s Setup) Account() Account {
	file, theirs := defaultCredentials()
	a := Account{
		KeyName:  keyName(),
		Project:  cmp.Or(s.Project, os.Getenv("GOOGLE_CLOUD_PROJECT"), theirs),
		Location: cmp.Or(s.Location, os.Getenv("GOOGLE_CLOUD_LOCATION"), "global"),
	}
	switch s.Backend {
	case "vertex":
		a.Vertex = true
	case "gemini":
	default:
		a.Vertex = s.Project != "" || truth(os.Getenv("GOOGLE_GENAI_USE_VERTEXAI")) || a.KeyName == "" && file != "" && a.Project != ""
	}
	switch {
	case !a.Vertex:
		a.Project, a.Location = "", ""
	case file != "" && a.Project != "": // the project's own rights go before a key
		a.KeyName, a.Credentials = "", file
	case a.KeyName != "" && s.Project == "": // a key alone is Vertex's express mode
		a.Project, a.Location = "", ""
	}
	return a
}

// keyName names the variable that holds a key; empty: there is none.
func keyName() string {
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"} {
		if os.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

func truth(s string) bool { return s == "1" || strings.EqualFold(s, "true") }

// defaultCredentials is the file of the application default credentials and the
// project that it names; both empty when there is none that can be read.
func defaultCredentials() (file, project string) {
	file = os.Getenv("GOOGLE_APPLICATION_CREDENTIALS")
	if home, err := os.UserHomeDir(); file == "" && err == nil {
		file = filepath.Join(home, ".config", "gcloud", "application_default_credentials.json")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", ""
	}
	var c struct {
		Project string `json:"project_id"`
		Quota   string `json:"quota_project_id"`
	}
	_ = json.Unmarshal(b, &c) // a file that says nothing of a project is one all the same
	return file, cmp.Or(c.Project, c.Quota)
}

// Server is the base URL that was asked for; empty: Google's own.
func (s Setup) Server(vertex bool) string {
	variable := "GOOGLE_GEMINI_BASE_URL"
	if vertex {
		variable = "GOOGLE_VERTEX_BASE_URL"
	}
	return strings.TrimRight(cmp.Or(s.BaseURL, os.Getenv(variable)), "/")
}

// CheckSetup refuses what no call could work with.
func (s Setup) CheckSetup() error {
	switch s.Backend {
	case "", "auto", "gemini", "vertex":
	default:
		return sdk.Fail(sdk.BadConfig, "backend is none of auto, gemini and vertex", sdk.Fix(`set "backend": "auto"`))
	}
	if s.Backend == "gemini" && s.Project != "" {
		return sdk.Fail(sdk.BadConfig, "the backend gemini has no project; Vertex AI has", sdk.Fix(`set "backend": "vertex", or leave project out`))
	}
	return nil
}
