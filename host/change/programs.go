package change

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/program"
	"github.com/paxiom/relay/verify"
)

// programs is what the programs of the machine were before a builder began. Not every
// means keeps a builder from them, and what a folder of box.persist_dirs holds none does:
// a check whose program was changed since says what the builder wanted it to say.
type programs struct {
	root string
	path string
	seen map[string]judge.Stamp // by the path without links
}

// seePrograms looks at all programs along PATH that lie outside of the repository.
func seePrograms(root string, environ []string) *programs {
	p := &programs{root: root, seen: map[string]judge.Stamp{}}
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			p.path = program.Clean(v, root)
		}
	}
	for _, dir := range filepath.SplitList(p.path) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			if e.Type()&os.ModeSymlink != 0 {
				name, _ = filepath.EvalSymlinks(name)
			}
			p.see(name)
		}
	}
	return p
}

// see remembers a file and the interpreter that it names, and what that one names.
func (p *programs) see(name string) {
	if p.seen[name].Exists || name == "" {
		return
	}
	fi, err := os.Stat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return
	}
	p.seen[name] = stampOf(fi)
	if fi.Size() < maxScript { // larger ones are no scripts
		for _, word := range interpreter(name) {
			if real, err := filepath.EvalSymlinks(word); err == nil && filepath.IsAbs(word) {
				p.see(real)
			}
		}
	}
}

const maxScript = 1 << 20

// interpreter gives the words of a script's first line.
func interpreter(name string) []string {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	if line, ok := strings.CutPrefix(line, "#!"); ok {
		return strings.Fields(line)
	}
	return nil
}

// replaced names a program that a command would start, or the interpreter of one, which
// is not what it was; "" when there is none.
func (p *programs) replaced(c verify.Command) string {
	if p == nil || len(c.Argv) == 0 {
		return ""
	}
	names := c.Argv[:1]
	for depth := 0; len(names) > 0 && depth < 5; depth++ {
		var next []string
		for i, name := range names {
			found, err := program.Find(name, p.path, p.root)
			if err != nil { // the repository's own, which is judged, or a word
				continue
			}
			now, err := os.Stat(found.Path)
			if was := p.seen[found.Path]; err != nil || !was.Exists && p.along(found.Path) || was.Exists && !sameStamp(was, stampOf(now)) {
				return found.Path
			}
			if i == 0 || filepath.Base(names[0]) == "env" {
				next = append(next, interpreter(found.Path)...)
			}
		}
		names = next
	}
	return ""
}

// along reports whether a file lies in a folder of PATH: all that was there is known.
func (p *programs) along(name string) bool {
	for _, dir := range filepath.SplitList(p.path) {
		if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.Dir(name) == real {
			return true
		}
	}
	return false
}

// tainted refuses checks whose programs are not what they were before the build.
func (c *Change) tainted(commands []verify.Command) ([]verify.Result, judge.Code) {
	for _, cmd := range commands {
		if name := c.programs.replaced(cmd); name != "" {
			err := fmt.Errorf("the program %s is not what it was before the build", name)
			return []verify.Result{{Command: cmd, ExitCode: -1, Err: err, Finding: verify.NewFailure}}, judge.StopVerifyTainted
		}
	}
	return nil, judge.Success
}
