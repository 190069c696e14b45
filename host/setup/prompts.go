package setup

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
)

// PromptFiles is what init --prompts wrote.
type PromptFiles struct {
	host.Doc
	Dir   string   `json:"dir"` // relative to the root
	Wrote []string `json:"wrote"`
	Kept  []string `json:"kept"` // were there
	Next  string   `json:"next"`
}

// Prompts writes the built-in prompts where relay looks for texts of your own. A file
// that is there stays as it is.
func Prompts(r *host.Repo) (*PromptFiles, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(o.WS.Ensure(), o.WS.Publish(), o.WS.MkdirPrompts()); err != nil {
		return nil, err
	}
	dir := o.WS.Prompts()
	res := &PromptFiles{Doc: host.DocOf("relay.init.prompts", 1), Dir: o.WS.Rel() + "/prompts", Wrote: []string{}, Kept: []string{},
		Next: "edit them and remove those that you leave as they are, so that they follow relay's own; commit them, then `relay trust`"}
	files := prompts.Files()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			res.Kept = append(res.Kept, name)
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, diag.Wrap(err, judge.BlockedMissingConfig, path+" can't be read", "`ls -l "+diag.Word(dir)+"`")
		}
		if err := workspace.WriteFile(path, []byte(files[name])); err != nil {
			return nil, err
		}
		res.Wrote = append(res.Wrote, name)
	}
	return res, nil
}
