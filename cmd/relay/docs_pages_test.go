package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// box is a text as a cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// environmentReference is the page about variables: relay's own, and what the built plugins
// say that they read.
func environmentReference(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Environment\n\n<!-- Made from the program's table and the plugins by a test; run make generate, do not edit. -->\n\n")
	b.WriteString("relay reads these; `relay help environment` prints them.\n\n| variable | what it does |\n| --- | --- |\n")
	for _, r := range environmentRows {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(r[0], ", ", "`, `"), cell(r[1]))
	}
	b.WriteString("\n## Of the plugins that come with relay\n\nA plugin gets PATH, HOME, the language, the variables about proxies and certificates, and those it declares; nothing else.\nA secret is masked in all that it says; [where keys can be instead](../providers.md#keys).\n\n| plugin | variable | what it is | secret |\n| --- | --- | --- | --- |\n")
	var list struct {
		Plugins []struct {
			Name string
			Env  []struct {
				Name, Purpose string
				Secret        bool
			}
		}
	}
	out, err := exec.Command(filepath.Join(binDir, "relay"), "-C", t.TempDir(), "plugin", "list", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Plugins {
		for _, v := range p.Env {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", p.Name, v.Name, cell(v.Purpose), map[bool]string{true: "yes"}[v.Secret])
		}
	}
	b.WriteString("\nWhat a driver of your own finds: [the external driver](../plugin-authors/external-driver.md#what-the-driver-finds).\n")
	return b.String()
}

// schemasReference lists the published schemas with their keys.
func schemasReference(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Schemas\n\n<!-- Made from schemas/*.schema.json by a test; run make generate, do not edit. -->\n\n")
	b.WriteString("JSON Schemas (2020-12) of the files that others may read or write, in `schemas/` of relay's source. Fields are added and never change\ntheir meaning. [Files](files.md#schemas) says what is added to those of relais workspaces; the keys of the configuration are on [their own page](config.md),\nthose of services on [theirs](service.md).\n")
	files, err := filepath.Glob("../../schemas/*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f, outputSchemaFile) {
			raw = []byte(outputSchema(t))
		}
		var s struct {
			Title, Description string
			Required           []string
			Properties         map[string]json.RawMessage
		}
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		name := strings.TrimSuffix(filepath.Base(f), ".schema.json")
		fmt.Fprintf(&b, "\n## %s\n\n[`schemas/%s`](../../schemas/%s)", name, filepath.Base(f), filepath.Base(f))
		if s.Description != "" {
			b.WriteString(": " + cell(s.Description))
		}
		b.WriteString("\n\n| key | | what it is |\n| --- | --- | --- |\n")
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			var p struct {
				Type        any
				Description string
				Enum        []any
			}
			_ = json.Unmarshal(s.Properties[key], &p) // true and false are schemas, too
			what := cell(p.Description)
			if what == "" && len(p.Enum) > 0 {
				what = fmt.Sprintf("one of %d words", len(p.Enum))
				if len(p.Enum) <= 6 {
					what = "one of " + cell(strings.Trim(fmt.Sprint(p.Enum), "[]"))
				}
			}
			if what == "" && p.Type != nil {
				what = strings.Trim(fmt.Sprint(p.Type), "[]")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, map[bool]string{true: "required"}[slices.Contains(s.Required, key)], what)
		}
	}
	return b.String()
}

// llmsText is the index of the documentation for language models: its links with what the
// index says of them.
func llmsText(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile("../../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	first := strings.SplitN(string(readme), "\n\n", 3)[1]
	fmt.Fprintf(&b, "# relay\n\n> %s\n\nOne binary for Linux and macOS, in Go. Every command takes --json; exit codes: 0 done, 1 waits for a person, 2 stopped, 3 blocked.\n", strings.Join(strings.Fields(first), " "))
	for line := range strings.Lines(string(index)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			fmt.Fprintf(&b, "\n## %s\n", title)
		}
		links := indexLink.FindAllStringSubmatch(line, -1)
		if links == nil {
			continue
		}
		about := strings.Trim(line[strings.LastIndex(line, ")")+1:], " |:,\n")
		for _, l := range links {
			fmt.Fprintf(&b, "- [%s](docs/%s)", l[1], l[2])
			if about != "" {
				b.WriteString(": " + about)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

var indexLink = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)
