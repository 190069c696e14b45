package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// commandIn finds commands in a text of the sources. One whose rest is put together when the
// program runs is cut off where its text ends, and shown as far as it goes.
var commandIn = regexp.MustCompile("`relay ([^`]*)(`?)")

// Every command that a text of the sources tells people to type is one of today, not a name that
// is kept for scripts of before, and has its flags; where the text has the whole of it, it has
// the arguments that the command needs, too.
func TestFixesNameCommands(t *testing.T) {
	seen := 0
	for _, dir := range []string{"../../host", "../../cmd", "../../judge", "../../verify", "../../plugins", "../../prompts"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, _ := strconv.Unquote(lit.Value)
				for _, m := range commandIn.FindAllStringSubmatch(text, -1) {
					seen++
					if why := wrongCommand(m[1], m[2] != ""); why != nil {
						t.Errorf("%s: `relay %s`: %v", files.Position(lit.Pos()), m[1], why)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 200 {
		t.Errorf("only %d commands were found: the pattern looks at the wrong texts", seen)
	}
}

// mentioned are commands that a text only speaks of: nobody is to type them as they stand.
var mentioned = map[string]bool{"audit abort": true, "check new": true, "check add": true, "audit %[1]s": true}

// quoted is an argument in quotes.
var quoted = regexp.MustCompile(`"[^"]*"`)

// verbs are what fmt puts a value in place of.
var verbs = regexp.MustCompile(`%(\[\d+\])?[-+#.0-9]*[a-z]`)

// wrongCommand says what is wrong with a command as it is written in a text; nil for nothing.
func wrongCommand(line string, whole bool) error {
	if mentioned[line] {
		return nil
	}
	line = quoted.ReplaceAllString(line, "words")
	args := strings.Fields(verbs.ReplaceAllString(line, "7"))
	a, _, _ := testApp(nil)
	root := newRootCmd(a)
	root.InitDefaultHelpCmd()
	cmd, rest, err := root.Find(args)
	if err != nil || cmd == root {
		if len(args) == 0 || !whole && len(args) == 1 || strings.HasPrefix(args[0], "-") || strings.ToUpper(args[0]) == args[0] {
			return nil // its name is put in when the program runs, or a placeholder
		}
		return err
	}
	if cmd.Hidden && cmd.Annotations["topic"] == "" && cmd.Name() != "help" && cmd.Name() != "man" {
		return errors.New("it is hidden: a name of before, or not for people")
	}
	if !whole {
		return nil
	}
	switch err := cmd.ParseFlags(rest); {
	case errors.Is(err, pflag.ErrHelp):
		return nil
	case err != nil:
		return err
	}
	if cmd.HasSubCommands() {
		return unknownCommand(cmd, cmd.Flags().Args())
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}
