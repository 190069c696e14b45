package checks

import (
	"path"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
)

// scripts are the extensions that JavaScript's loaders try for a name without one. Each has
// an order of its own.
var scripts = []string{".cjs", ".cts", ".js", ".jsx", ".mjs", ".mts", ".ts", ".tsx"}

// shadowed are the files of the base for which an interpreter takes a new file of this name,
// so that tests which import one get another without having changed.
func shadowed(name string) (all []string) {
	dir, file := path.Split(name)
	above, folder := path.Split(strings.TrimSuffix(dir, "/"))
	ext := path.Ext(file)
	stem := strings.TrimSuffix(file, ext)
	switch {
	case folder != "" && stem == "__init__" && ext == ".py": // a package goes before a module
		return []string{above + folder + ".py"}
	case ext == ".so" || ext == ".pyd":
		module, _, _ := strings.Cut(file, ".")
		return []string{dir + module + ".py"}
	case file == "package.json": // which says where its folder begins
		stem, ext = "index", ""
	case ext != "" && !slices.Contains(scripts, ext):
		return nil
	}
	for _, e := range scripts {
		if e != ext {
			all = append(all, dir+stem+e)
		}
		if file != "package.json" {
			all = append(all, dir+stem+"/index"+e)
		}
	}
	return all
}

// shadowing are the new files that stand before one that the base has and the change leaves, unless
// the task names them.
func (c *Checker) shadowing(base []string) (all []string) {
	there := map[string]bool{}
	for _, name := range base {
		there[name] = true
	}
	kept := c.of.Verdict().Kept
	for _, ch := range kept {
		if ch.Kind == judge.Deleted {
			delete(there, ch.Path)
		}
	}
	for _, ch := range kept {
		if ch.Kind == judge.Added && !c.of.Policy().OfTests(ch.Path) && !c.of.Policy().Names(ch.Path) &&
			slices.ContainsFunc(shadowed(ch.Path), func(name string) bool { return there[name] }) {
			all = append(all, ch.Path)
		}
	}
	return all
}
