package trust

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/prompts"
)

// brought are the prompts and the schemas in the repository that take the place of relay's
// own, or narrow them. What they tell a model is told in the operator's name, so they need
// his yes as a command does: each version of them, since the digest is over their text.
func brought(l *config.Loaded) (items []Item) {
	if l.Root == "" || l.Config == nil {
		return nil
	}
	c := l.Config
	files := []string{c.Orchestrator.SystemPromptFile, c.Orchestrator.UserPromptFile, c.Orchestrator.TaskSchemaFile,
		c.Builder.ClaudeCode.SystemPromptFile, c.Builder.ClaudeCode.UserPromptFile, c.Builder.ClaudeCode.BuilderResultSchemaFile}
	dir := path.Join(c.WorkspaceDir, "prompts")
	for _, role := range prompts.Roles() {
		files = append(files, path.Join(dir, role+".system.txt"), path.Join(dir, role+".md"))
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if file == "" {
			continue
		}
		text, err := beneath.ReadFile(l.Root, file, max(prompts.MaxTemplate, 1<<20))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		why := "it is told to models in place of relay's own text"
		if strings.HasSuffix(file, ".json") {
			why = "tasks or results have to satisfy it besides relay's own schema"
		}
		if err != nil { // its reader reports that again
			text, why = nil, err.Error()
		}
		value, err := json.Marshal(string(text))
		if err == nil {
			items = append(items, Item{Key: path.Base(file), Value: string(value), Why: why, File: file})
		}
	}
	return items
}
