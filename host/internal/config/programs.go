package config

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/judge/program/runs"
	"github.com/paxiom/relay/verify"
)

// findPrograms finds the files of the repository that the checks run, with the links that
// lead to them. A builder that may rewrite a check has passed it. Tests are judged by the rule for
// tests, unless nothing but an exit code is known of them.
func (v *Verification) findPrograms(root string) {
	for i := range v.Templates {
		t := &v.Templates[i]
		v.Programs = programs(v.Programs, root, append([]string{t.Cmd}, t.Args...), t.Dir, v.TestGlobs)
	}
}

// programs adds the files that a command runs, but for tests.
func programs(all []string, root string, argv []string, dir string, tests []string) []string {
	look := func(name string) runs.Kind {
		_, kind := follow(root, name)
		return kind
	}
	for _, run := range runs.Runs(argv, dir, look, recipes(root)) {
		for _, file := range expanded(root, run.Name) {
			names, _ := follow(root, file)
			for _, name := range names {
				named := !strings.ContainsAny(name, "*?") && judge.ValidGlob(name) == nil && (run.Plain || !judge.Match(tests, name))
				if named && !slices.Contains(all, name) {
					all = append(all, name)
				}
			}
		}
	}
	return all
}

// RunByGit adds what the user's own git runs and obeys in a work tree: see [git.Repo.Runs].
func RunByGit(all []string, git *git.Repo) []string {
	commands, paths := git.Runs()
	for _, text := range commands {
		all = programs(all, git.Root, []string{"sh", "-c", strings.TrimPrefix(text, "!")}, "", nil)
	}
	for _, path := range paths {
		names, _ := follow(git.Root, path)
		for _, name := range names {
			for _, glob := range []string{name, name + "/**"} {
				if name != "" && judge.ValidGlob(glob) == nil {
					all = append(all, glob)
				}
			}
		}
	}
	return all
}

// expanded are the files that a glob matches; any other name is itself.
func expanded(root, glob string) (files []string) {
	if !strings.ContainsAny(glob, "*?") {
		return []string{glob}
	}
	if judge.ValidGlob(glob) != nil {
		return nil
	}
	from, _, _ := strings.Cut(glob, "*")
	from = path.Dir(strings.SplitN(from, "?", 2)[0] + "x")
	_ = fs.WalkDir(beneath.FS(root), from, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.IsDir() && judge.Match([]string{glob}, name):
			files = append(files, name)
		}
		return nil
	})
	return files
}

// follow gives what decides what a name below root stands for: the links on the way to it,
// and the file itself, which need not be there. A name that leads out of root has none.
func follow(root, name string) (names []string, kind runs.Kind) {
	if path.IsAbs(name) {
		var ok bool
		if name, ok = strings.CutPrefix(path.Clean(name), root+"/"); !ok {
			return nil, runs.Word
		}
	}
	done, left := "", strings.Split(path.Clean(name), "/")
	for links := 0; len(left) > 0; {
		at := path.Join(done, left[0])
		left = left[1:]
		if !filepath.IsLocal(at) {
			return names, runs.Word
		}
		fi, err := os.Lstat(filepath.Join(root, at))
		switch {
		case err != nil:
			return append(names, path.Join(append([]string{at}, left...)...)), runs.Word
		case fi.Mode()&os.ModeSymlink != 0:
			target, _ := os.Readlink(filepath.Join(root, at))
			if links++; links > 40 {
				return names, runs.Word
			}
			names = append(names, at)
			if path.IsAbs(target) {
				var ok bool
				if target, ok = strings.CutPrefix(path.Clean(target), root+"/"); !ok {
					return names, runs.Word
				}
				done = ""
			}
			left = append(strings.Split(path.Clean(target), "/"), left...)
			continue
		case fi.IsDir():
			kind = runs.Folder
		case fi.Mode()&0o111 != 0:
			kind = runs.Executable
		default:
			kind = runs.File
		}
		done = at
	}
	return append(names, done), kind
}

// Plannable are the templates as package verify knows them.
func (v *Verification) Plannable() (all []verify.Template) {
	for _, t := range v.Templates {
		params := map[string]string{}
		for name, p := range t.Params {
			params[name] = p.Kind
		}
		all = append(all, verify.Template{ID: t.ID, Cmd: t.Cmd, Args: t.Args, Params: params, Results: t.Results})
	}
	return all
}

// Setting is what a check runs with besides its arguments: its folder, variables and limit.
func (v *Verification) Setting(id string) (dir string, env []string, limit time.Duration) {
	i := slices.IndexFunc(v.Templates, func(t Template) bool { return t.ID == id })
	if i < 0 {
		return "", nil, 0
	}
	t := &v.Templates[i]
	for _, kv := range t.Env {
		if !strings.Contains(kv, "=") {
			value, there := os.LookupEnv(kv)
			if !there {
				continue
			}
			kv += "=" + value
		}
		env = append(env, kv)
	}
	return t.Dir, env, time.Duration(t.TimeoutSeconds) * time.Second
}

// WithRequired are the ids of fast checks with those that every change has to pass and
// that neither list has.
func (v *Verification) WithRequired(fast, slow []string) []string {
	all := slices.Clone(fast)
	for _, id := range v.Required {
		if !slices.Contains(all, id) && !slices.Contains(slow, id) {
			all = append(all, id)
		}
	}
	return all
}

// RequiredChecks are the commands of the checks that every change has to pass. Load has
// seen to it that they are there and take no parameters.
func (v *Verification) RequiredChecks() (all []verify.Command) {
	for _, id := range v.Required {
		i := slices.IndexFunc(v.Templates, func(t Template) bool { return t.ID == id })
		if i < 0 {
			all = append(all, verify.Command{ID: id}) // has no argv, and so fails
			continue
		}
		t := &v.Templates[i]
		all = append(all, verify.Command{ID: id, Argv: append([]string{t.Cmd}, t.Args...), Results: t.Results})
	}
	return all
}
