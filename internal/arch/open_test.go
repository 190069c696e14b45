package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// opens are the calls that follow links, wait for pipes, or read without a limit.
var opens = []string{"ReadFile", "Open", "OpenRoot", "DirFS"}

// ownFiles are the files of the host that may use them, by what they open.
var ownFiles = map[string]string{
	"host/internal/beneath/":                   "the one way",
	"host/internal/root/root.go":               "the .git that the operator stands in, bounded",
	"host/internal/history/store.go":           "a folder of the state",
	"host/internal/journal/journal.go":         "a folder of the state",
	"host/internal/lock/process_linux.go":      "/proc",
	"host/internal/confine/confine.go":         "/proc",
	"host/internal/bundle/":                    "an archive that is put together, and its own scratch",
	"host/internal/attest/executable.go":       "relay itself",
	"host/internal/activitylog/activitylog.go": "the state",
	"host/internal/buildcache/":                "folders of the state, and what a box left in a layer",
	"host/internal/checkout/checkout.go":       "a folder of the state",
	"host/internal/checkout/git.go":            "a folder of the state",
	"host/internal/catalog/":                   "installed plugins and the user's cache",
	"host/internal/secrets/":                   "the user's own credentials, to hide them",
	"host/internal/release/":                   "an archive that is being installed",
	"host/internal/launch/":                    "programs and sockets of plugins",
	"host/internal/pluginenv/":                 "relay itself and its own scratch",
	"host/internal/hosttest/":                  "tests",
	"host/durable/":                            "the state",
	"host/change/":                             "objects of git, and the work tree through os.Root",
	"host/checks/":                             "the checkout and the layer that boxes show, programs of the machine, the state",
	"host/cycle/reviser.go":                    "the work tree, after a look that it is a plain file",
	"host/pipeline/kept.go":                    "the state",
	"host/run.go":                              "a file that the operator names",
	"host/plugins/try.go":                      "a file that the operator names",
}

// What a repository brings is opened by way of host/internal/beneath.
func TestRepositoryFilesAreOpenedInOneWay(t *testing.T) {
	used := map[string]bool{}
	top := filepath.Join("..", "..")
	err := filepath.WalkDir(filepath.Join(top, "host"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, _ := filepath.Rel(top, path)
		rel = filepath.ToSlash(rel)
		allowed := ""
		for own := range ownFiles {
			if rel == own || strings.HasSuffix(own, "/") && strings.HasPrefix(rel, own) {
				allowed = own
			}
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if pkg, is := nameOf(call, ok); is && pkg == "os" && slices.Contains(opens, call.Sel.Name) {
				if used[allowed] = true; allowed == "" {
					t.Errorf("%s uses os.%s: a repository's file is opened with package beneath; any other has a reason in ownFiles", rel, call.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for own := range ownFiles {
		if !used[own] && own != "host/internal/beneath/" {
			t.Errorf("%s opens nothing any more: take it out of the list", own)
		}
	}
}

func nameOf(s *ast.SelectorExpr, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	id, ok := s.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	return id.Name, true
}
