package pipeline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/paxiom/relay/host/internal/workspace"
)

// Prune removes what is kept of the attempts at tasks whose runs the history no longer
// has: answers, records, outputs. The trail of a task's newest attempt stays, so that
// attempts are counted on and `relay task show` knows how it ended. It gives how many
// attempts it took something of, and how much. The caller holds the workspace's lock.
func Prune(ws *workspace.Workspace, runs []string, dry bool) (attempts int, bytes int64, err error) {
	gone := map[string]bool{}
	for _, id := range runs {
		gone[id] = true
	}
	newest := map[string]bool{}
	if err := every(ws, func(t *Trail) { newest[t.Attempt] = true }); err != nil {
		return 0, 0, err
	}
	folders, err := os.ReadDir(dir(ws, tasksDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, 0, err
	}
	for _, f := range folders {
		t, err := readTrail(ws, f.Name())
		if err != nil || t == nil || !t.Settled || !gone[t.RunID] || t.Attempt != f.Name() {
			continue // nothing that is known to be over goes
		}
		n, err := strip(dir(ws, tasksDir, t.Attempt), newest[t.Attempt], dry)
		if bytes += n; n > 0 {
			attempts++
		}
		if !dry {
			ws.Withdraw(dir(ws, tasksDir, t.Attempt)) // what is kept is copied again
		}
		if err != nil {
			return attempts, bytes, err
		}
	}
	return attempts, bytes, nil
}

// strip empties the folder of an attempt, but for its trail if that is to stay, and gives
// how much that is.
func strip(folder string, keepTrail, dry bool) (bytes int64, err error) {
	all, err := os.ReadDir(folder)
	for _, f := range all {
		if keepTrail && f.Name() == trailFile {
			continue
		}
		path := filepath.Join(folder, f.Name())
		bytes += workspace.Size(path)
		if !dry {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	if !keepTrail && !dry && err == nil {
		err = os.Remove(folder)
	}
	return bytes, err
}
