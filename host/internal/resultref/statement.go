package resultref

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
)

// kind is what DSSE calls the payload.
const kind = "application/vnd.relay.result+json"

// The files of a result. The first holds the signed statement about the others.
const (
	statementName   = "result.json"
	ReportName      = "report.json"
	AttestationName = "attestation"
	TrailName       = "trail.json" // of a task
)

// limits are the largest that files of a result may be, in bytes. What is larger is left
// out, and not read.
var limits = map[string]int64{
	statementName:   256 << 10,
	ReportName:      4 << 20,
	"report.md":     4 << 20,
	"diff.patch":    16 << 20,
	"verify.log":    16 << 20,
	AttestationName: 4 << 20,
	TrailName:       16 << 20,
}

// Statement is what is signed of a result.
type Statement struct {
	Version   int        `json:"version"`
	Key       string     `json:"key"`
	Run       string     `json:"run"`
	Request   string     `json:"request_sha256"` // of what was asked for
	Code      judge.Code `json:"code"`
	EndedAt   time.Time  `json:"ended_at"`
	Base      string     `json:"base"`
	Commit    string     `json:"commit,omitempty"`    // that landed
	Kept      string     `json:"kept,omitempty"`      // that holds what was rejected
	Milestone string     `json:"milestone,omitempty"` // before the run
	// Files are the SHA-256 of those that came along; Left those that did not: too large, or
	// with a value of a credential in them.
	Files map[string]string `json:"files"`
	Left  []string          `json:"left,omitempty"`
}

// Result is the result of an ended run that a trusted key has signed.
type Result struct {
	Statement
	Report *report.Report
	Trail  []byte // of a task
	Object string // the commit that holds it
	By     string // the signer's name
	Print  string // fingerprint of the key
}

// Untrusted says why what stands at a result's ref does not count.
type Untrusted struct {
	Ref string
	Err error
}

func (u *Untrusted) Error() string { return u.Ref + " does not count: " + u.Err.Error() }

// Unwrap gives the reason.
func (u *Untrusted) Unwrap() error { return u.Err }

// Request is the digest of what was asked for.
func Request(goal string, task []byte) string {
	b, err := json.Marshal(struct {
		Goal string `json:"goal"`
		Task []byte `json:"task"`
	}{goal, task})
	if err != nil {
		panic("resultref: " + err.Error())
	}
	return digest(b)
}

func digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// decode takes a payload apart.
func decode(payload []byte) (s Statement, err error) {
	if err = json.Unmarshal(payload, &s); err == nil && s.Version != 1 {
		err = errors.New("it is of another version of relay")
	}
	return s, err
}
