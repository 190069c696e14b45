package secrets

import (
	_ "embed"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

//go:embed places.txt
var table string

// rule is one line of the table.
type rule struct {
	path, why string
	system    string   // linux or darwin; "" for both
	strip     bool     // shown without the lines that hold a secret
	shell     bool     // stripped so that a shell can still read it
	agents    []string // plugins and programs to which it is shown
	unread    bool     // no values are taken from it
}

var rules = parse(table)

func parse(text string) (rules []rule) {
	unread := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "== "); ok {
			unread = strings.HasSuffix(title, "(unread)")
		}
		part := strings.Split(line, ";")
		if len(part) != 3 || line[0] == '#' {
			continue
		}
		r := rule{path: strings.TrimSpace(part[0]), why: strings.TrimSpace(part[2]), unread: unread}
		switch option := strings.Fields(part[1]); {
		case len(option) == 0:
		case option[0] == "strip" || option[0] == "shell":
			r.strip, r.shell = true, option[0] == "shell"
		case option[0] == "for":
			r.agents = option[1:]
		default:
			r.system = option[0]
		}
		rules = append(rules, r)
	}
	return rules
}

// Place is a file or folder with credentials that is there.
type Place struct {
	// Path is absolute and real: no link is left in it.
	Path string
	Why  string
	// Instead is what is shown of a file; nil for nothing.
	Instead []byte
	// Agents are the plugins and programs whose own login it is.
	Agents []string

	unread bool
}

// Where says where to look.
type Where struct {
	// Home is the user's home; Getenv gives the variables that name places, os.Getenv
	// when nil.
	Home   string
	Getenv func(string) string
	// Hide are paths of the configuration's own, absolute or below the home; Show are
	// those that are not hidden, nor anything in them.
	Hide, Show []string
	// Keys are files from which relay itself takes keys.
	Keys []string
}

// xdg are folders of the home that a variable may have moved.
var xdg = map[string]string{"~/.config/": "XDG_CONFIG_HOME", "~/.local/share/": "XDG_DATA_HOME", "~/.local/state/": "XDG_STATE_HOME", "~/.cache/": "XDG_CACHE_HOME"}

// Find gives the places that are there, each once, also where a link leads to.
func Find(w Where) (found []Place) {
	if w.Getenv == nil {
		w.Getenv = os.Getenv
	}
	homes := w.homes()
	seen, shown := map[string]bool{}, w.shown(homes)
	add := func(path string, r rule) {
		if _, err := os.Lstat(path); err != nil { // most are not there, and this says so at once
			return
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil || seen[real] || slices.ContainsFunc(shown, func(s string) bool { return within(real, s) }) {
			return
		}
		info, err := os.Stat(real)
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return
		}
		p := Place{Path: real, Why: r.why, Agents: r.agents, unread: r.unread}
		if r.strip && info.Mode().IsRegular() {
			var clean bool
			if p.Instead, clean = stripped(real, r.shell); clean {
				return
			}
		}
		seen[real] = true
		found = append(found, p)
	}
	for _, r := range rules {
		if r.system != "" && r.system != runtime.GOOS {
			continue
		}
		for _, path := range w.expand(r.path, homes) {
			add(path, r)
		}
	}
	for _, path := range w.Hide {
		for _, path := range w.expand(path, homes[:min(1, len(homes))]) {
			add(path, rule{why: "box.hide"})
		}
	}
	for _, path := range w.Keys {
		add(path, rule{why: "a key of relay's"})
	}
	for _, p := range found {
		for _, target := range linked(p.Path) {
			add(target, rule{why: p.Why, agents: p.Agents, unread: p.unread})
		}
	}
	return found
}

// home is a folder that "~" stands for. Most lines of the table are about something that
// is not there, which the names say without another look.
type home struct {
	dir   string
	names []string
}

// homes are those folders: a box's home is not always the account's.
func (w Where) homes() (homes []home) {
	add := func(dir string) {
		dir = filepath.Clean(dir)
		if !filepath.IsAbs(dir) || dir == "/" || slices.ContainsFunc(homes, func(h home) bool { return h.dir == dir }) {
			return
		}
		f, err := os.Open(dir)
		if err != nil {
			return
		}
		defer f.Close()
		names, _ := f.Readdirnames(-1)
		homes = append(homes, home{dir, names})
	}
	add(w.Home)
	add(w.Getenv("HOME"))
	if u, err := user.Current(); err == nil {
		add(u.HomeDir)
	}
	if name := w.Getenv("SUDO_USER"); name != "" {
		if u, err := user.Lookup(name); err == nil {
			add(u.HomeDir)
		}
	}
	add("/root")
	return homes
}

func (w Where) shown(homes []home) (shown []string) {
	for _, path := range w.Show {
		for _, path := range w.expand(path, homes) {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				shown = append(shown, real)
			}
		}
	}
	return shown
}

// expand gives the paths that a line means.
func (w Where) expand(path string, homes []home) (paths []string) {
	if rest, ok := strings.CutPrefix(path, "$"); ok {
		name, below, _ := strings.Cut(rest, "/")
		for dir := range strings.SplitSeq(w.Getenv(name), ":") {
			if filepath.IsAbs(dir) && filepath.Clean(dir) != "/" {
				paths = append(paths, filepath.Join(dir, below))
			}
		}
	} else if below, ok := strings.CutPrefix(path, "~/"); ok {
		first, _, _ := strings.Cut(below, "/")
		for _, home := range homes {
			if slices.ContainsFunc(home.names, func(name string) bool { ok, _ := filepath.Match(first, name); return ok }) {
				paths = append(paths, filepath.Join(home.dir, below))
			}
		}
		for folder, name := range xdg {
			if below, ok := strings.CutPrefix(path, folder); ok && filepath.IsAbs(w.Getenv(name)) {
				paths = append(paths, filepath.Join(w.Getenv(name), below))
			}
		}
	} else {
		paths = []string{path}
	}
	if !strings.ContainsAny(path, "*?[") {
		return paths
	}
	var all []string
	for _, pattern := range paths {
		names, _ := filepath.Glob(pattern)
		all = append(all, names...)
	}
	return all
}

// maxLinks bounds the names of a folder that are looked at for links.
const maxLinks = 500

// linked are the files that links of a folder lead to: a login that lies elsewhere.
// Folders are left out, since such a link is as often the way to something harmless.
func linked(dir string) (targets []string) {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxLinks)
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			continue
		}
		real, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name()))
		if err != nil || within(real, dir) {
			continue
		}
		// What everybody may read is no secret, and may be something that is needed.
		if info, err := os.Stat(real); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o044 == 0 {
			targets = append(targets, real)
		}
	}
	return targets
}

// within says that path is dir or lies below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
