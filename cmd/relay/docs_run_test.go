package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"github.com/paxiom/relay/internal/docpages"
	"github.com/paxiom/relay/internal/sampling"
)

func documentation(t *testing.T) []*docpages.Page {
	t.Helper()
	pages, err := docpages.Find("../..")
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// Every command of the documentation is run, page by page, with the built relay and the
// provider replay. What needs an account, a network or another machine says so in the page,
// and is counted. testdata/docs/README.md tells how a page is prepared.
func TestDocumentedCommandsRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var files []string
	ran, skipped, pages, reasons := 0, 0, 0, map[string]int{}
	blocks := map[string][]docpages.Block{}
	for _, p := range documentation(t) {
		name := strings.TrimSuffix(strings.ReplaceAll(p.Path, "/", "_"), ".md")
		var script strings.Builder
		runs := false
		for i, b := range p.Blocks {
			switch {
			case b.Script:
				script.WriteString(b.Text)
			case b.File != "":
				fmt.Fprintf(&script, "written %s %d\n", name, i)
			case b.Lang == "":
				t.Errorf("%s:%d: the block says no language: sh or console for what is typed, text for what is not", p.Path, b.Line)
			case !b.Commands():
			case b.Skip != "":
				skipped += b.Count()
				reasons[b.Skip] += b.Count()
			default:
				runs = true
				ran += b.Count()
				fmt.Fprintf(&script, "# %s:%d\ntyped %s %d\n", p.Path, b.Line, name, i)
			}
		}
		blocks[name] = p.Blocks
		if pages++; !runs || testing.Short() && flag.Lookup("test.run").Value.String() == "" && (pages+sampling.Turn(3))%sampling.Step(3) != 0 {
			continue
		}
		setup, err := os.ReadFile(filepath.Join("../../testdata/docs", name+".txtar"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		before, world := string(setup), ""
		if i := strings.Index(before, "-- "); i >= 0 && (i == 0 || before[i-1] == '\n') {
			before, world = before[:i], before[i:]
		}
		files = append(files, filepath.Join(dir, name+".txtar"))
		if err := os.WriteFile(files[len(files)-1], []byte(before+"\n"+script.String()+world), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Printf("documentation: %s run (on %d of %d pages), %d not run:\n", plural(ran, "command", "commands"), len(files), pages, skipped)
	var why []string
	for reason, n := range reasons {
		why = append(why, fmt.Sprintf("%6d  %s", n, reason))
	}
	sort.Sort(sort.Reverse(sort.StringSlice(why)))
	fmt.Println(strings.Join(why, "\n"))
	if ran < 100 {
		t.Errorf("only %d commands of the documentation are run", ran)
	}
	p := scriptParams()
	p.Dir, p.Files, p.UpdateScripts = "", files, false
	p.Cmds["model"] = cmdModel
	p.Cmds["workflow"] = cmdWorkflow
	p.Cmds["typed"] = func(ts *testscript.TestScript, neg bool, args []string) {
		i, err := strconv.Atoi(args[1])
		ts.Check(err)
		typeBlock(ts, blocks[args[0]][i])
	}
	p.Cmds["written"] = func(ts *testscript.TestScript, neg bool, args []string) {
		i, err := strconv.Atoi(args[1])
		ts.Check(err)
		b := blocks[args[0]][i]
		ts.Check(os.WriteFile(ts.MkAbs(b.File), []byte(b.Text), 0o644))
	}
	testscript.Run(t, p)
}

// workflow FILE JOB STEP...: runs steps of a job as GitHub's runner does, those whose names begin
// with STEP. The others need its machine: they install programs, or open a pull request.
func cmdWorkflow(ts *testscript.TestScript, _ bool, args []string) {
	type step struct {
		Name, Run string
		Env       map[string]string
	}
	var file struct {
		Jobs map[string]struct{ Steps []step }
	}
	ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(args[0])), &file))
	work := ts.Getenv("WORK")
	ts.Check(os.MkdirAll(work+"/temp", 0o755))
	env := []string{"CI=true", "RUNNER_TEMP=" + work + "/temp", "GITHUB_OUTPUT=" + work + "/output", "GITHUB_STEP_SUMMARY=" + work + "/summary.md",
		"GITHUB_SHA=" + strings.TrimSpace(ts.ReadFile(work+"/sha"))}
	steps := file.Jobs[args[1]].Steps
	for _, name := range args[2:] {
		i := slices.IndexFunc(steps, func(s step) bool { return strings.HasPrefix(s.Name, name) })
		if i < 0 {
			ts.Fatalf("no step of %s begins with %q", args[1], name)
		}
		argv := slices.Clone(env)
		for k, v := range steps[i].Env {
			if !strings.Contains(v, "${{") { // the rest is the repository's on GitHub, and here the script's
				argv = append(argv, k+"="+v)
			}
		}
		ts.Check(ts.Exec("env", append(argv, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[i].Run)...))
	}
}

// typeBlock types the commands of a block into bash, as a reader would: the folder and the
// variables that it leaves are those of the next block.
func typeBlock(ts *testscript.TestScript, b docpages.Block) {
	before := 0
	typed := b.Typed()
	for i, cmd := range typed {
		code := typeInto(ts, cmd.Command, b, before)
		asked := i+1 < len(typed) && strings.TrimSpace(typed[i+1].Command) == "echo $?"
		want := 0
		if n := len(b.Exit); n > 0 && i == len(typed)-1 {
			want = b.Exit[n-1]
		}
		if code != want && !asked {
			ts.Fatalf("exit code %d, want %d, of:\n%s%s", code, want, cmd.Command, ts.ReadFile("stdout")+ts.ReadFile("stderr"))
		}
		ts.Check(cmd.Shows(strings.ReplaceAll(ts.ReadFile("stdout"), ts.Getenv("WORK"), "/home/me")))
		before = code
	}
}

// typeInto runs commands in bash in the script's folder and environment, and takes both over
// as they are afterwards.
func typeInto(ts *testscript.TestScript, text string, b docpages.Block, before int) int {
	state := filepath.Join(ts.Getenv("WORK"), ".typed")
	ts.Check(os.MkdirAll(state, 0o755))
	script := "trap 'pwd >" + state + "/pwd; env -0 >" + state + "/env' EXIT\n"
	if b.Lang == "console" {
		script += fmt.Sprintf("exec 2>&1\n(exit %d)\n", before)
	} else {
		fine := strings.Trim(fmt.Sprint(b.Exit), "[]")
		script += "set -o pipefail\ntrap 'code=$?; case \" 0 " + fine + " \" in *\" $code \"*) ;; *) exit $code;; esac' ERR\n"
	}
	file := filepath.Join(state, "block.sh")
	ts.Check(os.WriteFile(file, []byte(script+text), 0o644))
	err := ts.Exec("bash", file)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	ts.Check(ts.Chdir(strings.TrimSpace(ts.ReadFile(filepath.Join(state, "pwd")))))
	for _, v := range strings.Split(ts.ReadFile(filepath.Join(state, "env")), "\x00") {
		if name, value, ok := strings.Cut(v, "="); ok && name != "_" && name != "PWD" && name != "OLDPWD" && name != "SHLVL" {
			ts.Setenv(name, value)
		}
	}
	if exit != nil {
		return exit.ExitCode()
	}
	return 0
}

// Every link of the documentation leads somewhere, and every page is found from the README.
func TestDocumentationLinks(t *testing.T) {
	pages := documentation(t)
	checked, broken := docpages.CheckLinks("../..", pages)
	for _, b := range broken {
		t.Error(b)
	}
	for _, path := range docpages.Unreached(pages, "README.md") {
		t.Errorf("no link leads to %s", path)
	}
	if checked < 50 {
		t.Errorf("only %d links were found", checked)
	}
	fmt.Printf("documentation: %d links in %s lead where they say\n", checked, plural(len(pages), "page", "pages"))
}

// What the documentation shows as JSON can be read as such.
func TestDocumentationJSON(t *testing.T) {
	n := 0
	for _, p := range documentation(t) {
		for _, b := range p.Blocks {
			if b.Lang != "json" {
				continue
			}
			n++
			if !json.Valid([]byte(b.Text)) {
				t.Errorf("%s:%d is no JSON:\n%s", p.Path, b.Line, b.Text)
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d blocks of JSON were found", n)
	}
}
