package attest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/judge/git"
)

// approvalType is what DSSE calls the payload of a signed approval.
const approvalType = "application/vnd.relay.approval+json"

// Beyond is the kind of a yes to a task that goes beyond the ceiling.
const Beyond = "task beyond the ceiling"

// Approved is what the key of who gave an approval signs: of a plan its digest and the commit
// that it is carried out on, of a change the digest of what it touches, which has each file's
// content before and after. Neither holds for anything else.
type Approved struct {
	Kind    string `json:"kind"`
	At      string `json:"at"`
	Base    string `json:"base,omitempty"`
	Task    string `json:"task_sha256,omitempty"`
	Touched string `json:"touched_sha256,omitempty"`
}

// Approve makes an approval of an operator's yes. It is signed where git signs with an SSH
// key; why says what keeps that key from signing.
func (o Options) Approve(ctx context.Context, yes Approved, at time.Time) (a Approval, why error) {
	yes.At = at.UTC().Format(Time)
	a = Approval{Kind: yes.Kind, At: yes.At}
	if format, err := o.setting(ctx, "gpg.format"); err != nil || format != "ssh" {
		return a, err
	}
	o.Sign = BySSH
	sealed, err := o.Seal(ctx, approvalType, JSON(yes))
	if err != nil {
		return a, err
	}
	var e envelope
	if err := strictjson.Unmarshal(sealed, &e); err != nil {
		return a, err
	}
	a.Key, a.Signed = &e.Signatures[0].KeyID, string(sealed)
	return a, nil
}

// TouchedBetween is the digest of what differs between two commits, as a statement has it.
func TouchedBetween(ctx context.Context, git *git.Repo, base, head string) (string, error) {
	lines, err := touched(ctx, git, base, head)
	return touchedOf(lines).SHA256, err
}

// of reports whether the approval is one of the change.
func (yes *Approved) of(a *Approval, c *Change) bool {
	return yes.Kind == a.Kind && yes.Task+yes.Touched != "" &&
		(yes.Task == "") == (yes.Base == "") && (yes.Base == "" || yes.Base == c.Base) &&
		(yes.Task == "" || yes.Task == c.Task.SHA256) && (yes.Touched == "" || yes.Touched == c.Touched.SHA256)
}

// bind ties an approval to the change that it is told of. One that was signed for another
// change is nobody's.
func (a *Approval) bind(c *Change) {
	a.Task, a.Base = c.Task.SHA256, c.Base
	var e envelope
	var yes Approved
	if strictjson.Unmarshal([]byte(a.Signed), &e) == nil {
		if payload, err := base64.StdEncoding.DecodeString(e.Payload); err == nil && strictjson.Unmarshal(payload, &yes) == nil && yes.of(a, c) {
			a.At = yes.At
			return
		}
	}
	a.Key, a.Signed = nil, ""
}

// check checks who gave an approval of the change.
func (a *Approval) check(signers Signers, c *Change) error {
	if a.Task != c.Task.SHA256 || a.Base != c.Base {
		return errors.New("an approval is for another task or another base")
	}
	if a.Key == nil && a.Signed == "" {
		return nil
	}
	var yes Approved
	_, _, key, err := signers.Open(approvalType, []byte(a.Signed), func(payload []byte) (time.Time, error) {
		if err := strictjson.Unmarshal(payload, &yes); err != nil {
			return time.Time{}, err
		}
		var told map[string]*string
		if err := strictjson.Unmarshal(payload, &told); err != nil || yes.Kind == "" {
			return time.Time{}, errors.New("it does not say what was approved")
		}
		for name, value := range told {
			if value == nil || *value == "" {
				return time.Time{}, fmt.Errorf("its %s is empty", name)
			}
		}
		return timeOf(yes.At)
	})
	if err != nil {
		return fmt.Errorf("the approval of the %s does not count: %w", a.Kind, err)
	}
	if a.Key == nil || key != *a.Key || yes.At != a.At || !yes.of(a, c) {
		return errors.New("an approval is not what its key has signed")
	}
	return nil
}
