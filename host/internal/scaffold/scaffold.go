package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/paxiom/relay/schemas"
)

// The kinds and languages that there are templates for.
const (
	Provider   = "provider"
	Builder    = "builder"
	Go         = "go"
	Python     = "python"
	Rust       = "rust"
	TypeScript = "typescript"
)

// Languages are all of them.
var Languages = []string{Go, Python, Rust, TypeScript}

// Driver reports whether a builder in a language is a driver of the builder external, not a
// program that speaks relay's protocol itself.
func Driver(lang string) bool { return lang == Rust || lang == TypeScript }

// Plan says what to write.
type Plan struct {
	Name   string // of the plugin
	Kind   string
	Lang   string
	Module string // the Go module's path
	// SDK is the version of relay's SDK, with its v; "" leaves it to `go mod tidy`.
	SDK string
	// Checkout is a folder with relay's sources that takes the place of the published
	// module; "" for none.
	Checkout string
}

// Title is the plugin's name as the first word of a sentence.
func (p Plan) Title() string { return strings.ToUpper(p.Name[:1]) + p.Name[1:] }

// Program is the name of the plugin's file.
func (p Plan) Program() string { return "relay-plugin-" + p.Name }

// Relay is the path of relay's module.
func (p Plan) Relay() string { return "github.com/paxiom/relay" }

//go:embed all:templates
var templates embed.FS

// Write writes the repository into a folder that is empty or not there yet, and gives the
// names of its files.
func Write(dir string, p Plan) ([]string, error) {
	files, err := Files(p)
	if err != nil {
		return nil, err
	}
	if there, err := os.ReadDir(dir); err == nil && len(there) > 0 {
		return nil, fmt.Errorf("%s is not empty: it has %s", dir, there[0].Name())
	}
	var names []string
	for _, f := range files {
		at := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return names, err
		}
		if err := os.WriteFile(at, f.Text, f.Mode); err != nil {
			return names, err
		}
		names = append(names, f.Name)
	}
	return names, nil
}

// File is one file of a new repository.
type File struct {
	Name string // with slashes
	Text []byte
	Mode fs.FileMode
}

// Files gives what Write writes: the templates of the language, those of the kind over
// them, and for Python the protocol's sources.
func Files(p Plan) ([]File, error) {
	var out []File
	dirs := []string{p.Lang + "/any"}
	if !Driver(p.Lang) {
		dirs = append(dirs, p.Lang+"/"+p.Kind)
	}
	for _, dir := range dirs {
		root := path.Join("templates", dir)
		err := fs.WalkDir(templates, root, func(at string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := render(at, p)
			out = append(out, File{strings.TrimSuffix(strings.TrimPrefix(at, root+"/"), ".tmpl"), text, 0o644})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if p.Lang != Python {
		return out, nil
	}
	protos, err := fs.Glob(schemas.Protos, "relay/plugin/v1/*.proto")
	if err != nil {
		return nil, err
	}
	for _, at := range protos {
		text, err := schemas.Protos.ReadFile(at)
		if err != nil {
			return nil, err
		}
		out = append(out, File{"proto/" + at, text, 0o644})
	}
	return out, nil
}

// render fills in a template. Its actions stand in [[ ]], since {{ }} is common in what
// the templates are made of.
func render(at string, p Plan) ([]byte, error) {
	raw, err := templates.ReadFile(at)
	if err != nil || !strings.HasSuffix(at, ".tmpl") {
		return raw, err
	}
	t, err := template.New(path.Base(at)).Delims("[[", "]]").Option("missingkey=error").Parse(string(raw))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, p)
	return out.Bytes(), err
}
