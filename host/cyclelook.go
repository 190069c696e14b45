package host

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/daylog"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/program"
)

// CycleLine is one cycle in a list.
type CycleLine struct {
	UUID      string      `json:"uuid"`
	Short     string      `json:"short_id"`
	Service   string      `json:"service_id"`
	State     CycleState  `json:"state"`
	Iteration int         `json:"iteration"`
	Since     time.Time   `json:"since"`
	Branch    string      `json:"branch"`
	Detail    string      `json:"detail,omitempty"`
	Waits     bool        `json:"waits"`
	CutOff    bool        `json:"cut_off,omitempty"` // no relay works on it, although it waits for nobody
	Until     time.Time   `json:"until,omitzero"`    // a vendor's limit is waited for
	CostUSD   *float64    `json:"cost_usd"`
	Next      fault.Steps `json:"next"`
}

// QueueResult lists cycles, and what else waits; what waits for the operator comes first.
type QueueResult struct {
	Doc
	Cycles   []CycleLine `json:"cycles"`
	Others   []QueueLine `json:"others"`  // tasks, pipelines, loops, runs, and what keeps all of them
	Waiting  int         `json:"waiting"` // for the operator
	Running  int         `json:"running"`
	ExitCode int         `json:"exit_code"`
}

// QueueLine is a task, a pipeline, a loop or a run that waits, or the repository as a whole.
type QueueLine struct {
	Kind  string    `json:"kind"` // task, pipeline, loop, run or repository
	ID    string    `json:"id"`
	What  string    `json:"what"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // when it goes on by itself
	Waits bool      `json:"waits"`          // for the operator
	Next  string    `json:"next"`
}

// Queue lists the cycles in flight, or all, and what else waits.
func (r *Repo) Queue(ctx context.Context, all bool) (*QueueResult, error) {
	o, err := r.look()
	if err != nil {
		return nil, err
	}
	res := &QueueResult{Doc: Doc{"relay.queue", 1}, Cycles: []CycleLine{}, Others: []QueueLine{}}
	if res.Cycles, err = cycleLines(o.ws, all, r.now()); err != nil {
		return nil, err
	}
	for _, c := range res.Cycles {
		switch {
		case c.Waits:
			res.Waiting++
		case !c.State.Ended():
			res.Running++
		}
	}
	st, err := r.Status(ctx, false)
	if err != nil {
		return nil, err
	}
	for _, n := range slices.Concat(st.Needs, st.Waits) {
		if n.Of == cycle.Kind {
			continue
		}
		waits := n.Until.IsZero()
		res.Others = append(res.Others, QueueLine{n.Of, n.ID, n.What(), n.Since, n.Until, waits, n.Next})
		if waits {
			res.Waiting++
		}
	}
	if p := st.Problem; p != nil {
		res.Others = append(res.Others, QueueLine{Kind: "repository", What: p.What, Since: r.now(), Waits: true, Next: p.Fix})
		res.Waiting++
	}
	if res.Waiting > 0 {
		res.ExitCode = ExitWaiting
	}
	return res, nil
}

// cycleLines lists the cycles in flight, or all; those that wait for the operator come
// first.
func cycleLines(ws *workspace.Workspace, all bool, now time.Time) ([]CycleLine, error) {
	records, err := cycle.List(ws)
	if err != nil {
		return nil, err
	}
	lines := []CycleLine{}
	for _, c := range records {
		if all || !c.State.Ended() {
			lines = append(lines, cycleLine(ws, c, now))
		}
	}
	slices.SortStableFunc(lines, func(a, b CycleLine) int {
		if a.Waits == b.Waits {
			return 0
		}
		return map[bool]int{true: -1, false: 1}[a.Waits]
	})
	return lines, nil
}

func cycleLine(ws *workspace.Workspace, c *cycle.Record, now time.Time) CycleLine {
	l := CycleLine{UUID: c.UUID, Short: cycle.Short(c.UUID), Service: c.ServiceID, State: c.State, Iteration: c.Iteration, Since: c.StartedAt,
		Branch: c.Branch, Detail: c.Detail(), Waits: c.Waits(), CostUSD: c.CostUSD, Next: c.Next()}
	if n := len(c.Transitions); n > 0 {
		l.Since = c.Transitions[n-1].At
	}
	if c.Wait != nil {
		l.Until = c.Wait.Until
	}
	if l.CutOff = cutOff(ws, c); l.CutOff {
		l.Waits, l.Until, l.Next = true, time.Time{}, []string{"`relay audit resume " + l.Short + "`"}
		if c.Wait != nil {
			l.Detail = waitText(c.Wait, now)
		}
		l.Detail = strings.TrimSuffix("was cut off; "+l.Detail, "; ")
	}
	return l
}

// cutOff says that a cycle was under way when its relay ended: it goes on when the
// operator says so.
func cutOff(ws *workspace.Workspace, c *cycle.Record) bool {
	return c.State != "" && !c.State.Ended() && !c.Waits() && !cycle.Running(ws, c.UUID)
}

// CycleShow is one cycle in full.
type CycleShow struct {
	Doc
	Cycle    *Cycle        `json:"cycle"`
	Findings []FindingLine `json:"findings,omitempty"`
	Rules    []RuleLook    `json:"rules,omitempty"` // how the revision came to its verdict, one rule after the other
	Changes  []FileDiff    `json:"diff,omitempty"`  // with --diff
	Files    []HistoryFile `json:"files"`
	Diff     string        `json:"-"`
	Tests    string        `json:"-"`
	Plan     string        `json:"-"`
	CutOff   bool          `json:"cut_off,omitempty"` // it was under way when its relay ended
	Next     fault.Steps   `json:"next"`
	ExitCode int           `json:"exit_code"`
}

// FindingLine is one finding with its standing in the present iteration.
type FindingLine = cycle.FindingLine

// FindCycle gives the id of the cycle that a name means, "" when it means none.
func (r *Repo) FindCycle(name string) string {
	o, err := r.look()
	if err != nil || name == "" {
		return ""
	}
	id, err := cycle.Find(o.ws, name)
	if err != nil {
		return ""
	}
	return id
}

// ShowCycle gives one cycle.
func (r *Repo) ShowCycle(_ context.Context, id string) (*CycleShow, error) {
	o, err := r.look()
	if err != nil {
		return nil, err
	}
	uuid, err := cycle.Find(o.ws, id)
	if err != nil {
		return nil, err
	}
	rec, err := cycle.ReadRecord(o.ws, uuid)
	if err != nil {
		return nil, err
	}
	_ = rec.AddUp(o.ws) // otherwise it is as of the last transition
	dir := filepath.Join(cycle.Dir(o.ws), uuid)
	s := &CycleShow{Doc: Doc{"relay.cycle.show", 1}, Cycle: rec, Next: rec.Next(), ExitCode: cycleExit(rec), Findings: cycle.Findings(o.ws, rec), CutOff: cutOff(o.ws, rec)}
	if s.CutOff {
		s.Next, s.ExitCode = []string{"`relay audit resume " + cycle.Short(uuid) + "`", "`relay audit abort " + cycle.Short(uuid) + "`"}, ExitWaiting
	}
	changes := rec.ChangeDir(o.ws)
	for path, to := range map[string]*string{filepath.Join(changes, "revision.diff"): &s.Diff, filepath.Join(changes, "test-output.txt"): &s.Tests, filepath.Join(dir, "plan.md"): &s.Plan} {
		if b, err := workspace.ReadFile(path, 64<<20); err == nil {
			*to = string(b)
		}
	}
	s.Rules = ofCycle(rec).looks()
	s.Files, err = files(dir)
	return s, err
}

// SplitDiff takes the revision apart into its files, each with the rules that it broke.
func (s *CycleShow) SplitDiff() {
	s.Changes = SplitDiff(s.Diff)
	if s.Cycle.Revision != nil && !s.Cycle.Earlier() {
		attach(s.Changes, s.Cycle.Revision.Rules)
	}
}

// CycleIDs are the short ids of cycles that begin with a prefix, newest first, for
// completion.
func (r *Repo) CycleIDs(prefix string) []string {
	o, err := r.look()
	if err != nil {
		return nil
	}
	all, _ := cycle.List(o.ws)
	var out []string
	for _, c := range all {
		if id := cycle.Short(c.UUID); strings.HasPrefix(id, prefix) {
			out = append(out, id+"\t"+c.ServiceID+" "+string(c.State))
		}
	}
	return out
}

// ReviewCycle lets edit change the plan that waits at the first gate.
func (r *Repo) ReviewCycle(ctx context.Context, id string, edit func(path string) error) (*CycleReview, error) {
	env, o, err := r.cycleEnv(nil)
	if err != nil {
		return nil, err
	}
	uuid, err := cycle.Find(o.ws, id)
	if err != nil {
		return nil, err
	}
	return cycle.ReviewPlan(ctx, env, uuid, edit)
}

// Editor is the operator's editor as a shell command, found like git does: $VISUAL,
// $EDITOR, core.editor, vi. One that lies in the repository is refused: a change could
// have written it.
func (r *Repo) Editor(ctx context.Context) (string, error) {
	editor, from := "vi", ""
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if e := strings.TrimSpace(r.getenv(name)); e != "" {
			editor, from = e, "$"+name
		}
	}
	if from == "" {
		if git, err := judge.OpenGit(ctx, r.dir); err == nil {
			if out, err := git.Run(ctx, nil, "config", "--get", "core.editor"); err == nil && strings.TrimSpace(string(out)) != "" {
				editor, from = strings.TrimSpace(string(out)), "git's core.editor"
			}
		}
	}
	tree := program.Tree(r.dir)
	if program.Named([]string{"", editor}, r.dir, tree) != "" || program.Named([]string{"", editor}, tree, tree) != "" {
		return "", fault.New(judge.BlockedMissingConfig, "the editor lies in the repository", from+" names it ("+editor+"), and a change can rewrite it",
			"`export VISUAL=vi`, or another editor outside of the repository")
	}
	return editor, nil
}

// OwnEnviron is the operator's environment for what the operator starts from a screen of
// relay's: nothing in it leads to code in the work tree that dir is in.
func OwnEnviron(environ []string, dir string) []string {
	return program.Environ(environ, program.Tree(dir))
}

// Logs writes the log of today, or follows it until ctx ends. match is a text that
// lines must hold.
func (r *Repo) Logs(ctx context.Context, w io.Writer, day time.Time, match string, follow bool) error {
	o, err := r.look()
	if err != nil {
		return err
	}
	if uuid, err := cycle.Find(o.ws, match); err == nil {
		match = uuid
	}
	if day.IsZero() {
		day = r.now()
	}
	if _, err := daylog.Copy(w, o.ws.Logs(), day, match); err != nil {
		return fault.Wrap(err, "", "the log can't be read", "`ls -l "+fault.Word(o.ws.Logs())+"`")
	}
	if !follow {
		return nil
	}
	return daylog.Follow(ctx, w, o.ws.Logs(), match, r.now)
}

// barWords are the kinds of needs in a status bar.
var barWords = map[string]string{NeedPlan: "review", NeedRevision: "accept", NeedProblem: "problem", NeedCrash: "cut-off", NeedQuestion: "asks", NeedTask: "asks", NeedLimit: "limit"}

// TmuxStatus is one line for a status bar: what waits for the operator, by name, and how
// much is at work; "" when there is nothing.
func (r *Repo) TmuxStatus(ctx context.Context) string {
	s, err := r.Status(ctx, false)
	if err != nil {
		return ""
	}
	var waits []string
	for _, n := range s.Needs {
		waits = append(waits, n.name()+":"+barWords[n.Kind])
	}
	if len(waits) > 3 {
		waits = append(waits[:3], fmt.Sprintf("+%d", len(waits)-3))
	}
	running := 0
	for _, c := range s.Cycles {
		if !c.Waits {
			running++
		}
	}
	if s.LockPID > 0 { // a tick, a loop or a pipeline
		running++
	}
	line := strings.Join(waits, " ")
	if line != "" {
		line = "! " + line
	}
	for _, n := range s.Waits { // the first to end stands for all
		if !slices.ContainsFunc(s.Waits, func(o Need) bool { return o.Until.Before(n.Until) }) {
			line += " " + n.name() + " until " + clockTime(n.Until, r.now())
			break
		}
	}
	if running > 0 {
		line += fmt.Sprintf(" %d running", running)
	}
	return Safe(strings.TrimSpace(line))
}

// name is what it is about in a status bar.
func (n *Need) name() string {
	switch n.Of {
	case "cycle":
		return n.Title
	case "task":
		return n.ID
	}
	return n.Of
}

// clockTime is a moment as short as it can be said.
func clockTime(t, now time.Time) string {
	if t.Sub(now) < 24*time.Hour {
		return t.Local().Format("15:04")
	}
	return t.Local().Format("Jan 2 15:04")
}

// StatsResult says how models keep to the forms of audits and revisions.
type StatsResult struct {
	Doc
	Models []cycle.ModelStats `json:"models"`
}

// ModelStats is one model's record.
type ModelStats = cycle.ModelStats

// Stats counts over all cycles.
func (r *Repo) Stats(context.Context) (*StatsResult, error) {
	o, err := r.look()
	if err != nil {
		return nil, err
	}
	all, err := cycle.Stats(o.ws)
	return &StatsResult{Doc: Doc{"relay.stats", 1}, Models: all}, err
}

// runOrCycle gives the id of the run or cycle that a name means.
func (o *opened) runOrCycle(name string) (string, error) {
	if id, err := cycle.Find(o.ws, name); err == nil {
		return id, nil
	}
	m, err := o.hist.Find(name)
	if err != nil {
		return "", noCycle(name)
	}
	return m.RunID, nil
}
