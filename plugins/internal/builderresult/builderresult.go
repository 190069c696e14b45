package builderresult

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Result is the document. Its lists are never null when it is encoded.
type Result struct {
	Summary       string   `json:"summary"`
	FilesIntended []string `json:"files_intended"`
	CommandsRan   []string `json:"commands_ran"`
	Notes         []string `json:"notes"`
}

// The limits of the schema: characters of a text, entries of a list.
const (
	maxSummary  = 800
	maxEntry    = 300
	maxFiles    = 200
	maxCommands = 50
	maxNotes    = 20
)

// JSON encodes the result within the limits. What does not fit is cut, and a note
// says so.
func (r Result) JSON() json.RawMessage {
	var lost []string
	files := fit(r.FilesIntended, maxFiles, "files", &lost)
	commands := fit(r.CommandsRan, maxCommands, "commands", &lost)
	notes := fit(r.Notes, maxNotes-len(lost), "notes", &lost)
	if len(notes)+len(lost) > maxNotes {
		notes = notes[:maxNotes-len(lost)]
	}
	out := Result{
		Summary: cut(strings.TrimSpace(r.Summary), maxSummary), FilesIntended: files, CommandsRan: commands,
		Notes: append(notes, lost...),
	}
	out.Summary = cmp.Or(out.Summary, "no summary")
	b, err := json.Marshal(out)
	if err != nil {
		panic(err) // strings only
	}
	return b
}

// fit drops empty entries, cuts long ones and keeps the first limit.
func fit(list []string, limit int, what string, lost *[]string) []string {
	out := []string{}
	for _, s := range list {
		if s != "" {
			out = append(out, cut(s, maxEntry))
		}
	}
	if len(out) > limit {
		*lost = append(*lost, fmt.Sprintf("%d more %s are not listed", len(out)-limit, what))
		out = out[:limit]
	}
	return out
}

func cut(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}
