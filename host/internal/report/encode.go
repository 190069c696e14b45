package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/schemas"
)

// SchemaVersion is the version of REPORT.json and BLOCKED.json.
const SchemaVersion = 1

// NoCommit stands where a report needs a commit and there was none to name, as in
// a repository whose HEAD could not be read.
const NoCommit = "0000000"

// NoPath stands where a report needs the path of a file that was not kept.
const NoPath = "none"

// Blocked is BLOCKED.json: why nothing could start and what to type.
type Blocked struct {
	SchemaVersion int        `json:"schema_version"` // 1
	RunID         string     `json:"run_id,omitempty"`
	At            string     `json:"at"` // RFC 3339
	Code          judge.Code `json:"code"`
	What          string     `json:"what"`
	Why           string     `json:"why"`
	Next          string     `json:"next"`                  // starts with the command to type in backticks
	PluginSays    string     `json:"plugin_says,omitempty"` // what a plugin suggests; relay does not vouch for it
}

// Fit gives the report as REPORT.json will hold it: texts and lists clipped to the
// schema's limits, with the counts of what was left out in Notes, and what the
// schema wants filled in. A report that fits is left as it is.
func Fit(r *Report) *Report {
	f := &fitter{}
	out := f.fit(reflect.ValueOf(*r), limitsOf()[schemas.Report], "").Interface().(Report)
	out.complete()
	if f.clipped > 0 {
		f.notes = append(f.notes, fmt.Sprintf("texts shortened to fit this report: %d", f.clipped))
	}
	room := max(limitsOf()[schemas.Report].Properties["notes"].MaxItems-len(f.notes), 0)
	out.Notes = append(out.Notes[:min(room, len(out.Notes))], f.notes...)
	return &out
}

// Encode fits the report, validates it and gives the bytes of REPORT.json. The same
// report gives the same bytes.
func Encode(r *Report) ([]byte, error) { return encode(Fit(r), schemas.Report) }

// complete fills in what follows from the rest and what the schema wants even when
// there was none of it.
func (r *Report) complete() {
	r.SchemaVersion = SchemaVersion
	r.StartedAt, r.EndedAt = r.StartedAt.UTC().Truncate(time.Millisecond), r.EndedAt.UTC().Truncate(time.Millisecond)
	r.DurationMS = max(r.DurationMS, 0)
	for i := range r.States { // a clock can be set back at any time
		r.States[i].MS = max(r.States[i].MS, 0)
	}
	r.Verdict = r.Code.Outcome()
	for _, c := range []*string{&r.BaseCommit, &r.HeadCommit} {
		if len(*c) < 7 {
			*c = NoCommit
		}
	}
	if r.Task.TaskKind == "" || r.Task.TaskKind == "(none)" {
		r.Task.TaskKind = string(judge.Execute) // no task was made; the schema knows no fourth kind
	}
	for _, p := range []*string{&r.Diff.DiffPatchPath, &r.Verification.VerifyLogPath} {
		if *p == "(none)" {
			*p = NoPath
		}
	}
	if r.Summary == "(none)" {
		r.Summary = string(r.Code)
	}
	r.Verification.ExecMode = "argv_no_shell"
	for i := range r.Verification.Runs {
		v := &r.Verification.Runs[i]
		v.DurationMS = max(v.DurationMS, 0)
		if v.ExitCode < -1 || v.ExitCode > 255 {
			v.ExitCode = -1
		}
	}
}

// encode gives validated JSON in which every invisible character is written as an
// escape, so that printing the file can't steer a terminal.
func encode(v any, schema string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("%s: %w", schema, err)
	}
	out := SafeJSON(b.Bytes())
	if err := schemas.Validate(schema, out); err != nil {
		return nil, fmt.Errorf("%s does not fit its own schema: %w", schema, err)
	}
	return out, nil
}

// SafeJSON is the same JSON with every invisible character written as an escape.
func SafeJSON(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r < utf8.RuneSelf && r != 0x7f || !invisible(r):
			out = append(out, b[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		b = b[n:]
	}
	return out
}

// Printed is SafeJSON of a document for people and scripts, without Markdown.
func Printed(b []byte) []byte { return diag.Plain(SafeJSON(b)) }

// invisible tells characters that a reader can't see or that move what he sees:
// controls, bidirectional marks, zero-width characters, separators of lines.
func invisible(r rune) bool {
	const ofEmoji = 0xfe0f // a variation selector that ordinary texts have
	return unicode.IsControl(r) || r != ofEmoji && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// SafeLines is Safe for a text of several lines; tabs stay tabs.
func SafeLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		body, end := strings.CutSuffix(line, "\n")
		for i, part := range strings.Split(strings.TrimSuffix(body, "\r"), "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(Safe(part))
		}
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// MaxBytes is more than any REPORT.json has.
const MaxBytes = 64 << 20

// Decode reads and validates REPORT.json.
func Decode(b []byte) (*Report, error) {
	r := &Report{}
	return r, decode(b, schemas.Report, r)
}

// EncodeBlocked fits, validates and gives the bytes of BLOCKED.json.
func EncodeBlocked(b *Blocked) ([]byte, error) {
	out := (&fitter{}).fit(reflect.ValueOf(*b), limitsOf()[schemas.Blocked], "").Interface().(Blocked)
	out.SchemaVersion = SchemaVersion
	return encode(&out, schemas.Blocked)
}

// DecodeBlocked reads and validates BLOCKED.json.
func DecodeBlocked(b []byte) (*Blocked, error) {
	v := &Blocked{}
	return v, decode(b, schemas.Blocked, v)
}

func decode(b []byte, schema string, v any) error {
	if err := schemas.Validate(schema, b); err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// Read reads REPORT.json of the workspace; absence is fs.ErrNotExist.
func Read(ws *workspace.Workspace) (*Report, error) {
	b, err := workspace.ReadFile(ws.Report(), workspace.MaxRunnerFile)
	if err != nil {
		return nil, err
	}
	r, err := Decode(b)
	if err != nil {
		return nil, workspace.Unreadable(ws.Report(), err)
	}
	return r, nil
}
