package checks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/change"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/program"
	"github.com/paxiom/relay/judge/program/runs"
	"github.com/paxiom/relay/verify"
)

// programs is what the programs of the machine were before a builder began. Not every
// means keeps a builder from them, and what a folder of box.persist_dirs holds none does:
// a check whose program was changed since says what the builder wanted it to say.
type programs struct {
	root string
	path string // of now
	Path string // of then
	// Began is when they were looked at, in nanoseconds.
	Began int64
	Seen  map[string]judge.Stamp // by the path without links
	Led   map[string]string      // where the names in those folders led, if to another path
	lost  error                  // why it is not known what they were
}

// maxPrograms bounds the file in which a work's programs are kept.
const maxPrograms = 64 << 20

// takePrograms knows the programs as they were before the first builder of this work: from
// the file that its first change has left, or, in that change, by looking. One that continues
// with what was built before never looks: it would see what the builder left.
func (c *Checker) takePrograms(file string, environ []string, again bool) error {
	err := error(fs.ErrNotExist)
	c.programs = &programs{root: c.of.Git().Root, path: pathOf(c.of.Git().Root, environ)}
	if file != "" {
		var b []byte
		if b, err = judge.ReadFile(file, maxPrograms); err == nil {
			err = json.Unmarshal(b, c.programs)
		}
	}
	switch {
	case err == nil:
		return nil
	case again || !errors.Is(err, fs.ErrNotExist):
		c.programs.lost = err
		return nil
	}
	if c.programs.look(); file == "" {
		return nil
	}
	b, err := json.Marshal(c.programs)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return workspace.WriteFile(file, b)
}

// pathOf is PATH without what lies in the repository.
func pathOf(root string, environ []string) (path string) {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = program.Clean(v, root)
		}
	}
	return path
}

// look looks at all programs along PATH. An interpreter that lies elsewhere needs no look: see changed.
func (p *programs) look() {
	p.Path, p.Began, p.Seen, p.Led = p.path, time.Now().UnixNano(), map[string]judge.Stamp{}, map[string]string{}
	for _, dir := range filepath.SplitList(p.path) {
		entries, _ := os.ReadDir(dir)
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			name, at := filepath.Join(dir, e.Name()), filepath.Join(real, e.Name())
			if e.Type()&os.ModeSymlink != 0 {
				if at, err = filepath.EvalSymlinks(name); err != nil {
					continue
				}
			}
			fi, err := os.Stat(at)
			if err != nil || !fi.Mode().IsRegular() {
				continue
			}
			if p.Seen[at] = change.StampOf(fi); at != name {
				p.Led[name] = at
			}
		}
	}
}

// replaced names a program that a command would start, the interpreter of one, or the
// script that an interpreter is given, which is not what it was; "" when there is none.
func (p *programs) replaced(c verify.Command) string {
	if p == nil || len(c.Argv) == 0 {
		return ""
	}
	for _, run := range runs.Runs(c.Argv, "", p.outside, nil) {
		if real, err := filepath.EvalSymlinks(run.Name); err == nil && p.outside(run.Name) != runs.Word && (p.relinked(run.Name) || p.changed(real)) {
			return run.Name
		}
	}
	names := program.Words(c.Argv...)
	for depth := 0; len(names) > 0 && depth < 5; depth++ {
		var next []string
		for _, name := range names {
			found, err := program.FindBoxed(name, p.path, p.root)
			if err != nil { // the repository's own, which is judged, or a word
				continue
			}
			if p.turned(found) {
				return found.Name
			}
			if p.changed(found.Path) {
				return found.Path
			}
			next = append(next, program.Interpreter(found.Path)...)
		}
		names = next
	}
	return ""
}

// changed reports whether a file is not what it was. Of those that lie outside of PATH
// only the kernel's own time of their last change is known: nobody can set it back.
func (p *programs) changed(name string) bool {
	fi, err := os.Stat(name)
	if err != nil {
		return true
	}
	now := change.StampOf(fi)
	if was := p.Seen[name]; was.Exists {
		return !was.Same(now)
	}
	return p.along(name) || now.CTime > p.Began
}

// turned reports whether a name leads to another file than it did: that one may be as it was.
func (p *programs) turned(found program.Program) bool {
	if p.Led == nil || !slices.Contains(filepath.SplitList(p.Path), filepath.Dir(found.Name)) {
		return p.relinked(found.Name)
	}
	was, ok := p.Led[found.Name]
	if !ok {
		was = found.Name
	}
	return was != found.Path
}

// relinked reports whether a link on the way to a file was made since: like a file's, the
// kernel's own time of it can't be set back.
func (p *programs) relinked(name string) bool {
	for range 40 { // as many as the kernel follows
		at, next := "/", ""
		parts := strings.Split(strings.Trim(filepath.Clean(name), "/"), "/")
		for i, part := range parts {
			at = filepath.Join(at, part)
			fi, err := os.Lstat(at)
			switch {
			case err != nil:
				return true
			case at == "/proc" || at == "/dev": // links there are remade for each process
				return false
			case fi.Mode()&os.ModeSymlink == 0:
				continue
			case change.StampOf(fi).CTime > p.Began:
				return true
			}
			to, err := os.Readlink(at)
			if err != nil {
				return true
			}
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(at), to)
			}
			next = filepath.Join(append([]string{to}, parts[i+1:]...)...)
			break
		}
		if next == "" {
			return false
		}
		name = next
	}
	return true
}

// along reports whether a file lies in a folder of PATH: all that was there is known.
func (p *programs) along(name string) bool {
	return slices.ContainsFunc(filepath.SplitList(p.Path), func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		return err == nil && filepath.Dir(name) == real
	})
}

// outside says what a whole path is that neither the judge nor what is known of the folders
// of PATH decides about.
func (p *programs) outside(name string) runs.Kind {
	real, err := filepath.EvalSymlinks(name)
	if !filepath.IsAbs(name) || err != nil || strings.HasPrefix(real, p.root+string(filepath.Separator)) || p.along(real) {
		return runs.Word
	}
	switch fi, err := os.Stat(real); {
	case err != nil || !fi.Mode().IsRegular():
		return runs.Word
	case fi.Mode()&0o111 != 0:
		return runs.Executable
	}
	return runs.File
}

// tainted refuses checks whose programs are not what they were before the build.
func (c *Checker) tainted(commands []verify.Command) ([]verify.Result, judge.Code) {
	for _, cmd := range commands {
		if p := c.programs; p != nil && p.lost != nil {
			err := fmt.Errorf("what the programs of the checks were before the build is not known any more: %w", p.lost)
			return []verify.Result{{Command: cmd, ExitCode: -1, Err: err, Finding: verify.NewFailure}}, judge.StopVerifyTainted
		}
		if name := c.programs.replaced(cmd); name != "" {
			err := fmt.Errorf("the program %s is not what it was before the build", name)
			return []verify.Result{{Command: cmd, ExitCode: -1, Err: err, Finding: verify.NewFailure}}, judge.StopVerifyTainted
		}
	}
	return nil, judge.Success
}
