package pipeline

import (
	"encoding/json"
	"os"
	"time"

	"github.com/paxiom/relay/host/internal/workspace"
)

// Unpushed is a push that did not go through. It stays on record until one does.
type Unpushed struct {
	Since    time.Time `json:"since"`
	To       string    `json:"to"`       // "origin/main"
	Tracking string    `json:"tracking"` // the ref in which git notes what the remote has
	Commit   string    `json:"commit"`   // that was to be brought there
	Why      string    `json:"why"`
	Next     string    `json:"next"`
}

const unpushedFile = "unpushed.json"

// NoteUnpushed keeps u for those who look; nil forgets the one that is there.
func NoteUnpushed(ws *workspace.Workspace, u *Unpushed) error {
	if u == nil {
		return os.RemoveAll(dir(ws, unpushedFile))
	}
	if was, err := readUnpushed(ws); err == nil && was != nil && was.To == u.To {
		u.Since = was.Since
	}
	return workspace.WriteJSON(dir(ws, unpushedFile), u)
}

func readUnpushed(ws *workspace.Workspace) (*Unpushed, error) {
	return workspace.ReadJSON[Unpushed](dir(ws, unpushedFile), 1<<20, json.Unmarshal)
}
