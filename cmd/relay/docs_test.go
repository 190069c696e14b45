package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

var update = flag.Bool("update", false, "write the reference pages anew")

// The reference pages say what the program says.
func TestReferencePages(t *testing.T) {
	for name, text := range map[string]string{"commands.md": commandsPage(), "codes.md": codesPage()} {
		path := filepath.Join("..", "..", "docs", "reference", name)
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != text {
			t.Errorf("%s is stale: run `make generate`", path)
		}
	}
}

func commandsPage() string {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Made from the commands by their test; run make generate, do not edit. -->\n\n")
	b.WriteString("`--json` on any command prints one document on stdout and nothing else there; it has a `kind` and a `version`.\nProgress goes to stderr. [Exit codes](codes.md) are the same for all commands.\n")
	a, _, _ := testApp(nil)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" {
			return
		}
		var text bytes.Buffer
		help(newPrinter(&text, false), c)
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s```\n", c.CommandPath(), text.String())
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(newRootCmd(a))
	return b.String()
}

func codesPage() string {
	var b strings.Builder
	b.WriteString("# Exit codes and verdict codes\n\n<!-- Made from the table in host/codes.go by a test; run make generate, do not edit. -->\n\n")
	b.WriteString("| exit code | meaning |\n| --- | --- |\n")
	for _, r := range exitCodeRows {
		fmt.Fprintf(&b, "| %d | %s |\n", r.code, r.meaning)
	}
	b.WriteString("\nEvery run ends with one of these codes, in `code` of REPORT.json. A code never changes its meaning.\n")
	for _, code := range host.Codes() {
		e := host.Explain(code)
		fmt.Fprintf(&b, "\n## %s\n\n%s (exit code %d).\n\n- **Cause.** %s\n- **What relay did.** %s\n- **What to type.** %s\n",
			e.Code, sentence(e.Title), e.ExitCode, e.Cause, e.Did, e.Command)
	}
	return b.String()
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
