package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// config is what relay has to know of the configuration that git reads: it is asked
// for once, which starts nothing.
type config struct {
	off     []setting           // overrides of all that names a program or asks for one
	filters map[string]bool     // drivers that filter by a program; true with a smudge of their own
	ways    []setting           // what names programs and files by which git reaches a remote
	idle    []setting           // off, without those
	remotes map[string][]string // of all that is set of remotes
	files   []string            // in the work tree, relative to its root, that git reads settings from, or would
	runs    []string            // commands that the user's own git starts
	obeys   []string            // paths of what it obeys, hooks among them
	inside  []setting           // what a filter needs that runs in a box
	lfs     string              // lfs.storage
	loose   bool                // core.fileMode is off
	sparse  bool                // core.sparseCheckout is on
	signs   bool                // commit.gpgSign is on
}

type setting struct{ key, value string }

// readConfig lists the configuration of the system, the user, the repository and the
// environment, with all that they include.
func (g *Repo) readConfig(ctx context.Context) error {
	args := []string{"config", "--list", "-z", "--show-origin", "--includes"}
	out, err := g.Run(ctx, nil, args...)
	if err != nil {
		return err
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(fields)%2 != 0 || !strings.HasSuffix(string(out), "\x00") {
		return &Error{Kind: Failed, Dir: g.Root, Args: args, Stderr: "the answer is cut off"}
	}
	c := config{filters: map[string]bool{}, remotes: map[string][]string{}}
	home, _ := os.UserHomeDir()
	files := []string{os.Getenv("GIT_CONFIG_GLOBAL"), filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config")}
	if xdg := os.Getenv("XDG_CONFIG_HOME"); xdg != "" {
		files = append(files, filepath.Join(xdg, "git/config"))
	}
	for i := 0; i < len(fields); i += 2 {
		key, value, valued := strings.Cut(fields[i+1], "\n")
		origin, ok := strings.CutPrefix(fields[i], "file:")
		if ok {
			if !filepath.IsAbs(origin) {
				origin = filepath.Join(g.Root, origin)
			}
			files = append(files, origin)
		}
		section, sub, name := splitKey(key)
		if section == "include" && name == "path" || section == "includeif" && name == "path" {
			if rest, ok := strings.CutPrefix(value, "~/"); ok {
				value = filepath.Join(home, rest)
			} else if !filepath.IsAbs(value) {
				value = filepath.Join(filepath.Dir(origin), value)
			}
			files = append(files, value)
		}
		if section == "filter" && (name == "clean" || name == "process" || name == "smudge") && value != "" {
			c.filters[sub] = c.filters[sub] || name != "clean"
		}
		truth := !valued || slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(value))
		switch key {
		case "core.filemode":
			c.loose = !truth
		case "core.sparsecheckout":
			c.sparse = truth
		case "commit.gpgsign":
			c.signs = truth
		case "lfs.storage":
			c.lfs = value
		}
		if section == "filter" || section == "lfs" || slices.Contains(converts, key) {
			if !valued {
				value = "true"
			}
			c.inside = append(c.inside, setting{key, value})
		}
		if section == "remote" {
			c.remotes[key] = append(c.remotes[key], value)
		}
		way := slices.Contains(wayKeys[section], name)
		if way && value != "" {
			c.ways = append(c.ways, setting{key, value})
		}
		instead, ok := instead(section, sub, name)
		if slices.Contains(obeyed, name) {
			c.obeys = append(c.obeys, value)
		} else if ok {
			c.runs = append(c.runs, value)
		}
		if off := (setting{key, instead}); ok && !slices.Contains(c.off, off) {
			c.off = append(c.off, off)
			if !way {
				c.idle = append(c.idle, off)
			}
		}
	}
	c.files = g.inTree(files)
	g.config = c
	return nil
}

// splitKey takes "section.sub.section.name" apart; git writes sections and names in lower
// case.
func splitKey(key string) (section, sub, name string) {
	section, rest, _ := strings.Cut(key, ".")
	if at := strings.LastIndexByte(rest, '.'); at >= 0 {
		return section, rest[:at], rest[at+1:]
	}
	return section, "", rest
}

// programKeys are the variables, by their section, with which git starts a program, and
// what relay's git is told instead. "*" stands for every name. Aliases are not among them:
// git never takes one in the place of a command of its own, and relay calls no others.
// Neither are editors, for which there are variables that are stronger.
var programKeys = map[string]map[string]string{
	"browser":     {"cmd": "", "path": ""},
	"commit":      {"gpgsign": "false"},
	"core":        {"alternaterefscommand": "", "askpass": "", "fsmonitor": "false", "gitproxy": "", "hookspath": "/dev/null", "pager": "cat", "sshcommand": ""},
	"credential":  {"helper": ""},
	"diff":        {"command": "", "external": "", "textconv": ""},
	"difftool":    {"cmd": "", "path": ""},
	"filter":      {"clean": "", "process": "", "required": "false", "smudge": ""},
	"gc":          {"recentobjectshook": ""},
	"gpg":         {"program": "", "defaultkeycommand": ""},
	"guitool":     {"cmd": ""},
	"hook":        {"command": "", "enabled": "false", "event": ""},
	"imap":        {"tunnel": ""},
	"instaweb":    {"browser": "", "httpd": ""},
	"interactive": {"difffilter": ""},
	"log":         {"showsignature": "false"},
	"man":         {"cmd": "", "path": "", "viewer": ""},
	"merge":       {"driver": "", "verifysignatures": "false"},
	"mergetool":   {"cmd": "", "path": ""},
	"pager":       {"*": "false"},
	"push":        {"gpgsign": "false"},
	"receive":     {"procreceiverefs": ""},
	"remote":      {"receivepack": "", "uploadpack": "", "vcs": ""},
	"sendemail":   {"*": ""},
	"submodule":   {"update": "none"},
	"tag":         {"forcesignannotated": "false", "gpgsign": "false"},
	"tar":         {"command": ""},
	"trailer":     {"cmd": "", "command": ""},
	"uploadpack":  {"packobjectshook": ""},
	"web":         {"browser": ""},
}

// instead gives what overrides a variable that makes git start a program. One that is not
// known counts as such by its name.
func instead(section, _, name string) (value string, ok bool) {
	if value, ok = programKeys[section][name]; ok {
		return value, true
	}
	if value, ok = programKeys[section]["*"]; ok {
		return value, true
	}
	switch name {
	case "cmd", "command", "program", "helper", "driver", "textconv", "pager", "hook", "sshcommand", "askpass":
		return "", section != "alias"
	}
	return "", false
}

// inTree gives those of the files that lie in the work tree and not in git's folder, by
// their path there; a file that a link leads to counts as well as the link.
func (g *Repo) inTree(files []string) []string {
	var out []string
	for _, file := range files {
		if file == "" {
			continue
		}
		names := []string{filepath.Clean(file)}
		if real, err := filepath.EvalSymlinks(file); err == nil {
			names = append(names, real)
		} else if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
			names = append(names, filepath.Join(dir, filepath.Base(file)))
		}
		for _, name := range names {
			if !within(name, g.Root) || within(name, g.GitDir) || within(name, g.CommonDir) {
				continue
			}
			if rel, err := filepath.Rel(g.Root, name); err == nil && !slices.Contains(out, rel) {
				out = append(out, rel)
			}
		}
	}
	return out
}

// ConfigFiles are the files in the work tree, relative to Root, that git reads settings
// from: those that its configuration includes, and that of the user where the work tree
// holds the home. They need not exist.
func (g *Repo) ConfigFiles() []string { return g.config.files }

// Runs gives the commands that the user's own git starts by its configuration, and the paths of
// its hooks and of files that say whom it believes and what it filters, as they are written
// there: what a change makes of them in the work tree acts when the user calls git the next time.
func (g *Repo) Runs() (commands, paths []string) { return g.config.runs, g.config.obeys }

// obeyed are the names of settings with such a path.
var obeyed = []string{"hookspath", "allowedsignersfile", "revocationfile", "attributesfile"}

// converts are the settings by which git itself converts content.
var converts = []string{"core.autocrlf", "core.eol", "core.safecrlf", "core.attributesfile", "core.filemode"}

// FilterSettings are the settings, name and value, that make the user's filters what they
// are.
func (g *Repo) FilterSettings() [][2]string {
	var out [][2]string
	for _, s := range g.config.inside {
		out = append(out, [2]string{s.key, s.value})
	}
	return out
}

// LFS is the folder where git-lfs keeps what it stores.
func (g *Repo) LFS() string {
	switch dir := g.config.lfs; {
	case dir == "":
		return filepath.Join(g.CommonDir, "lfs")
	case filepath.IsAbs(dir):
		return dir
	default:
		return filepath.Join(g.CommonDir, dir)
	}
}

// Signs reports whether the user has git sign commits.
func (g *Repo) Signs() bool { return g.config.signs }

// Loose reports whether modes in the work tree mean nothing to git.
func (g *Repo) Loose() bool { return g.config.loose }

// Sparse reports whether git leaves files of the index out of the work tree.
func (g *Repo) Sparse() bool { return g.config.sparse }

// Filters gives the paths, out of these, whose content a program of the user's filters,
// by the attributes that git sees with env from dir, "" for Root.
func (g *Repo) Filters(ctx context.Context, dir string, env, paths []string) (found []string, err error) {
	err = g.filters(ctx, dir, env, paths, func(path, _ string) { found = append(found, path) })
	return found, err
}

// Large gives those of the paths that git-lfs keeps: what is committed of one is a pointer.
func (g *Repo) Large(ctx context.Context, paths []string) (found map[string]bool, err error) {
	if _, ok := g.config.filters["lfs"]; !ok {
		return nil, nil
	}
	found = map[string]bool{}
	err = g.filters(ctx, "", nil, paths, func(path, driver string) { found[path] = driver == "lfs" })
	return found, err
}

// filters is Filters that names the filter, too.
func (g *Repo) filters(ctx context.Context, dir string, env, paths []string, tell func(path, driver string)) error {
	if len(g.config.filters) == 0 || len(paths) == 0 {
		return nil
	}
	args := []string{"check-attr", "-z", "--stdin", "filter"}
	if dir != "" {
		args = append([]string{"-C", dir}, args...)
	}
	out, err := g.Write(ctx, env, strings.NewReader(strings.Join(paths, "\x00")+"\x00"), args...)
	if err != nil {
		return err
	}
	answers := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") // path, "filter", value
	if len(answers) != 3*len(paths) || !strings.HasSuffix(string(out), "\x00") {
		return g.cutOff(args)
	}
	for i, path := range paths {
		if answers[3*i] != path {
			return g.cutOff(args)
		}
		if _, ok := g.config.filters[answers[3*i+2]]; ok {
			tell(path, answers[3*i+2])
		}
	}
	return nil
}

// Filtered gives all files of the index that a program of the user's filters.
func (g *Repo) Filtered(ctx context.Context) ([]string, error) {
	if len(g.config.filters) == 0 {
		return nil, nil
	}
	var files []string
	err := g.index(ctx, func(mode, _, path string) {
		if mode == "100644" || mode == "100755" {
			files = append(files, path)
		}
	})
	if err != nil {
		return nil, err
	}
	return g.Filters(ctx, "", nil, files)
}

// trees are the work trees of the repository that are known: no program is started from
// there.
func (g *Repo) trees() []string {
	trees := []string{g.Root}
	if filepath.Base(g.CommonDir) == ".git" {
		trees = append(trees, filepath.Dir(g.CommonDir))
	}
	return trees
}

// overridden is an environment with settings for git that come after those it has.
func overridden(env []string, settings []setting) []string {
	if len(settings) == 0 {
		return env
	}
	count := 0
	out := slices.DeleteFunc(env, func(kv string) bool {
		n, ok := strings.CutPrefix(kv, "GIT_CONFIG_COUNT=")
		if ok {
			count, _ = strconv.Atoi(n)
		}
		return ok
	})
	for i, s := range settings {
		n := strconv.Itoa(count + i)
		out = append(out, "GIT_CONFIG_KEY_"+n+"="+s.key, "GIT_CONFIG_VALUE_"+n+"="+s.value)
	}
	return append(out, "GIT_CONFIG_COUNT="+strconv.Itoa(count+len(settings)))
}
