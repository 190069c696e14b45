package plugins

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/plugintest"
)

// TestOptions say which plugin is tried, and with which calls.
type TestOptions struct {
	Path  string       // the file of a plugin, or the folder of its repository
	Cases string       // a file of cases; "" takes the one in the folder, if it is there
	Rules []string     // only these, by their IDs; nil: all
	Tell  func(string) // hears of each rule that was tried; may be nil
}

// Test tries the rules on a plugin of the person's own: it is built if need be and
// runs where this process is, in no box, as `go test` does.
func Test(ctx context.Context, o TestOptions) (*Rules, error) {
	st, err := os.Stat(o.Path)
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedPlugin, "the plugin "+o.Path+" can't be read", "`relay plugin test ./`, in the folder of the plugin's repository")
	}
	binary, folder := o.Path, filepath.Dir(o.Path)
	if st.IsDir() {
		scratch, err := os.MkdirTemp("", "relay-plugin-test-")
		if err != nil {
			return nil, diag.Internal(err)
		}
		defer os.RemoveAll(scratch)
		if binary, err = built(ctx, o.Path, scratch); err != nil {
			return nil, err
		}
		folder = o.Path
	}
	cfg, err := readCases(o.Cases, folder)
	if err != nil {
		return nil, err
	}
	if cfg.Binary, err = filepath.Abs(binary); err != nil {
		return nil, diag.Internal(err)
	}
	cfg.Only = o.Rules
	if o.Tell != nil {
		all, n := len(plugintest.Rules)+len(cfg.Cases), 0
		if cfg.Only != nil {
			all = len(cfg.Only)
		}
		cfg.Tried = func(r plugintest.Result) {
			n++
			o.Tell(fmt.Sprintf("%d/%d  %s %s", n, all, r.ID, r.Verdict))
		}
	}
	res := &Rules{Doc: host.DocOf("relay.plugin.rules", 1), Plugin: filepath.Base(binary), Rules: plugintest.Verify(ctx, cfg)}
	if len(res.Rules) == 0 {
		return nil, diag.New(judge.BlockedPlugin, "no rule is called "+strings.Join(o.Rules, ", "), "rules have names such as B1, cases such as \"case hello\"", "`relay plugin test PATH` runs and lists them all")
	}
	if isScript(cfg.Binary) {
		res.Notes = append(res.Notes, "it is a script, which relay does not start: make one program of it before it is installed (docs/plugin-authors/other-languages.md)")
	}
	if len(cfg.Cases) == 0 {
		res.Notes = append(res.Notes, "no case says which call may be made, so the rules about calls were not tried: write "+plugintest.CasesFile)
	}
	return res, nil
}

// readCases reads the cases to try a plugin with.
func readCases(file, folder string) (plugintest.Config, error) {
	if file == "" {
		file = filepath.Join(folder, plugintest.CasesFile)
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			return plugintest.Config{}, nil
		}
	}
	cfg, err := plugintest.ReadConfig(file)
	if err != nil {
		return cfg, diag.Wrap(err, judge.BlockedPlugin, "the cases can't be read", "fix "+diag.Word(file)+"; `relay plugin new example --kind provider` writes one that is right")
	}
	return cfg, nil
}

// built builds what lies in a folder and gives the plugin's file: Go's by the go
// command, another language's by its Makefile.
func built(ctx context.Context, folder, scratch string) (string, error) {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(folder, name))
		return err == nil
	}
	switch {
	case has("go.mod"):
		main, err := mainPackage(ctx, folder)
		if err != nil {
			return "", err
		}
		out := filepath.Join(scratch, filepath.Base(main))
		return out, inFolder(ctx, folder, nil, "go", "build", "-o="+out, main)
	case has("Makefile"):
		if err := inFolder(ctx, folder, nil, "make", "-s"); err != nil {
			return "", err
		}
	}
	var found []string
	for _, pattern := range []string{"relay-plugin-*", "bin/relay-plugin-*"} {
		files, _ := filepath.Glob(filepath.Join(folder, pattern))
		for _, f := range files {
			if st, err := os.Stat(f); err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o100 != 0 {
				found = append(found, f)
			}
		}
	}
	if len(found) != 1 {
		return "", diag.New(judge.BlockedPlugin, fmt.Sprintf("%s has %d programs relay-plugin-NAME, not one", folder, len(found)),
			"a folder has a go.mod, a Makefile that makes the program, or the program itself", "`relay plugin test PATH`, with the file of the plugin")
	}
	return found[0], nil
}

// mainPackage is the package of a Go module that is the plugin: the one whose folder is
// called relay-plugin-NAME, or else the only command.
func mainPackage(ctx context.Context, folder string) (string, error) {
	var out bytes.Buffer
	if err := inFolder(ctx, folder, &out, "go", "list", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, "./..."); err != nil {
		return "", err
	}
	commands := strings.Fields(out.String())
	named := slices.DeleteFunc(slices.Clone(commands), func(c string) bool { return !strings.HasPrefix(filepath.Base(c), "relay-plugin-") })
	if len(named) == 1 {
		return named[0], nil
	}
	if len(commands) != 1 {
		return "", diag.New(judge.BlockedPlugin, fmt.Sprintf("the module in %s has %d commands, and no single one is called relay-plugin-NAME", folder, len(commands)),
			"", "`relay plugin test PATH`, with the folder of one command or the file of the plugin")
	}
	return commands[0], nil
}

func inFolder(ctx context.Context, folder string, out *bytes.Buffer, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &said, &said
	if out != nil {
		cmd.Stdout = out
	}
	if err := cmd.Run(); err != nil {
		lines := strings.FieldsFunc(tailText(said.String()), func(r rune) bool { return r == '\n' || r == '\t' })
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "# ") }) // go's name of the package
		return diag.New(judge.BlockedPlugin, "the plugin can't be built", cmp.Or(strings.Join(lines, "; "), err.Error()),
			"`cd "+diag.Word(folder)+" && "+strings.Join(slices.DeleteFunc(argv, func(a string) bool { return strings.HasPrefix(a, "-o=") }), " ")+"`")
	}
	return nil
}

// tailText is the last part of what a program said.
func tailText(s string) string {
	s = strings.TrimSpace(s)
	if n := len(s) - 1000; n > 0 {
		s = "… " + s[n:]
	}
	return s
}

func isScript(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [2]byte
	n, _ := f.Read(magic[:])
	return n == 2 && string(magic[:]) == "#!"
}
