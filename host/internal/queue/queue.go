package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/store"
	"github.com/paxiom/relay/host/internal/workspace"
)

// Entry is one thing that waits, or that runs and should be seen beside those.
type Entry struct {
	ID    string    `json:"id"`   // of the loop, cycle or task that waits
	Kind  string    `json:"kind"` // "loop", …
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // when it continues by itself; zero: when somebody acts
	What  string    `json:"what"`           // one line
	Next  string    `json:"next"`           // the command to type, in backticks first
	// Running: it waits for nobody and is here to be seen.
	Running bool `json:"running,omitempty"`
	// Noted: it is one of those that Note keeps.
	Noted bool `json:"noted,omitempty"`
}

func (e Entry) key() string { return e.Kind + " " + e.ID }

// Put adds the entry, or replaces the one of the same kind and id.
func Put(ws *workspace.Workspace, e Entry) error {
	return change(ws, func(all []Entry) []Entry {
		return append(slices.DeleteFunc(all, func(o Entry) bool { return o.key() == e.key() }), e)
	})
}

// Drop takes the entry away, and for id "" all of the kind; one that is not there is no error.
func Drop(ws *workspace.Workspace, kind, id string) error {
	if _, err := os.Lstat(list(ws)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return change(ws, func(all []Entry) []Entry {
		return slices.DeleteFunc(all, func(o Entry) bool { return o.Kind == kind && (id == "" || o.ID == id) })
	})
}

// Note puts these entries in place of all that it has put there before.
func Note(ws *workspace.Workspace, noted []Entry) error {
	was, err := All(ws)
	if err != nil {
		return err
	}
	was = slices.DeleteFunc(was, func(e Entry) bool { return !e.Noted })
	for i := range noted {
		noted[i].Noted = true
	}
	if len(was)+len(noted) == 0 {
		return nil
	}
	return change(ws, func(all []Entry) []Entry {
		all = slices.DeleteFunc(all, func(o Entry) bool {
			return o.Noted || slices.ContainsFunc(noted, func(e Entry) bool { return e.key() == o.key() })
		})
		return append(all, noted...)
	})
}

// All gives the entries, the oldest first.
func All(ws *workspace.Workspace) ([]Entry, error) {
	raw, err := workspace.ReadFile(list(ws), 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Entry
	if err != nil {
		return nil, workspace.Unreadable(list(ws), err)
	}
	if json.Unmarshal(raw, &all) != nil {
		return nil, nil // it is written anew
	}
	return all, nil
}

// Damaged is the file of the entries where no new one could be put into its place.
func Damaged(ws *workspace.Workspace) []string {
	if _, err := All(ws); err != nil {
		return []string{list(ws)}
	}
	return nil
}

func list(ws *workspace.Workspace) string { return filepath.Join(ws.Dir(), "queue.json") }

func change(ws *workspace.Workspace, do func([]Entry) []Entry) error {
	unlock, err := store.Lock(filepath.Join(ws.Dir(), "queue.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	all, err := All(ws)
	if err != nil {
		return err
	}
	all = do(all)
	slices.SortFunc(all, func(a, b Entry) int { return a.Since.Compare(b.Since) })
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := workspace.WriteScratch(list(ws), append(raw, '\n')); err != nil {
		return err
	}
	err = workspace.WriteScratch(ws.Queue(), render(all))
	_ = ws.Publish() // an old copy harms nothing
	return err
}

// render writes the list for people.
func render(all []Entry) []byte {
	var b strings.Builder
	b.WriteString("# What waits\n\n")
	if len(all) == 0 {
		b.WriteString("Nothing.\n")
	}
	for _, e := range all {
		until := "until you act"
		switch {
		case !e.Until.IsZero():
			until = "until " + e.Until.Local().Format(time.DateTime)
		case e.Running:
			until = "running"
		}
		fmt.Fprintf(&b, "- %s %s, since %s, %s: %s. %s\n", report.Text(e.Kind), report.Text(e.ID), e.Since.Local().Format(time.DateTime), until, report.Text(e.What), e.Next)
	}
	return []byte(b.String())
}
