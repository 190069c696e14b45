package detect

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// usualFolders hold code, tests and documentation in most repositories.
var usualFolders = []string{"src", "app", "lib", "packages", "cmd", "internal", "pkg", "crates", "test", "tests", "spec", "docs", "examples"}

// tree answers questions about the files at the root.
type tree struct {
	root fs.FS
	// built are the build commands of the present job of a CI file, by folder and language.
	built map[string]string
}

// scripts are those of a folder's package.json.
func (t tree) scripts(dir string) map[string]string {
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	_ = json.Unmarshal(t.read(path.Join(dir, "package.json")), &manifest)
	return manifest.Scripts
}

// ignored reports whether .gitignore lists one of the folders that a command names.
func (t tree) ignored(command string) bool {
	for _, word := range strings.Fields(command) {
		top, _, _ := strings.Cut(strings.TrimLeft(word, "./'\""), "/")
		if top != "" && t.says([]string{".gitignore"}, `(?m)^/?`+regexp.QuoteMeta(top)+`/?\r?$`) {
			return true
		}
	}
	return false
}

// any reports whether one of the patterns names something.
func (t tree) any(patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		found, err := fs.Glob(t.root, p)
		return err == nil && len(found) > 0
	})
}

// read gives a regular file's bytes, nil when there is none or it is too long.
func (t tree) read(name string) []byte {
	info, err := fs.Stat(t.root, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRead {
		return nil
	}
	b, err := fs.ReadFile(t.root, name)
	if err != nil {
		return nil
	}
	return b
}

func (t tree) folders() []string {
	var globs []string
	for _, name := range usualFolders {
		if info, err := fs.Stat(t.root, name); err == nil && info.IsDir() {
			globs = append(globs, name+"/**")
		}
	}
	return globs
}
