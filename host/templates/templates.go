package templates

import (
	"embed"
	"strings"
)

//go:embed check
var files embed.FS

// What a pipeline begins with: what agents are told about the project, and a task list of examples.
var (
	//go:embed AGENTS.md
	Agents []byte
	//go:embed prd.json
	Tasks []byte
)

// Check is the skeleton of a hidden check in a language; "" where there is none.
func Check(language string) (name, text string) {
	name = map[string]string{"python": "check.py", "javascript": "check.mjs", "go": "check.go.txt"}[language]
	b, err := files.ReadFile("check/" + name)
	if err != nil {
		return "", ""
	}
	return strings.TrimSuffix(name, ".txt"), string(b)
}
