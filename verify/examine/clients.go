package examine

import (
	"embed"
	"strings"
)

//go:embed clients
var clients embed.FS

// Client is the file by which a check in a language talks to relay; "" where there is none.
func Client(language string) (name, text string) {
	name = map[string]string{"python": "relay_check.py", "javascript": "relay_check.mjs", "go": "relay_check.go.txt"}[language]
	b, err := clients.ReadFile("clients/" + name)
	if err != nil {
		return "", ""
	}
	return strings.TrimSuffix(name, ".txt"), string(b)
}
