package pluginenv

import (
	"os"
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

// MissingProgram says what is wrong with the program of the first of these checks that can't
// start; "" when all can. why and fix are as of [CantStart]. A program of the repository that is not in
// the work tree counts as there if comes(path) says that a box will have it.
func MissingProgram(v *config.Verification, ids, environ []string, root string, comes func(path string) bool) (id, what, why, fix string) {
	for _, t := range v.Templates {
		if !slices.Contains(ids, t.ID) {
			continue
		}
		if own := path.Join(t.Dir, t.Cmd); strings.Contains(t.Cmd, "/") && !path.IsAbs(t.Cmd) {
			if _, err := os.Stat(path.Join(root, own)); os.IsNotExist(err) && !comes(own) {
				return t.ID, own + " does not exist", "", notThere
			}
		} else if what, why, fix := CantStart(t.Cmd, environ, root); what != "" {
			return t.ID, what, why, fix
		}
	}
	return "", "", "", ""
}

const notThere = "create it, or correct its path"

// CantStart says what keeps a check's program from starting, and what to do about it; "" for nothing. why is
// for one that PATH has only where relay takes none from. Of a path within the repository nothing is known before
// the change.
func CantStart(name string, environ []string, root string) (what, why, fix string) {
	search := ""
	for _, kv := range environ {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			search = value
		}
	}
	if strings.Contains(name, "/") {
		if _, err := os.Stat(name); path.IsAbs(name) && os.IsNotExist(err) {
			return name + " does not exist", "", notThere
		}
		return "", "", ""
	}
	if _, err := program.FindBoxed(name, search, root); err == nil {
		return "", "", ""
	}
	if left := program.Left(name, search, root); left != "" {
		why = pluginhost.LeftInPath(left)
	}
	return name + " is not in PATH", why, "install it, or name a file of the repository by its path, such as ./" + name
}
