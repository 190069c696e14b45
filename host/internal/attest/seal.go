package attest

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"time"

	"github.com/paxiom/relay/host/internal/strictjson"
)

// Seal signs a payload of another kind than a statement about a commit, in the same form.
// The kind is part of what is signed, so that one can't pass for the other.
func (o *Options) Seal(ctx context.Context, kind string, payload []byte) ([]byte, error) {
	sig, print, err := o.sign(ctx, namespaceOf(kind), pae(kind, payload))
	if err != nil {
		return nil, err
	}
	return JSON(envelope{kind, base64.StdEncoding.EncodeToString(payload), []signature{{print, base64.StdEncoding.EncodeToString(sig)}}}), nil
}

// Open gives what Seal was given, and who signed it. at reads from the payload when that
// was; it is not believed yet then.
func (all Signers) Open(kind string, sealed []byte, at func(payload []byte) (time.Time, error)) (payload []byte, by, key string, err error) {
	var e envelope
	if err := strictjson.Unmarshal(sealed, &e); err != nil {
		return nil, "", "", err
	}
	if e.PayloadType != kind || len(e.Signatures) != 1 || !bytes.Equal(JSON(e), sealed) {
		return nil, "", "", errors.New("it is not of this kind and form, with one signature")
	}
	if payload, err = base64.StdEncoding.DecodeString(e.Payload); err != nil {
		return nil, "", "", err
	}
	sig, err := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
	if err != nil {
		return nil, "", "", err
	}
	when, err := at(payload)
	if err != nil {
		return nil, "", "", err
	}
	by, key, err = all.check(namespaceOf(kind), pae(kind, payload), sig, when)
	if err == nil && key != e.Signatures[0].KeyID {
		return nil, "", "", errors.New("another key is named than the one that signed it")
	}
	return payload, by, key, err
}
