package attest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/schemas"
)

// payloadType is what DSSE calls a statement of in-toto.
const payloadType = "application/vnd.in-toto+json"

// maxNote is more than any note of relay's has.
const maxNote = strictjson.MaxBytes

// envelope is DSSE's, with one signature, or none where there was no key.
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	KeyID string `json:"keyid"` // fingerprint of the key
	Sig   string `json:"sig"`   // SSHSIG, in base64
}

// pae is what is signed of a payload of a type: of another type it is another message.
func pae(kind string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
}

// render is the text of a note: what people read, an empty line, the envelope on one line.
func render(summary []string, payload, sig []byte, keyID string) string {
	e := envelope{payloadType, base64.StdEncoding.EncodeToString(payload), []signature{}}
	if sig != nil {
		e.Signatures = append(e.Signatures, signature{keyID, base64.StdEncoding.EncodeToString(sig)})
	}
	return strings.Join(summary, "\n") + "\n\n" + string(JSON(e)) + "\n"
}

// note is a note as it was found; nothing of it is believed yet.
type note struct {
	payload, sig []byte
	statement    *Statement
}

// parse takes a note apart. It has one form only: every other byte is refused.
func parse(text string) (*note, error) {
	at := strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n\n")
	if at < 0 || len(text) > maxNote {
		return nil, errors.New("the note is not of relay's form")
	}
	var e envelope
	if err := strictjson.Unmarshal([]byte(text[at+2:]), &e); err != nil && strings.Contains(text, "\n\n{\"payloadType\":\""+payloadType) {
		return nil, errors.New("somebody added to relay's note, which it does not outlive: `git notes --ref=review` has words of people")
	} else if err != nil {
		return nil, fmt.Errorf("the envelope can't be read: %w", err)
	}
	if e.PayloadType != payloadType || len(e.Signatures) > 1 {
		return nil, errors.New("the envelope is not relay's: one statement of in-toto with one signature")
	}
	n := &note{statement: &Statement{}}
	var err error
	if n.payload, err = base64.StdEncoding.DecodeString(e.Payload); err != nil {
		return nil, errors.New("the payload is not in base64")
	}
	keyID := ""
	if len(e.Signatures) == 1 {
		keyID = e.Signatures[0].KeyID
		if n.sig, err = base64.StdEncoding.DecodeString(e.Signatures[0].Sig); err != nil {
			return nil, errors.New("the signature is not in base64")
		}
		if key, _, err := takeApart(namespace, n.sig); err != nil || keyID != fingerprint(key) {
			return nil, errors.New("the signature is not of the key that is named")
		}
	}
	if err := strictjson.UnmarshalOpen(n.payload, n.statement); err != nil {
		return nil, fmt.Errorf("the statement can't be read: %w", err)
	}
	if err := schemas.Validate(schemas.Attestation, n.payload); err != nil { // nothing that is required is left out or null
		return nil, fmt.Errorf("the statement is not of the published form: %w", err)
	}
	if render(n.statement.Predicate.Relay.Summary, n.payload, n.sig, keyID) != text {
		return nil, errors.New("what the note says is not what its statement says")
	}
	return n, nil
}
