package report

import "github.com/paxiom/relay/judge"

// Blocked is BLOCKED.json: why nothing could start and what to type.
type Blocked struct {
	SchemaVersion int        `json:"schema_version"` // 1
	RunID         string     `json:"run_id,omitempty"`
	At            string     `json:"at"` // RFC 3339
	Code          judge.Code `json:"code"`
	What          string     `json:"what"`
	Why           string     `json:"why"`
	Remediation   string     `json:"remediation"` // starts with the command to type in backticks
}

// Encode fits the report to the schema (clipping texts and lists, with the counts
// of what was left out in Notes), validates it and gives the bytes of REPORT.json.
func Encode(r *Report) ([]byte, error) { panic("todo") }

// Decode reads and validates REPORT.json.
func Decode(b []byte) (*Report, error) { panic("todo") }

// Render gives REPORT.md: the same bytes for the same report, at most maxChars
// characters, and nothing in it that a hostile text could make more than text.
func Render(r *Report, maxChars int) []byte { panic("todo") }

// EncodeBlocked fits, validates and gives the bytes of BLOCKED.json.
func EncodeBlocked(b *Blocked) ([]byte, error) { panic("todo") }

// DecodeBlocked reads and validates BLOCKED.json.
func DecodeBlocked(b []byte) (*Blocked, error) { panic("todo") }

// Safe makes a text from a stranger fit for one line of a terminal or of markdown
// text: control, bidirectional and zero-width characters and bytes that are not
// UTF-8 become visible escapes.
func Safe(s string) string { panic("todo") }
