package host

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
)

// CycleLine is one cycle in a list.
type CycleLine struct {
	UUID      string     `json:"uuid"`
	Short     string     `json:"short_id"` // the beginning of uuid
	Service   string     `json:"service_id"`
	State     CycleState `json:"state"`
	Iteration int        `json:"iteration"`
	Since     time.Time  `json:"since"`
	Branch    string     `json:"branch"`
	Detail    string     `json:"detail,omitempty"`  // what it does, or waits for
	Waits     bool       `json:"waits"`             // for the operator
	CutOff    bool       `json:"cut_off,omitempty"` // no relay works on it, although it waits for nobody
	Until     time.Time  `json:"until,omitzero"`    // a vendor's limit is waited for
	CostUSD   *float64   `json:"cost_usd"`
	Next      diag.Steps `json:"next"`
}

// QueueResult lists cycles, and what else waits; what waits for the operator comes first.
type QueueResult struct {
	Doc
	Cycles   []CycleLine `json:"cycles"`
	Others   []QueueLine `json:"others"`  // tasks, pipelines, loops, runs, and what keeps all of them
	Waiting  int         `json:"waiting"` // for the operator
	Running  int         `json:"running"` // how many work now
	ExitCode int         `json:"exit_code"`
}

// QueueLine is a task, a pipeline, a loop or a run that waits, or the repository as a whole.
type QueueLine struct {
	Kind  string    `json:"kind"` // task, pipeline, loop, run or repository
	ID    string    `json:"id"`
	What  string    `json:"what"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // when it continues by itself
	Waits bool      `json:"waits"`          // for the operator
	Next  string    `json:"next"`
}

// Queue lists the cycles in flight, or all, and what else waits.
func (r *Repo) Queue(ctx context.Context, all bool) (*QueueResult, error) {
	o, err := r.Look()
	if err != nil {
		return nil, err
	}
	res := &QueueResult{Doc: DocOf("relay.queue", 1), Cycles: []CycleLine{}, Others: []QueueLine{}}
	if res.Cycles, err = cycleLines(o.WS, all, r.Now()); err != nil {
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
		res.Others = append(res.Others, QueueLine{Kind: "repository", What: p.What, Since: r.Now(), Waits: true, Next: p.Fix})
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

// cutOff says that a cycle was under way when its relay ended: it continues when the
// operator says so.
func cutOff(ws *workspace.Workspace, c *cycle.Record) bool {
	return c.State != "" && !c.State.Ended() && !c.Waits() && !cycle.Running(ws, c.UUID)
}

// barWords are the kinds of needs in a status bar.
var barWords = map[string]string{NeedPlan: "review", NeedRevision: "accept", NeedProblem: "problem", NeedCrash: "cut-off", NeedQuestion: "asks", NeedTask: "asks", NeedLimit: "limit", NeedPush: "push"}

// TmuxStatus is one line for a status bar: what waits for the operator, by name, and how
// much is at work; "" when there is nothing.
func (r *Repo) TmuxStatus(ctx context.Context) string {
	s, err := r.Status(ctx, false)
	if err != nil {
		return "! relay:" + barWords[NeedProblem]
	}
	var waits []string
	if s.Problem != nil {
		waits = append(waits, "relay:"+barWords[NeedProblem])
	}
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
			line += " " + n.name() + " until " + clockTime(n.Until, r.Now())
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
		return cmp.Or(n.Title, n.ID)
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

// CycleExit is 1 while a cycle waits on the operator.
func CycleExit(rec *cycle.Record) int {
	if rec.Waits() {
		return ExitWaiting
	}
	return ExitDone
}

// Types of audit cycles that the commands show.
type (
	// Cycle is a cycle's state.json.
	Cycle = cycle.Record
	// CycleState is where a cycle stands.
	CycleState = cycle.State
	// CyclePreview is what an approval would set going.
	CyclePreview = cycle.Preview
	// CycleReview is what a review found.
	CycleReview = cycle.Review
)
