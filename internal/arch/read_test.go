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

// unbounded are the files that may read to the end of what they open, by why that has one.
var unbounded = map[string]string{
	"cmd/relay/demo.go":                    "files of the program",
	"cmd/relay/clock_relaytest.go":         "a test's clock",
	"cmd/relay/internal/screen/suspend.go": "/proc",
	"host/internal/beneath/":               "the one way",
	"host/internal/detect/":                "a file system with a limit",
	"host/internal/confine/confine.go":     "/proc",
	"host/internal/hosttest/":              "tests",
	"host/internal/launch/plain_linux.go":  "/proc",
	"host/internal/lock/process_linux.go":  "/proc",
	"host/internal/root/root.go":           "its size was looked at",
	"host/internal/scaffold/":              "files of the program",
	"host/templates/":                      "files of the program",
	"judge/box/copies/":                    "/proc and /sys",
	"judge/box/denied_linux.go":            "/proc",
	"judge/box/drop_linux.go":              "/proc",
	"judge/box/family_linux.go":            "/proc",
	"judge/box/platform_linux.go":          "/proc",
	"judge/isolation/probe.go":             "its own trial",
	"judge/box/sockets_unix.go":            "/proc",
	"judge/box/watch_linux.go":             "/proc",
	"verify/evidence/kit.go":               "files of the program",
	"verify/examine/clients.go":            "files of the program",
}

// bounded are the packages whose ReadFile has a limit.
var bounded = []string{"judge", "workspace", "beneath"}

// A file that somebody made huge costs an error, and no memory.
func TestReadsHaveALimit(t *testing.T) {
	used := map[string]bool{}
	top := filepath.Join("..", "..")
	for _, room := range []string{"cmd", "host", "judge", "verify"} {
		err := filepath.WalkDir(filepath.Join(top, room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			rel, _ := filepath.Rel(top, path)
			rel = filepath.ToSlash(rel)
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !readsAll(call) {
					return true
				}
				for own := range unbounded {
					if rel == own || strings.HasSuffix(own, "/") && strings.HasPrefix(rel, own) {
						used[own] = true
						return true
					}
				}
				t.Errorf("%s:%d reads without a limit: use judge.ReadFile, beneath.ReadPlain or an io.LimitReader; what has an end of its own has a reason in unbounded", rel, files.Position(call.Pos()).Line)
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for own := range unbounded {
		if !used[own] && own != "host/internal/beneath/" {
			t.Errorf("%s reads nothing without a limit any more: take it out of the list", own)
		}
	}
}

// readsAll: a call of ReadFile without a limit, of io.ReadAll on what has none, of a
// bufio.Reader's ReadString or ReadBytes, and a json.Decoder on anything but bytes.
func readsAll(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	on, _ := nameOf(s, true)
	switch s.Sel.Name {
	case "ReadFile":
		return !slices.Contains(bounded, on)
	case "ReadAll", "NewDecoder":
		return (on == "io" || on == "json") && len(call.Args) == 1 && !limited(call.Args[0])
	case "ReadString", "ReadBytes":
		inner, ok := s.X.(*ast.CallExpr)
		return !ok || len(inner.Args) == 0 || !limited(inner.Args[0])
	}
	return false
}

// limited: what is read is made by one of the readers that end.
func limited(from ast.Expr) bool {
	call, ok := from.(*ast.CallExpr)
	if !ok {
		return false
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"LimitReader", "NewSectionReader", "NewReader"}, s.Sel.Name)
}
