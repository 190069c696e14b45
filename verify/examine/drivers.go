package examine

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed drivers/python.py
var python string

//go:embed drivers/node.mjs
var node string

//go:embed drivers/go.go.txt
var golang string

// Load says what a driver loads.
type Load struct {
	Language  string   `json:"language"`  // python, javascript, go or http
	Module    string   `json:"module"`    // "src.ranges" or a file; a file; the folder of a package
	Functions []string `json:"functions"` // Go: those that will be called
	Program   []string `json:"program"`   // the interpreter; http: the server
	Port      int      `json:"port"`      // http: where the server listens, on loopback
}

func (l Load) program() (Program, error) {
	first := func(def string) string { return append(l.Program, def)[0] }
	if l.Module == "" && l.Language != "http" {
		return Program{}, fmt.Errorf("load names no module")
	}
	switch l.Language {
	case "python":
		return Program{Argv: []string{first("python3"), "-c", python, l.Module}}, nil
	case "javascript":
		return Program{Argv: []string{first("node"), "--input-type=module", "-e", node, l.Module}}, nil
	case "go":
		return l.golang(first("go"))
	case "http":
		if len(l.Program) == 0 || l.Port < 1 || l.Port > 65535 {
			return Program{}, fmt.Errorf("load needs the program that serves and its port")
		}
		return Program{Self: true, Argv: append([]string{"relay", "check", "http", strconv.Itoa(l.Port)}, l.Program...)}, nil
	}
	return Program{}, fmt.Errorf("there is no driver for %q: python, javascript, go and http have one; run starts any program", l.Language)
}

// compile makes the driver of a Go package and becomes it. What the code under test prints
// goes to the standard error.
const compile = `pkg=$("$1" list -f '{{.ImportPath}}' "$2") || exit
t=$(mktemp -d) && sed "s|{package}|$pkg|" "$3/main.go" >"$t/main.go" && sed "s|{t}|$t|" "$3/overlay.json" >"$t/overlay.json" || exit
"$1" build -overlay "$t/overlay.json" -o "$t/driver" ./relaydriver && exec "$t/driver" 3>&1 >&2`

// golang makes a program of the module, in a folder that only the compiler sees.
func (l Load) golang(program string) (Program, error) {
	if len(l.Functions) == 0 {
		return Program{}, fmt.Errorf("load has to name the functions of a Go package")
	}
	var table strings.Builder
	for _, name := range l.Functions {
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			return Program{}, fmt.Errorf("%q is not a name of a function", name)
		}
		fmt.Fprintf(&table, "\t%q: subject.%s,\n", name, name)
	}
	return Program{
		Argv: []string{"/bin/sh", "-c", compile, "sh", program, l.Module, "{dir}"},
		Files: map[string]string{"main.go": strings.Replace(golang, "\t// functions\n", table.String(), 1),
			"overlay.json": `{"Replace": {"relaydriver/main.go": "{t}/main.go"}}`},
	}, nil
}
