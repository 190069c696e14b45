package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/netproxy"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/schemas"
)

// Names of the formats. The payload's is that of attestations; the predicate tells them apart.
const (
	payloadType   = "application/vnd.in-toto+json"
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://github.com/paxiom/relay/evidence/v1"
)

// Names of the members; others lie in the two folders.
const (
	ManifestName = "manifest.dsse.json"
	objectsName  = "objects.pack"
	pageName     = "index.html"
	notesDir     = "attestations/"
	notesEnd     = ".txt"
	policiesDir  = "policies/"
)

// Manifest is what is signed.
type Manifest struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Facts     `json:"predicate"`
}

// Subject is one of the other members.
type Subject struct {
	Name        string            `json:"name"`
	Digest      map[string]string `json:"digest"`
	Annotations struct {
		Bytes int64 `json:"bytes"`
	} `json:"annotations"`
}

// Facts are what the archive is about, and what is known that no attestation holds.
type Facts struct {
	Relay        string    `json:"relay_version"`
	AsOf         time.Time `json:"as_of"` // of the newest record in it
	Range        string    `json:"range"` // of commits that was asked for
	Since        time.Time `json:"since,omitzero"`
	ObjectFormat string    `json:"object_format"`
	Tip          string    `json:"tip"`     // the last commit of the range
	Commits      []string  `json:"commits"` // the oldest first
	Runs         []Run     `json:"runs"`    // the oldest first
	Policies     []Policy  `json:"policies"`
	Unknown      []string  `json:"unknown"` // what is not known
}

// Run is a run, whether or not something came of it.
type Run struct {
	ID       string          `json:"run"` // of a cycle: the cycle's
	Workflow string          `json:"workflow"`
	Task     string          `json:"task,omitempty"`
	Began    time.Time       `json:"began,omitzero"`
	Ended    time.Time       `json:"ended,omitzero"`
	Code     judge.Code      `json:"code,omitempty"`
	Commit   string          `json:"commit,omitempty"`
	Undoes   string          `json:"undoes,omitempty"`
	Box      string          `json:"box,omitempty"`
	Policy   *report.Policy  `json:"policy,omitempty"`
	Refused  []Refusal       `json:"refused"` // what its boxes wanted of the network and did not get
	Calls    []attest.Plugin `json:"calls"`
}

// Refusal is a host that a box was refused.
type Refusal struct {
	Role string `json:"role"`
	netproxy.Refusal
}

// Policy is a policy as code that was in force.
type Policy struct {
	SHA256 string `json:"sha256"`
	Text   bool   `json:"text"` // its files are in the archive
}

// decode takes a manifest apart.
func decode(payload []byte) (*Manifest, error) {
	m := &Manifest{}
	if _, err := strictjson.Decode(payload, maxManifest); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(payload, m); err != nil {
		return nil, err
	}
	if m.Type != statementType || m.PredicateType != predicateType {
		return nil, errors.New("what is signed is not a manifest")
	}
	if !bytes.Equal(attest.JSON(m), payload) { // a key in other letters would be read, too
		return nil, errors.New("the manifest is not written as relay writes it")
	}
	if all := m.Predicate.Commits; len(all) == 0 || all[len(all)-1] != m.Predicate.Tip {
		return nil, errors.New("its commits do not end with its tip")
	} else if n := len(slices.Compact(slices.Sorted(slices.Values(all)))); n < len(all) {
		return nil, errors.New("a commit is listed twice")
	}
	return m, schemas.Validate(schemas.Evidence, payload)
}

// policies checks that the policies whose texts are there are what their digests say.
func (m *Manifest) policies() error {
	files := map[string][]policy.Hashed{}
	for _, s := range m.Subject {
		if rest, ok := strings.CutPrefix(s.Name, policiesDir); ok {
			digest, rest, _ := strings.Cut(rest, "/")
			whose, base, _ := strings.Cut(rest, "/")
			files[digest] = append(files[digest], policy.Hashed{User: whose == policy.Whose(true), Base: base, SHA256: s.Digest["sha256"]})
		}
	}
	for _, p := range m.Predicate.Policies {
		if p.Text && policy.Digest(files[p.SHA256]) != p.SHA256 {
			return fmt.Errorf("the files of the policy %.12s are not those of its digest", p.SHA256)
		}
		if p.Text {
			delete(files, p.SHA256)
		}
	}
	for digest := range files {
		return fmt.Errorf("the policy %.12s is not in the manifest's list", digest)
	}
	return nil
}

// PolicyMember is a file of a policy as a member.
func PolicyMember(digest string, f policy.File) Member {
	return Text(policiesDir+digest+"/"+policy.Whose(f.User)+"/"+path.Base(f.Name), []byte(f.Text))
}
