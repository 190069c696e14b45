package checkcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/mutate"
	"github.com/paxiom/relay/host/internal/pluginenv"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/newtests"
	"github.com/paxiom/relay/host/templates"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
	"github.com/paxiom/relay/verify"
)

// AddOptions are the options of adding a draft to the hidden checks.
type AddOptions struct {
	Name, Class string
	// Reference names a commit at which the code is right; "" for none.
	Reference string
	OnRequest bool
	// Task of prd.json is to ask for it, and no other change; "" for none.
	Task string
	// Agree is shown what the check did; an error leaves it a draft.
	Agree func(*Tried) error
}

// Tried is the document of relay check add: what a check says of code that is as it
// is, right, and wrong.
type Tried struct {
	host.Doc
	ID        string       `json:"id"`
	Folder    string       `json:"folder"`              // of the check
	Now       End          `json:"now"`                 // on the last commit
	Reference *End         `json:"reference,omitempty"` // on the commit that is right
	Mutants   []MutantLine `json:"mutants"`             // mistakes that relay made in the code that is right
	Added     bool         `json:"added"`
	Task      string       `json:"task,omitempty"` // that asks for it now
	Next      string       `json:"next,omitempty"`
}

// MutantLine is one mistake, and whether the check noticed it.
type MutantLine struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	What    string `json:"what"`
	Noticed bool   `json:"noticed"` // the check failed on it
}

// Noticed counts the mistakes that the check noticed.
func (t *Tried) Noticed() (n int) {
	for _, m := range t.Mutants {
		if m.Noticed {
			n++
		}
	}
	return n
}

// maxMutants is how many mistakes a check is tried on.
const maxMutants = 8

// Add tries the draft of a hidden check, and has it count when it can tell right from
// wrong and Agree agrees.
func Add(ctx context.Context, r *host.Repo, q AddOptions) (*Tried, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(config.ChecksDir(config.UserDir(r.Options.Env)), q.Name)
	cmd, err := draft(dir, q.Name)
	if err != nil {
		return nil, err
	}
	t, err := TryOut(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if q.Task != "" {
		if _, err := taskToExamine(r, q.Task); err != nil {
			return nil, err
		}
		q.OnRequest = true
	}
	res := &Tried{Doc: host.DocOf("relay.check.add", 1), ID: q.Name, Folder: dir, Mutants: []MutantLine{}}
	one := func() (End, []string, error) {
		all, err := t.run(ctx, []verify.Command{cmd}, 1)
		if err != nil || len(all) == 0 {
			return End{}, nil, err
		}
		return End{ID: q.Name, OK: all[0].OK(), Outcome: all[0].Outcome(), Output: string(all[0].Output)}, all[0].Loaded, nil
	}
	now, loaded, err := one()
	if err != nil {
		return nil, err
	}
	right := now.OK
	if res.Now = now; q.Reference != "" {
		if err := t.write(ctx, "git diff --binary HEAD \"$1\" -- | git apply --whitespace=nowarn", q.Reference); err != nil {
			return nil, err
		}
		var end End
		if end, loaded, err = one(); err != nil {
			return nil, err
		}
		res.Reference, right = &end, end.OK
	}
	if right {
		if err := t.mutants(ctx, q.Reference, sources(o.Root, loaded), res, one); err != nil {
			return nil, err
		}
	}
	switch {
	case q.Reference != "" && !right:
		return nil, diag.New("", "the check "+q.Name+" fails on "+host.Safe(q.Reference)+", where the code is right", host.Safe(format.Telling(res.Reference.Output)), "`relay check run --hidden`, once it is fixed")
	case right && now.OK && len(res.Mutants) > 0 && res.Noticed() == 0:
		return nil, diag.New("", "the check "+q.Name+" passes whatever the code does", fmt.Sprintf("it noticed none of %d mistakes", len(res.Mutants)), "`ls "+diag.Word(dir)+"`, and have it compare more values")
	}
	if err := q.Agree(res); err != nil {
		return nil, err
	}
	git, err := git.Open(ctx, o.Root)
	if err != nil {
		return nil, diag.Git(err)
	}
	b, err := json.MarshalIndent(config.Hidden{ID: q.Name, Cmd: cmd.Argv[0], Args: placeheld(cmd.Argv[1:], dir), Class: q.Class, Repository: config.HiddenFor(git), OnRequest: q.OnRequest}, "", "  ")
	if err == nil {
		err = workspace.WriteFile(filepath.Join(dir, config.CheckFile), append(b, '\n'))
	}
	if err != nil {
		return nil, diag.Internal(err)
	}
	if res.Added, res.Next = true, "`relay check list`"; q.Task != "" {
		res.Task, res.Next = q.Task, "`relay task show "+diag.Word(q.Task)+"`"
		return res, askFor(r, q.Task, q.Name)
	}
	return res, nil
}

// draft is the command of a check that is its folder's only program.
func draft(dir, name string) (verify.Command, error) {
	c := verify.Command{ID: name, Folder: dir, Slow: true}
	for _, p := range []struct {
		file string
		argv []string
	}{{"check.py", []string{"python3"}}, {"check.mjs", []string{"node"}}, {"check.go", []string{"go", "run"}}, {"check", nil}} {
		if _, err := os.Stat(filepath.Join(dir, p.file)); err != nil {
			continue
		}
		for _, language := range languages {
			file, skeleton := templates.Check(language)
			if text, err := workspace.ReadFile(filepath.Join(dir, p.file), 1<<20); err == nil && file == p.file && string(text) == skeleton {
				return c, diag.New("", "the check "+name+" is still the template", "", "`${EDITOR:-vi} "+diag.Word(filepath.Join(dir, file))+"`")
			}
		}
		c.Argv = append(p.argv, filepath.Join(dir, p.file))
		if p.file == "check.go" {
			c.Argv = append(c.Argv, filepath.Join(dir, "relay_check.go"))
		}
		return c, nil
	}
	return c, diag.New("", "the check "+host.Safe(name)+" has no draft", "its folder would be "+dir+", with check.py, check.mjs, check.go or a program called check", "`relay check new "+diag.Word(name)+" --hidden`")
}

// placeheld has arguments name the folder by its placeholder.
func placeheld(args []string, dir string) (out []string) {
	for _, a := range args {
		out = append(out, strings.Replace(a, dir, "{folder}", 1))
	}
	return out
}

// sources are the files of modules that a check has loaded.
func sources(root string, loaded []string) (files []string) {
	for _, name := range loaded {
		at := path.Clean(strings.TrimPrefix(name, "./"))
		dotted := strings.ReplaceAll(name, ".", "/")
		for _, glob := range []string{at, at + "/*.go", dotted + ".py", dotted + "/__init__.py"} {
			found, _ := filepath.Glob(filepath.Join(root, glob))
			for _, f := range found {
				rel, err := filepath.Rel(root, f)
				if info, e := os.Lstat(f); err == nil && e == nil && info.Mode().IsRegular() && mutate.Known(rel) && !strings.HasSuffix(rel, "_test.go") && !slices.Contains(files, rel) {
					files = append(files, rel)
				}
			}
		}
	}
	return files
}

// mutants tries the check on mistakes in the files.
func (t *Tryout) mutants(ctx context.Context, reference string, files []string, res *Tried, one func() (End, []string, error)) error {
	for _, name := range files {
		text, err := t.Change.Git().Run(ctx, nil, "show", cmp.Or(reference, "HEAD")+":"+name)
		if err != nil {
			return err
		}
		for _, m := range mutate.Make(name, string(text), nil, max(1, maxMutants/len(files))) {
			if err := t.write(ctx, "cat >\"$2\"", reference, name, m.Text); err != nil {
				return err
			}
			end, _, err := one()
			if err != nil {
				return err
			}
			res.Mutants = append(res.Mutants, MutantLine{Path: name, Line: m.Line, What: m.What, Noticed: !end.OK})
		}
	}
	return nil
}

// write has a script write into the box; its last argument, after a commit and a path, is
// what it reads.
func (t *Tryout) write(ctx context.Context, script string, args ...string) error {
	text := ""
	if len(args) > 2 {
		text = args[2]
	}
	err := newtests.Write(t.Change.Box(), t.Checks, script, text, args[:min(len(args), 2)]...)
	var failed newtests.ScriptError
	switch {
	case errors.As(err, &failed):
		return diag.New(judge.BlockedMissingConfig, "the code to try the check on can't be prepared", failed.Error(), "`git diff HEAD "+diag.Word(args[0])+"` has to apply")
	case err != nil:
		return pluginenv.BoxFault(err)
	}
	return nil
}
