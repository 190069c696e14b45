package scaffold

import (
	"bytes"
	"flag"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the example in Python anew")

// What a Python author gets is what CI builds and runs as the plugin of a stranger.
func TestPythonIsTheExample(t *testing.T) {
	const dir = "../../../testdata/thirdparty/relay-plugin-shout"
	files, err := Files(Plan{Name: "shout", Kind: Provider, Lang: Python})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		at := filepath.Join(dir, f.Name)
		if *update {
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, f.Text, f.Mode); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(at); err != nil || !bytes.Equal(got, f.Text) {
			t.Errorf("%s is not what `relay plugin new shout --kind provider --lang python` writes (%v): run `make generate`", at, err)
		}
	}
}

// Every template can be filled in, for every way to get the SDK, and Go's are formatted.
func TestTemplates(t *testing.T) {
	for _, p := range []Plan{
		{Name: "a-b", Kind: Provider, Lang: Go, Module: "example.com/relay-plugin-a-b"},
		{Name: "c", Kind: Builder, Lang: Go, Module: "example.com/c", SDK: "v1.2.3"},
		{Name: "d", Kind: Builder, Lang: Go, Module: "example.com/d", Checkout: "/src/relay"},
		{Name: "e", Kind: Provider, Lang: Python},
		{Name: "f", Kind: Builder, Lang: Python},
		{Name: "g", Kind: Builder, Lang: Rust},
		{Name: "h", Kind: Builder, Lang: TypeScript},
	} {
		files, err := Files(p)
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		names := map[string]string{}
		for _, f := range files {
			names[f.Name] = string(f.Text)
			if strings.Contains(string(f.Text), "[[.") || strings.Contains(string(f.Text), "<no value>") {
				t.Errorf("%s of %+v is not filled in", f.Name, p)
			}
			if strings.HasSuffix(f.Name, ".go") {
				if formatted, err := format.Source(f.Text); err != nil || !bytes.Equal(formatted, f.Text) {
					t.Errorf("%s of %+v is not formatted: %v", f.Name, p, err)
				}
			}
		}
		for _, want := range []string{"README.md", "Makefile", "conformance.json", ".gitignore"} {
			if names[want] == "" && !(Driver(p.Lang) && want == "conformance.json") {
				t.Errorf("%+v has no %s", p, want)
			}
		}
		if p.Lang != Go {
			continue
		}
		if got := strings.Contains(names["go.mod"], "require"); got != (p.SDK != "" || p.Checkout != "") {
			t.Errorf("go.mod of %+v:\n%s", p, names["go.mod"])
		}
	}
}

func TestWriteLeavesOthersFilesAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if names, err := Write(dir, Plan{Name: "a", Kind: Provider, Lang: Go}); err == nil || len(names) > 0 {
		t.Errorf("wrote %v", names)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "main.go")); string(got) != "mine" {
		t.Errorf("main.go is %q", got)
	}
}
