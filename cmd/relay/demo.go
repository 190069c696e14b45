package main

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/setup"
)

//go:embed demo
var demoFiles embed.FS

type demoOptions struct {
	app *app
	dir string
}

func newDemoCmd(a *app) *cobra.Command {
	o := &demoOptions{app: a}
	return &cobra.Command{
		Use:   "demo [DIR]",
		Short: "See two ticks in a sample repository; no account needed",
		Long: "Makes a sample repository with a failing test and runs two ticks in it: one that makes the test\n" +
			"pass, and one whose builder leaves its scope. A recorded model answers. With DIR the repository\n" +
			"is made there and stays.",
		Example: "relay demo\nrelay demo ./sample",
		GroupID: groupStart,
		Args:    oneArg(&o.dir, "folder"),
		RunE:    runE(o, runDemo),
	}
}

// demoTick is what the demonstration expects of one tick.
type demoTick struct {
	title string
	code  host.Code
	exit  int
}

var demoTicks = []demoTick{
	{"First tick: the model proposes to make add.sh add, and only add.sh may change.", "SUCCESS", host.ExitDone},
	{"Second tick: the model proposes a better comment, but the builder also changes deploy.sh.", "STOP_SCOPE_VIOLATION_OUTSIDE_ALLOWED", host.ExitStopped},
}

// demoDoc is what the demonstration did, for --json.
type demoDoc struct {
	host.Doc
	Dir     string         `json:"dir,omitempty"` // "" when it was removed again
	Reports []*host.Report `json:"reports"`
}

func runDemo(ctx context.Context, o *demoOptions) error {
	dir, remove, err := demoDir(o.dir)
	if err != nil {
		return err
	}
	defer remove()
	if err := makeSample(ctx, dir); err != nil {
		return err
	}
	repo, err := host.Open(dir, host.Options{Set: o.app.set, Version: version().Version})
	if err != nil {
		return err
	}
	trusted, err := setup.Trust(ctx, repo, setup.TrustOptions{Show: true})
	if err != nil {
		return err
	}
	if _, err := setup.Trust(ctx, repo, setup.TrustOptions{Digest: trusted.Digest}); err != nil {
		return err
	}
	doc := demoDoc{Doc: host.Doc{Kind: "relay.demo", Version: 1}}
	if o.dir == "" {
		defer setup.Trust(context.WithoutCancel(ctx), repo, setup.TrustOptions{Revoke: true})
	} else {
		doc.Dir = dir
	}
	text := o.app.printer(o.app.out, o.app.outTTY)
	if o.app.json {
		text = newPrinter(o.app.err, false)
	}
	text.prose("A sample repository is in " + cmp.Or(o.dir, dir) + ". Its test fails, because add.sh subtracts.\nA recorded model answers, so nothing is spent.")
	for _, t := range demoTicks {
		report, err := runDemoTick(ctx, o.app, repo, t, text)
		if err != nil {
			return err
		}
		doc.Reports = append(doc.Reports, report)
	}
	return o.app.done(doc, nil, func(p *printer) {
		p.linef("")
		p.prose("The test passes now, and deploy.sh was never written: relay kept the second change as a patch and a ref.")
		if doc.Dir != "" {
			p.next("`cd " + diag.Word(o.dir) + "`, then `relay show` for the stop, `relay salvage` for what was built, or `relay undo` for the commit")
			return
		}
		p.next("`relay demo ./sample` keeps the repository for a closer look; `relay init` in a repository of your own")
	})
}

// runDemoTick runs one tick and prints how it ended. An outcome that is not the
// expected one is an error: the demonstration is also a test of this machine.
func runDemoTick(ctx context.Context, a *app, repo *host.Repo, t demoTick, p *printer) (*host.Report, error) {
	p.linef("")
	p.prose(p.bold(t.title))
	live := newProgress(a, repo)
	defer live.close()
	res, err := repo.Run(ctx, host.RunOptions{Observer: live})
	live.close()
	if err != nil {
		return nil, err
	}
	if res.Report == nil {
		verdict(p, res)
		return nil, exit{res.ExitCode}
	}
	if res.Report.Code != t.code || res.ExitCode != t.exit {
		r := res.Report
		return nil, usageError{what: fmt.Sprintf("the demonstration ended with %s, not with %s", r.Code, t.code),
			why: strings.TrimSuffix(r.Summary+": "+r.Why, ": "), fix: cmp.Or(r.Next, "`relay doctor`")}
	}
	verdictRows(p, res.Report)
	return res.Report, nil
}

func demoDir(wanted string) (dir string, remove func(), err error) {
	if wanted == "" {
		dir, err = os.MkdirTemp("", "relay-demo-")
		return dir, func() { os.RemoveAll(dir) }, err
	}
	if dir, err = filepath.Abs(wanted); err != nil {
		return "", nil, err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		name := filepath.Clean(wanted)
		if filepath.Base(name)[0] == '.' {
			name = dir
		}
		n, free := 2, name+"-2"
		for _, err := os.Lstat(free); err == nil; _, err = os.Lstat(free) {
			n++
			free = name + "-" + strconv.Itoa(n)
		}
		return "", nil, usageError{what: wanted + " is not empty", why: "the sample repository needs a folder of its own", fix: "`relay demo " + diag.Word(free) + "`"}
	}
	return dir, func() {}, os.MkdirAll(dir, 0o755)
}

// makeSample writes the sample files and commits them.
func makeSample(ctx context.Context, dir string) error {
	if out, err := git(ctx, dir, "--version").CombinedOutput(); err != nil { // before a file is written
		return noSample("--version", err, out)
	}
	files, err := demoFiles.ReadDir("demo")
	if err != nil {
		return err
	}
	for _, f := range files {
		b, err := demoFiles.ReadFile("demo/" + f.Name())
		if err != nil {
			return err
		}
		b = []byte(strings.ReplaceAll(string(b), "@DIR@", filepath.ToSlash(dir)))
		if err := os.WriteFile(filepath.Join(dir, f.Name()), b, 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "user.name", "relay demo"},
		{"config", "user.email", "demo@relay.invalid"},
		{"config", "commit.gpgsign", "false"},
		{"add", "-A"},
		{"-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "A sample with a failing test"},
	} {
		if out, err := git(ctx, dir, args...).CombinedOutput(); err != nil {
			return noSample(args[0], err, out)
		}
	}
	return nil
}

func noSample(call string, err error, out []byte) error {
	return usageError{what: "the sample repository can't be made", why: strings.TrimSpace(fmt.Sprintf("git %s: %v %s", call, err, out)), fix: "`git --version`: relay needs git 2.39 or newer"}
}

func git(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	return cmd
}
