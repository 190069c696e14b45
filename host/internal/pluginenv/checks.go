package pluginenv

import (
	"path"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/program"
	"github.com/paxiom/relay/verify"
)

// Removable reports of which files the tests may be gone: those that the globs of a task
// name one by one and that the change touches. A folder, which is all that some runners say
// of a test, may where a test file in it may.
func Removable(v *config.Verification, kept []judge.Change, globs []string) func(string) bool {
	named := map[string]bool{}
	for i := range kept {
		c := &kept[i]
		if c.Kind != judge.Added && slices.Contains(globs, c.Path) && judge.Match(v.TestGlobs, c.Path) {
			named[c.Path] = true
			named[path.Dir(c.Path)+"/"] = true
			named[strings.TrimSuffix(c.Path, path.Ext(c.Path))] = true
		}
	}
	if len(named) == 0 {
		return nil
	}
	return func(file string) bool {
		if class, ok := strings.CutPrefix(file, verify.ClassPrefix); ok {
			for name := range named {
				if name == class || strings.HasSuffix(name, "/"+class) {
					return true
				}
			}
		}
		return named[file]
	}
}

// TestFiles are globs of files that are tests by their names, wherever they lie.
func TestFiles(v *config.Verification) []string {
	return slices.DeleteFunc(slices.Clone(v.TestGlobs), func(g string) bool { return strings.HasSuffix(g, "/**") })
}

// MissingProgram is the first of these checks whose program is not in PATH, and that program;
// "" when all are there. why is as of [NotInPath].
func MissingProgram(v *config.Verification, ids, environ []string, root string) (id, name, why string) {
	for _, t := range v.Templates {
		if !slices.Contains(ids, t.ID) {
			continue
		}
		if missing, why := NotInPath(t.Cmd, environ, root); missing {
			return t.ID, t.Cmd, why
		}
	}
	return "", "", ""
}

// NotInPath reports whether a check could not start a program; why is for one that PATH has only
// where relay takes none from. Of a path within the repository nothing is known before the change.
func NotInPath(name string, environ []string, root string) (missing bool, why string) {
	search := ""
	for _, kv := range environ {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			search = value
		}
	}
	if strings.Contains(name, "/") {
		return false, ""
	}
	if _, err := program.FindBoxed(name, search, root); err == nil {
		return false, ""
	}
	if left := program.Left(name, search, root); left != "" {
		why = pluginhost.LeftInPath(left)
	}
	return true, why
}
