package catalog

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// manifest pins the plugins that were built with this relay. The Makefile links it
// in; see [EncodeManifest].
var manifest string

// manifestMax bounds a decoded manifest, in bytes.
const manifestMax = 16 << 20

// EncodeManifest gives the text that is linked into relay: the entries' pins,
// without paths and states.
func EncodeManifest(entries []Entry) (string, error) {
	pins := slices.Clone(entries)
	for i := range pins {
		pins[i].Path, pins[i].Source, pins[i].State, pins[i].Reason = "", "", "", ""
	}
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression) // no time in the header: the same plugins, the same text
	if err := json.NewEncoder(z).Encode(pins); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.RawStdEncoding.EncodeToString(buf.Bytes()), nil
}

func decodeManifest(text string) ([]Entry, error) {
	if text == "" {
		return nil, nil
	}
	var pins []Entry
	z, err := gzip.NewReader(base64.NewDecoder(base64.RawStdEncoding, bytes.NewReader([]byte(text))))
	if err == nil {
		err = json.NewDecoder(io.LimitReader(z, manifestMax)).Decode(&pins)
	}
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "relay's own list of plugins is broken", reinstall)
	}
	return pins, nil
}

// FromInfo makes an entry of what a plugin prints for --info: a GetInfoResponse as
// JSON. Fields that this relay does not know are left out.
func FromInfo(b []byte) (Entry, error) {
	var info pluginpb.GetInfoResponse
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, &info); err != nil {
		return Entry{}, err
	}
	return FromResponse(&info), nil
}

// FromResponse makes an entry of what a plugin says about itself.
func FromResponse(info *pluginpb.GetInfoResponse) Entry {
	e := Entry{Name: info.GetName(), Version: info.GetVersion(), Aliases: info.GetAliases(), Summary: info.GetSummary(),
		Programs: info.GetPrograms(), Hosts: info.GetNetworkHosts(), Read: info.GetReads(), Write: info.GetWrites(), ConfigSchema: compact(info.GetConfigSchemaJson())}
	for _, k := range info.GetKinds() {
		switch k {
		case pluginpb.GetInfoResponse_KIND_PROVIDER:
			e.Kinds = append(e.Kinds, Provider)
		case pluginpb.GetInfoResponse_KIND_BUILDER:
			e.Kinds = append(e.Kinds, Builder)
		}
	}
	for _, v := range info.GetEnv() {
		e.Env = append(e.Env, EnvVar{Name: v.GetName(), Secret: v.GetSecret(), Required: v.GetRequired(), Purpose: v.GetPurpose()})
	}
	return e
}

// Asks is what an entry that came from a plugin itself declares.
func (e Entry) Asks() Rights {
	r := Rights{Programs: slices.Clone(e.Programs), Hosts: slices.Clone(e.Hosts), Read: slices.Clone(e.Read), Write: slices.Clone(e.Write)}
	for _, v := range e.Env {
		name := v.Name
		if v.Secret {
			name += "!"
		}
		r.Env = append(r.Env, name)
	}
	return r.Tidy()
}

// compact takes the white space out of a schema, as being kept in a JSON file does. A
// schema that is not JSON stays as it is, for others to refuse.
func compact(schema []byte) []byte {
	var b bytes.Buffer
	if len(schema) == 0 || json.Compact(&b, schema) != nil {
		return schema
	}
	return b.Bytes()
}

// SchemaHash is the SHA-256 of a schema without white space, in hexadecimal digits.
func SchemaHash(schema []byte) string {
	sum := sha256.Sum256(compact(schema))
	return hex.EncodeToString(sum[:])
}
