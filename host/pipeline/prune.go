package pipeline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/host/internal/workspace"
)

// Prune removes what is kept of the attempts at tasks whose runs are gone for good: answers,
// records, outputs. The trail of a task's newest attempt stays, so that attempts are counted
// on and `relay task show` knows how it ended. The caller holds the workspace's lock.
func Prune(ws *workspace.Workspace, runs []string) error {
	newest := map[string]bool{}
	if err := every(ws, func(t *Record) { newest[t.Attempt] = true }); err != nil {
		return err
	}
	folders, err := os.ReadDir(dir(ws, tasksDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range folders {
		t, err := readTrail(ws, f.Name())
		if err != nil || t == nil || !t.Settled || !slices.Contains(runs, t.RunID) || t.Attempt != f.Name() {
			continue // nothing that is known to be over goes
		}
		err = strip(dir(ws, tasksDir, t.Attempt), newest[t.Attempt])
		ws.Withdraw(dir(ws, tasksDir, t.Attempt)) // what is kept is copied again
		if err != nil {
			return err
		}
	}
	return nil
}

// strip removes the folder of an attempt, but for its trail if that is to stay.
func strip(folder string, keepTrail bool) error {
	if !keepTrail {
		return os.RemoveAll(folder)
	}
	all, err := os.ReadDir(folder)
	for _, f := range all {
		if f.Name() != trailFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(folder, f.Name())))
		}
	}
	return err
}
