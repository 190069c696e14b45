package detect

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// goChecks are for the module at the root or, where there is none, for those of go.work.
func goChecks(t tree) []Check {
	from, packages := "go.mod", []string{"./..."}
	if !t.any(from) && t.any("go.work") {
		from, packages = "go.work", nil
		used := false // inside use ( … )
		for line := range lines(t.read(from)) {
			words := strings.Fields(strings.TrimSuffix(strings.TrimSpace(line), "("))
			switch {
			case len(words) == 0 || strings.HasPrefix(words[0], "//"):
				used = used || strings.TrimSpace(line) == "("
				continue
			case words[0] == ")":
				used = false
				continue
			case words[0] == "use":
				used = len(words) == 1
				words = words[1:]
			case !used:
				continue
			}
			if len(words) > 0 && fs.ValidPath(path.Clean(words[0])) {
				packages = append(packages, "./"+path.Join(words[0], "..."))
			}
		}
	}
	if len(packages) == 0 {
		return nil
	}
	return []Check{{ID: "vet", Cmd: "go", Args: append([]string{"vet"}, packages...), Fast: true, From: from},
		{ID: "test", Cmd: "go", Args: append([]string{"test"}, packages...), Fast: true, From: from}}
}

// workspaces are the checks of the packages of a workspace whose root has none of its own.
func (t tree) workspaces(manager string, globs any) []Check {
	var patterns []string
	switch g := globs.(type) {
	case []any:
		for _, p := range g {
			patterns = append(patterns, fmt.Sprint(p))
		}
	case map[string]any: // as yarn has it
		return t.workspaces(manager, g["packages"])
	}
	every := func(name string) []string { return []string{"run", name, "--workspaces", "--if-present"} }
	if manager == "pnpm" {
		every = func(name string) []string { return []string{"-r", "--if-present", "run", name} }
		var file struct{ Packages []string }
		_ = yaml.Unmarshal(t.read("pnpm-workspace.yaml"), &file) // none, when it can't be read
		patterns = append(patterns, file.Packages...)
	} else if manager != "npm" {
		return nil // each version of yarn has another way
	}
	var checks []Check
	for _, name := range []string{"lint", "typecheck", "test"} {
		has := func(pattern string) bool {
			found, _ := fs.Glob(t.root, path.Join(strings.ReplaceAll(pattern, "**", "*"), "package.json"))
			return slices.ContainsFunc(found, func(file string) bool {
				var member struct {
					Scripts map[string]string `json:"scripts"`
				}
				return json.Unmarshal(t.read(file), &member) == nil && member.Scripts[name] != "" && !strings.Contains(member.Scripts[name], "no test specified")
			})
		}
		if slices.ContainsFunc(patterns, has) {
			checks = append(checks, Check{ID: name, Cmd: manager, Args: every(name), Fast: true, From: "the workspace's packages"})
		}
	}
	return checks
}
