package proof

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/bundle"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/history"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge/git"
)

// evidence is an archive that is being put together.
type evidence struct {
	r     *host.Repo
	o     *host.Opened
	git   *git.Repo
	asked ExportOptions

	facts    bundle.Facts
	landed   []bundle.Landed
	attested int
	objects  []string // commits whose objects go along
	members  []bundle.Member

	byID  map[string]*bundle.Run
	calls map[string][]attest.Call
}

// gather finds the commits with their attestations, the runs, and the policies.
func (g *evidence) gather(ctx context.Context) error {
	g.facts = bundle.Facts{Relay: g.r.Options.Version, ObjectFormat: g.git.ObjectFormat, Since: g.asked.Since.UTC(), Range: cmp.Or(g.asked.Range, "HEAD"), Runs: []bundle.Run{}, Policies: []bundle.Policy{}, Unknown: []string{}}
	commits, err := g.commits(ctx)
	if err != nil {
		return err
	}
	g.facts.Commits, g.facts.Tip = commits, commits[len(commits)-1]
	carried, err := (&attest.Verifier{Git: g.git}).Carry(ctx, commits)
	if err != nil {
		return notRead(err)
	}
	g.objects = carried.Commits
	for commit, note := range carried.Notes {
		g.members = append(g.members, bundle.Note(commit, note))
	}
	if err := g.commitsSeen(ctx, carried.Notes); err != nil {
		return err
	}
	if err := g.runs(); err != nil {
		return err
	}
	g.policies(ctx)
	g.unknown()
	return nil
}

func (g *evidence) commits(ctx context.Context) (commits []string, err error) {
	fix := "`relay evidence export --range RANGE`; `git fetch origin " + attest.Ref + ":" + attest.Ref + "` gets attestations of others"
	if g.asked.Range != "" {
		if commits, err = attest.Commits(ctx, g.git, g.asked.Range); err != nil {
			return nil, notNamed(err, []string{g.asked.Range})
		}
	} else {
		args := []string{"rev-list", "--reverse", "--topo-order", "HEAD"}
		if !g.asked.Since.IsZero() {
			args = append(args, fmt.Sprintf("--since-as-filter=@%d +0000", max(g.asked.Since.Unix(), 0))) // of a date far ahead git makes today's
		}
		var out []byte
		out, err = g.git.Run(ctx, nil, args...)
		if commits = strings.Fields(string(out)); err == nil && g.asked.Since.IsZero() {
			commits, err = attest.FromFirst(ctx, g.git, commits)
		}
	}
	if err != nil {
		return nil, notRead(err)
	}
	if len(commits) == 0 {
		return nil, diag.New("", "nothing to export", "there is no commit in what was asked for, or none with an attestation", fix)
	}
	return commits, nil
}

// commitsSeen reads the subjects of the commits, and what their notes say.
func (g *evidence) commitsSeen(ctx context.Context, notes map[string]string) error {
	out, err := g.git.Run(ctx, strings.NewReader(strings.Join(g.facts.Commits, "\n")+"\n"), "log", "--no-walk=unsorted", "--format=%H%x00%ct%x00%s%x00", "--stdin")
	if err != nil {
		return diag.Git(err)
	}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		l := bundle.Landed{Commit: strings.TrimSpace(fields[i]), Subject: format.Clip(fields[i+2], 200)}
		if s, err := attest.Parse(notes[l.Commit]); err == nil {
			l.Statement = s
			g.attested++
			at, _ := time.Parse(attest.Time, s.Predicate.TimeVerified)
			g.asOf(at)
		}
		g.landed = append(g.landed, l)
	}
	if g.facts.AsOf.IsZero() && len(fields) > 3 {
		seconds, _ := strconv.ParseInt(fields[len(fields)-3], 10, 64) // git's own number
		g.asOf(time.Unix(seconds, 0))
	}
	return nil
}

// asOf takes in the time of a record.
func (g *evidence) asOf(t time.Time) {
	if t = t.UTC().Truncate(time.Second); t.After(g.facts.AsOf) {
		g.facts.AsOf = t
	}
}

// runs reads the runs of the range, or since the time, with their calls.
func (g *evidence) runs() error {
	wanted := map[string]bool{}
	for _, l := range g.landed {
		wanted[l.Commit] = true
		if l.Statement != nil {
			wanted[l.Statement.Predicate.Relay.Run], wanted[l.Statement.Predicate.Relay.Task.ID] = true, l.Statement.Predicate.Relay.Workflow == "cycle"
		}
	}
	want := func(names ...string) bool {
		return g.asked.Range == "" || slices.ContainsFunc(names, func(name string) bool { return wanted[name] })
	}
	all, err := g.o.History.All()
	if err != nil {
		return err
	}
	for m := range all {
		if want(m.RunID, m.Commit) && !m.StartedAt.Before(g.asked.Since) {
			g.run(m)
		}
	}
	err = ledger.UsagesSince(g.o.WS, g.asked.Since, func(l ledger.Line) error {
		id := cmp.Or(l.CycleID, l.RunID)
		if g.byID[id] == nil {
			if !want(id) {
				return nil
			}
			if m, err := g.o.History.Get(id); err == nil {
				g.run(m)
			} else {
				g.byID[id] = &bundle.Run{ID: id, Workflow: map[bool]string{true: "cycle"}[l.CycleID != ""], Began: l.At.UTC().Truncate(time.Second), Refused: []bundle.Refusal{}}
				if rec, err := cycle.ReadRecord(g.o.WS, id); err == nil && l.CycleID != "" {
					g.byID[id].Refused = refusals(rec.Network)
				}
			}
		}
		g.asOf(l.At)
		g.calls[id] = append(g.calls[id], attest.Call{Role: l.Role, Plugin: l.Provider, Model: l.Model, CostUSD: l.CostUSD})
		return nil
	})
	if err != nil {
		return diag.Wrap(err, "", "usage.jsonl can't be read", "`ls -l "+diag.Word(g.o.WS.Usage())+"`")
	}
	for id, run := range g.byID {
		run.Calls = append([]attest.Plugin{}, attest.Parts(g.calls[id], nil)...)
		g.facts.Runs = append(g.facts.Runs, *run)
	}
	slices.SortFunc(g.facts.Runs, func(a, b bundle.Run) int { return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.ID, b.ID)) })
	return nil
}

// run takes a run in: of its report no more than hosts, rules and the box, and no text of a
// model's.
func (g *evidence) run(m history.Meta) {
	run := &bundle.Run{ID: m.RunID, Workflow: m.Workflow, Task: m.TaskID, Began: m.StartedAt.UTC().Truncate(time.Second), Ended: m.EndedAt.UTC().Truncate(time.Second),
		Code: m.Code, Commit: m.Commit, Undoes: m.Undoes, Refused: []bundle.Refusal{}}
	g.byID[m.RunID] = run
	g.asOf(m.StartedAt)
	g.asOf(m.EndedAt)
	rep, err := host.ReadReport(g.o.History.Path(m.RunID, "report.json"))
	if err != nil || rep == nil {
		return
	}
	if p := rep.Policy; p != nil {
		run.Policy = &report.Policy{SHA256: p.SHA256, Rules: p.Rules, Hits: slices.Clone(p.Hits)}
		for i, h := range run.Policy.Hits {
			if filepath.IsAbs(h.At) {
				run.Policy.Hits[i].At = filepath.Base(h.At) // the user's folders are nobody's business
			}
		}
	}
	if rep.Box != nil {
		run.Box = rep.Box.Means
		run.Refused = refusals(rep.Box.Network)
	}
}

func refusals(all []report.Network) []bundle.Refusal {
	list := []bundle.Refusal{}
	for _, n := range all {
		for _, c := range n.Refused {
			list = append(list, bundle.Refusal{Role: n.Role, Refusal: c})
		}
	}
	return list
}

// policies finds the texts of those that the attested changes were held to: the repository's
// are in the commit below the change, the user's are those of today or not to be had.
func (g *evidence) policies(ctx context.Context) {
	seen := map[string]bool{}
	for _, l := range g.landed {
		if l.Statement == nil || l.Statement.Rules() == "" || seen[l.Statement.Rules()] {
			continue
		}
		p := bundle.Policy{SHA256: l.Statement.Rules()}
		seen[p.SHA256] = true
		set, err := policy.Open(ctx, g.git, l.Statement.Predicate.Relay.Base, g.r.Options.Env)
		if p.Text = err == nil && set.Digest() == p.SHA256; p.Text {
			for _, f := range set.Files {
				g.members = append(g.members, bundle.PolicyMember(p.SHA256, f))
			}
		} else {
			why := "your own have changed since"
			if err != nil {
				why = err.Error()
			}
			g.facts.Unknown = append(g.facts.Unknown, fmt.Sprintf("the rules of the policy %.12s: %s", p.SHA256, why))
		}
		g.facts.Policies = append(g.facts.Policies, p)
	}
}

// unknown says what a reader could take for known.
func (g *evidence) unknown() {
	say := func(n int, one, what string) {
		if n > 0 {
			g.facts.Unknown = append(g.facts.Unknown, fmt.Sprintf(what, format.Count(n, one)))
		}
	}
	approvals, below, gone := 0, 0, map[string]bool{}
	for _, l := range g.landed {
		if l.Statement == nil {
			continue
		}
		r := l.Statement.Predicate.Relay
		if !slices.Contains(g.objects, r.Base) {
			below++
		}
		for _, a := range r.Approvals {
			if a.Key == nil {
				approvals++
			}
		}
		if g.byID[r.Run] == nil && g.byID[r.Task.ID] == nil {
			gone[r.Run] = true
		}
	}
	calls := 0
	for _, run := range g.facts.Runs {
		for _, c := range run.Calls {
			if c.CostUSD == nil {
				calls += c.Calls
			}
		}
	}
	say(len(g.landed)-g.attested, "commit", "who made %s without an attestation, and how")
	say(approvals, "approval", "who gave %s: no key has signed them")
	say(below, "commit", "what %s landed on, so nobody can verify that: this clone lacks it, and `git fetch --unshallow` gets it")
	say(len(gone), "run", "what %s of other machines, or out of the history, cost and were refused")
	say(calls, "call", "what %s cost")
	if g.asked.Range != "" {
		g.facts.Unknown = append(g.facts.Unknown, "what runs did that landed none of these commits: they were not asked for")
	}
	g.facts.Unknown = append(g.facts.Unknown, "what is in the files: their names and digests are here, and the repository has the rest",
		"whether the branch has later commits, and whether the machine's history is whole: runs can be removed from it",
		"whether the machine was honest: a signature says whose word it is")
}
