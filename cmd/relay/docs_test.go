package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/paxiom/relay/host"
)

var update = flag.Bool("update", false, "write the reference pages anew")

// The reference pages say what the program says.
func TestReferencePages(t *testing.T) {
	for name, text := range map[string]string{
		"docs/reference/commands.md": commandsPage(), "docs/reference/codes.md": codesPage(),
		"docs/reference/environment.md": environmentReference(t), "docs/reference/schemas.md": schemasReference(t),
		outputSchemaFile: outputSchema(t),
		"llms.txt":       llmsText(t),
	} {
		path := filepath.Join("..", "..", filepath.FromSlash(name))
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
		overview(newPrinter(&text, false), c)
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

var (
	inBackticks = regexp.MustCompile("`(relay(?: [a-z-][^`]*)?)`")
	shellBlock  = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")
	inShell     = regexp.MustCompile(`(?m)^relay(?: .*)?$`)
)

// Every relay command that the documentation or an explanation of a code tells
// people to type is one that relay understands.
func TestDocumentedCommandsExist(t *testing.T) {
	texts := map[string]string{}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(append(pages, more...), "../../README.md") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(b)
	}
	for _, code := range host.Codes() {
		texts[string(code)] = host.Explain(code).Command
	}
	seen := 0
	for where, text := range texts {
		var lines []string
		for _, m := range inBackticks.FindAllStringSubmatch(text, -1) {
			lines = append(lines, m[1])
		}
		for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
			lines = append(lines, inShell.FindAllString(block[1], -1)...)
		}
		for _, line := range lines {
			line, _, _ = strings.Cut(line, " #")
			line, _, _ = strings.Cut(line, " |")
			args := strings.Fields(line)[1:]
			seen++
			a, _, _ := testApp(nil)
			root := newRootCmd(a)
			root.InitDefaultHelpCmd()
			cmd, rest, err := root.Find(args)
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if left := cmd.Flags().Args(); err == nil && cmd.HasSubCommands() && len(left) > 0 {
				err = unknownCommand(cmd, left)
			}
			if err != nil && !errors.Is(err, pflag.ErrHelp) {
				t.Errorf("%s: %q: %v", where, line, err)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d commands were found: the patterns look at the wrong texts", seen)
	}
}
