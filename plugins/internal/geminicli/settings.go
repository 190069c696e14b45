package geminicli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// Tools of the program, by their names in its settings.
var (
	readTools  = []string{"list_directory", "read_file", "read_many_files", "grep_search", "glob"}
	writeTools = append([]string{"replace", "write_file", "run_shell_command"}, readTools...)
	// noTools is no tool's name: an empty list would mean all.
	noTools = []string{"none"}
)

// furnish makes a home of its own for a call: relay's settings, the login of the user
// where it is needed, and nothing else.
func (c Call) furnish(home, private string) error {
	dir := filepath.Join(home, ".gemini")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(c.settings(private))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), b, 0o600); err != nil {
		return err
	}
	if c.authType() != oauth {
		return nil
	}
	for _, file := range loginFiles { // links: what is renewed is the user's own
		theirs := filepath.Join(c.userHome(), ".gemini", file)
		if _, err := os.Stat(theirs); err != nil {
			continue
		}
		if err := os.Symlink(theirs, filepath.Join(dir, file)); err != nil {
			return err
		}
	}
	return nil
}

// loginFiles hold the login of Gemini CLI.
var loginFiles = []string{"oauth_creds.json", "google_accounts.json", "gemini-credentials.json"}

const oauth = "oauth-personal"

// authType is the program's word for how to log in.
func (c Call) authType() string {
	a := c.Account()
	switch {
	case a.Vertex:
		return "vertex-ai"
	case a.KeyName != "" || c.Server(false) != "":
		return "gemini-api-key"
	}
	return oauth
}

type object = map[string]any

// settings turn off what reads the user's or the repository's files, what asks other
// hosts, and what tries again for minutes. The shell of the model sees no key.
func (c Call) settings(private string) object {
	off := object{"enabled": false}
	tools := map[Access][]string{None: noTools, Read: readTools, Write: writeTools}[c.Access]
	s := object{
		"security": object{
			"auth":                         object{"selectedType": c.authType()},
			"environmentVariableRedaction": object{"enabled": true, "blocked": []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"}},
		},
		"privacy": object{"usageStatisticsEnabled": false},
		"general": object{
			"maxAttempts": 2, "retryFetchErrors": false, "enableAutoUpdate": false, "enableAutoUpdateNotification": false, "checkpointing": off,
		},
		"telemetry": object{ // into a private file: it alone tells how an answer ended
			"enabled": true, "target": "local", "outfile": telemetryFile(private), "logPrompts": false, "useCollector": false,
		},
		"hooksConfig": off, "skills": off, "experimental": object{"enableAgents": false},
		"context":  object{"includeDirectoryTree": c.Access != None},
		"advanced": object{"ignoreLocalEnv": true},
		"tools":    object{"core": tools, "disableLLMCorrection": true},
	}
	if c.MaxTurns > 0 {
		s["model"] = object{"maxSessionTurns": c.MaxTurns}
	}
	return s
}

func telemetryFile(private string) string { return filepath.Join(private, "telemetry.json") }

// name is a variable's name in an entry NAME=value.
func name(entry string) string {
	n, _, _ := strings.Cut(entry, "=")
	return n
}

// maxTelemetry bounds what is read of the program's own log.
const maxTelemetry = 256 << 20

// finishReason is how the model's last answer ended, in the program's words: "stop",
// "length", "content_filter". Empty when it is not known.
func finishReason(file string) string {
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxTelemetry {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	last := ""
	for dec := json.NewDecoder(f); ; {
		var entry struct {
			Attributes struct {
				Name   string   `json:"event.name"`
				Role   string   `json:"role"`
				Finish []string `json:"finish_reasons"`
			} `json:"attributes"`
		}
		if dec.Decode(&entry) != nil { // its end, or a half-written entry
			return last
		}
		if a := entry.Attributes; a.Name == "gemini_cli.api_response" && a.Role == "main" && len(a.Finish) > 0 {
			last = a.Finish[len(a.Finish)-1]
		}
	}
}
