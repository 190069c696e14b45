package config

import "strings"

// KeyDoc is one key as help tells it.
type KeyDoc struct {
	Key     string `json:"key"`
	Value   string `json:"value"`              // what is allowed, in words
	BuiltIn string `json:"built_in,omitempty"` // empty when the key is absent by default
	Doc     string `json:"doc"`
}

// Keys are the keys of a repository's configuration that are, or lie below, the given
// one, in the order of the reference page; all for "".
func Keys(below string) []KeyDoc {
	var all []KeyDoc
	for _, k := range table {
		if below == "" || k.path == below || strings.HasPrefix(k.path, below+".") || strings.HasPrefix(k.path, below+"[") {
			all = append(all, KeyDoc{k.path, k.expects(), strings.Trim(code(k), "`"), k.doc})
		}
	}
	return all
}

func code(k *key) string {
	if k.def == nil {
		return ""
	}
	return "`" + cell(strings.ReplaceAll(display(k.def), "map[]", "{}")) + "`"
}

// box keeps a text from ending a cell of the table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
