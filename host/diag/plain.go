package diag

import (
	"bytes"
	"regexp"
)

// advice are the fields whose texts name commands. Within a text of JSON such a key can't stand: its
// quotes would be escaped.
var advice = regexp.MustCompile(`"(?:next|does|purpose)": ?"(?:[^"\\]|\\.)*"|"notices": ?\[(?:\s*"(?:[^"\\]|\\.)*",?)*\s*\]`)

// Plain is a JSON document for people and scripts: without the backquotes that mark commands in
// relay's texts.
func Plain(doc []byte) []byte {
	return advice.ReplaceAllFunc(doc, func(field []byte) []byte { return bytes.ReplaceAll(field, []byte("`"), nil) })
}
