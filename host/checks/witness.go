package checks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/verify"
	"github.com/paxiom/relay/verify/evidence"
)

// witness has one check's test runners report to relay; nil where they can't.
type witness struct {
	kit  evidence.Kit
	pipe *evidence.Pipe
}

// witness opens a pipe for one check. Where the machine has no named pipes there is none.
func (c *Checker) witness() (*witness, error) {
	dir := filepath.Join(c.state, "evidence")
	kit, err := evidence.Install(dir)
	if err != nil {
		return nil, err
	}
	pipe, err := evidence.Open(dir)
	if err != nil {
		return nil, err
	}
	return &witness{kit: kit, pipe: pipe}, nil
}

// binds are what the check's box shows. All of it is read-only there, and a pipe can be
// written all the same; only Landlock asks for the right.
func (w *witness) binds(means string) []box.Bind {
	if means == box.Landlock {
		return []box.Bind{{Path: w.kit.Dir}, {Path: w.pipe.Path, Writable: true}}
	}
	return []box.Bind{{Path: w.kit.Dir}, {Path: w.pipe.Dir}}
}

func (w *witness) environ(env []string, root string) []string {
	return w.kit.Environ(env, w.pipe.Path, root)
}

func (w *witness) close() *verify.Report {
	r := w.pipe.Close()
	return &r
}

// maxXML is how many files of a check are looked at for reports in JUnit's XML.
const maxXML = 5000

// written takes the names of tests that no reporter of relay's knows from what the check
// wrote: from reports in JUnit's XML in the repository, else from its output. What the
// change itself brings is no report.
func (x *boxExec) written(b *box.Box, res *verify.Result) {
	j := evidence.JUnit{Root: x.c.of.Git().Root}
	for _, name := range b.Wrote(func(name string) bool { return strings.HasSuffix(name, ".xml") }, maxXML) {
		if slices.ContainsFunc(x.kept, func(c judge.Change) bool { return c.Path == name }) {
			continue
		}
		if f, err := b.Open(name); err == nil {
			j.Read(name, f)
			f.Close()
		}
	}
	said := j.Report()
	if said == nil && res.Tests != nil {
		said = evidence.ReportOf(res.Tests, res.Command.Results)
	}
	if said != nil {
		for runner, n := range res.Report.Early {
			said.Early[runner] += n
		}
		said.Bad, said.Probes, said.Unprobed = res.Report.Bad, res.Report.Probes, append(said.Unprobed, res.Report.Unprobed...)
		said.Broken = cmp.Or(said.Broken, res.Report.Broken)
		res.Report = said
	}
}

// known is what one command reports on the base, as far as it was asked for.
type known struct {
	once   sync.Once
	report *verify.Report
}

// bases remembers, while a change is verified, what its commands report on the base.
type bases struct {
	mu  sync.Mutex
	all map[string]*known
	run sync.WaitGroup
}

func (b *bases) of(base string, identity []string) *known {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := base + "\x00" + key(identity)
	if b.all == nil {
		b.all = map[string]*known{}
	}
	if b.all[key] == nil {
		b.all[key] = &known{}
	}
	return b.all[key]
}

func key(identity []string) string { return strings.Join(identity, "\x00") }

// Ahead begins to run the commands on the base while the builder works, for [Change.Verify]
// to compare with: nothing of the change is in those boxes. Discard waits for it.
func (c *Checker) Ahead(ctx context.Context, k Checks) {
	if c.of.Box().Means() != box.Overlay { // a weaker one takes what it finds in the real tree for right, and puts back what changes there: the builder's alone may
		return
	}
	c.bases.run.Go(func() {
		for _, cmd := range k.Commands {
			if ctx.Err() == nil {
				c.first(ctx, k, cmd)
			}
		}
	})
}

// first asks for the command's report on the base, once. It is called by Ahead too, so it
// waits for nothing.
func (c *Checker) first(ctx context.Context, k Checks, cmd verify.Command) *known {
	identity := k.Identity(cmd)
	at := c.bases.of(c.of.Base(), identity)
	at.once.Do(func() {
		if at.report = c.recall(identity); at.report == nil {
			if at.report = c.onBase(ctx, k, cmd, "names"+cmd.ID); at.report != nil {
				c.keepReport(c.of.Base(), key(identity), *at.report)
			}
		}
	})
	return at
}

// onceOn begins the names of the boxes of [Change.Once].
const onceOn = "once"

// Once runs one command on the base with some of the judged changes, after prepare, and
// judges nothing. prepare may be nil.
func (c *Checker) Once(ctx context.Context, k Checks, cmd verify.Command, with []judge.Change, prepare func(*box.Box) error) verify.Result {
	return verify.RunOnce(ctx, cmd, k.options(&boxExec{c: c, on: onceOn, kept: with, prepare: prepare}))
}

// onBase runs the command on the base; nil when it came to no end.
func (c *Checker) onBase(ctx context.Context, k Checks, cmd verify.Command, on string) *verify.Report {
	k.Before = nil // paid with the check itself
	r := verify.RunOnce(ctx, cmd, k.options(&boxExec{c: c, on: on}))
	if r.Err != nil || r.TimedOut {
		return nil
	}
	return r.Report
}

// known returns what the command reports on the base, and runs it there when it must. What
// did not come to an end is not remembered: a builder at work may have slowed it down.
func (c *Checker) known(ctx context.Context, k Checks, cmd verify.Command, again bool) *verify.Report {
	if again {
		return c.onBase(ctx, k, cmd, "again")
	}
	at := c.first(ctx, k, cmd)
	if at.report == nil && ctx.Err() == nil {
		c.bases.run.Wait() // what slowed it down has ended
		at.report = c.onBase(ctx, k, cmd, "names"+cmd.ID)
	}
	return at.report
}

// Known is what the command reports on the base; nil when it comes to no end there.
func (c *Checker) Known(ctx context.Context, k Checks, cmd verify.Command) *verify.Report {
	return c.known(ctx, k, cmd, false)
}

// without runs the checks once more when the change adds test files, and leaves those out:
// what runs beside the tests of the base (a hook, a TestMain, a patch of what they call)
// must not be what they pass by. Only their names count: a check may ask for the new files
// in another way, for example by coverage.
func (c *Checker) without(ctx context.Context, k Checks, results []verify.Result) judge.Code {
	if len(k.Tests) == 0 {
		return judge.Success
	}
	old := slices.DeleteFunc(slices.Clone(c.of.Verdict().Kept), func(ch judge.Change) bool {
		return ch.Kind == judge.Added && judge.Match(k.Tests, ch.Path)
	})
	if len(old) == len(c.of.Verdict().Kept) {
		return judge.Success
	}
	for i := range results {
		r := &results[i]
		base := c.known(ctx, k, r.Command, false)
		if !base.Named() || r.Finding != verify.Passed {
			continue
		}
		once := k
		once.Before = nil
		res := c.Once(ctx, once, r.Command, old, nil)
		if ctx.Err() != nil {
			return judge.StopInterrupted
		}
		if res.Report == nil {
			continue
		}
		f := evidence.Compare(base, *res.Report, k.Removed)
		f.Missing = slices.DeleteFunc(f.Missing, func(g verify.Gone) bool { // agreed to
			return r.Evidence != nil && slices.ContainsFunc(r.Evidence.Missing, func(o verify.Gone) bool { return o.Name == g.Name })
		})
		f.Failed = slices.DeleteFunc(f.Failed, func(name string) bool { _, old := base.Tests[name]; return !old })
		if len(f.Missing)+len(f.Failed) == 0 {
			continue
		}
		r.Finding = verify.Unproven
		f.Problems = append([]string{"without the test files that the change adds, tests of the base do not pass"}, f.Problems...)
		r.Evidence = &f
		if r.Command.Slow {
			return judge.StopVerifyFailedSlow
		}
		return judge.StopVerifyFailedFast
	}
	return judge.Success
}

// maxReport is the largest report that is read, in bytes.
const maxReport = 64 << 20

// maxRemembered is how many reports are kept on the disk, of all repositories.
const maxRemembered = 200

// reportFile is where the report of a command on a commit's tree is kept: another message
// for the same files costs no run. It lies in relay's own state, which no box shows.
func (c *Checker) reportFile(commit, key string) string {
	if tree, err := c.of.Git().Run(context.Background(), nil, "rev-parse", "--verify", commit+"^{tree}"); err == nil {
		commit = string(tree)
	}
	sum := sha256.Sum256([]byte(c.of.Git().Root + "\x00" + commit + "\x00" + key))
	return filepath.Join(c.state, "evidence", "base-"+hex.EncodeToString(sum[:16])+".json")
}

// recall returns what is remembered of a command on the base; nil for nothing. It can be
// out of date where ignored files count: [verify.Options] Known asks again then.
func (c *Checker) recall(identity []string) *verify.Report {
	b, err := judge.ReadFile(c.reportFile(c.of.Base(), key(identity)), maxReport)
	var r verify.Report
	if err != nil || json.Unmarshal(b, &r) != nil {
		return nil
	}
	return &r
}

// keepReport remembers a report. Losing it costs a run, so no error is one.
func (c *Checker) keepReport(commit, key string, r verify.Report) {
	b, err := json.Marshal(r)
	file := c.reportFile(commit, key)
	if err != nil || os.WriteFile(file+".new", b, 0o600) != nil || os.Rename(file+".new", file) != nil {
		return
	}
	all, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "base-*.json"))
	if len(all) <= maxRemembered {
		return
	}
	age := func(name string) int64 {
		if fi, err := os.Stat(name); err == nil {
			return fi.ModTime().UnixNano()
		}
		return 0
	}
	slices.SortFunc(all, func(a, b string) int { return int(age(a)/1e6 - age(b)/1e6) })
	for _, name := range all[:len(all)-maxRemembered] {
		os.Remove(name)
	}
}

// remember keeps what the commands said of what has landed: it is the next change's base.
func (c *Checker) remember(commit string) {
	for key, r := range c.reported {
		c.keepReport(commit, key, r)
	}
}
