package cycle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/host/cycle/audit"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/strictjson"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
)

// Record is state.json. The fields of the seed come first. It is written for people,
// scripts and status lines; what a cycle does next is decided by the engine's log.
type Record struct {
	UUID           string           `json:"uuid"`
	ServiceID      string           `json:"service_id"`
	State          State            `json:"state"`
	Branch         string           `json:"branch"`
	Iteration      int              `json:"iteration"`
	StartedAt      time.Time        `json:"started_at"`
	Transitions    []Transition     `json:"transitions"`
	ConfigSnapshot config.Service   `json:"config_snapshot"`
	Tokens         map[string]int64 `json:"tokens"`   // <provider>_in, <provider>_out
	CostUSD        *float64         `json:"cost_usd"` // of the calls whose cost is known; null when none is

	// relay's own
	SchemaVersion int                  `json:"schema_version"` // 1
	BaseCommit    string               `json:"base_commit"`
	BaseBranch    string               `json:"base_branch,omitempty"` // that the operator was on
	Worktree      string               `json:"worktree"`              // where the cycle's branch is checked out
	Reviser       string               `json:"reviser"`               // provider that revises
	CallsMade     int                  `json:"calls_made"`            // by the ledger, lost and failed ones among them; so are the next one and cost_usd
	UnknownCalls  int                  `json:"unknown_cost_calls"`
	Problem       *Problem             `json:"problem,omitempty"` // why it does not continue by itself
	Wait          *quota.Wait          `json:"wait,omitempty"`    // for the end of vendors' limits
	Warnings      []string             `json:"warnings,omitempty"`
	Input         *InputFacts          `json:"input,omitempty"` // of this iteration
	Audits        []AuditFacts         `json:"audits,omitempty"`
	Refined       *RefinedFacts        `json:"refined,omitempty"`
	Plan          *PlanFacts           `json:"plan,omitempty"`
	Approval      *Approval            `json:"approval,omitempty"`
	Revision      *RevisionFacts       `json:"revision,omitempty"`
	Tests         *TestFacts           `json:"tests,omitempty"`
	LastLanded    *LandedFacts         `json:"last_landed,omitempty"` // of the iterations before
	Calls         []CallFacts          `json:"calls,omitempty"`       // of all iterations
	Findings      map[audit.Status]int `json:"findings,omitempty"`    // by status
	Decisions     []audit.Decision     `json:"decisions,omitempty"`   // about ambiguities, of all iterations
	Acceptance    *Acceptance          `json:"acceptance,omitempty"`
	Network       []report.Network     `json:"network,omitempty"` // what its boxes were refused
}

// LandedFacts is a revision of an earlier iteration, on which the branch stands.
type LandedFacts struct {
	Iteration int        `json:"iteration"`
	Commit    string     `json:"commit"`
	Tests     *TestFacts `json:"tests,omitempty"`
}

// Transition is one change of state.
type Transition struct {
	To        State     `json:"to"`
	At        time.Time `json:"at"`
	By        who       `json:"by"`
	Iteration int       `json:"iteration"`
	Note      string    `json:"note,omitempty"` // what else there is to say
}

// Problem is an error as it is recorded.
type Problem struct {
	Code judge.Code `json:"code,omitempty"`
	What string     `json:"what"`
	Why  string     `json:"why,omitempty"`
	Fix  string     `json:"next,omitempty"`
	// PluginSays is what a plugin suggests; relay does not vouch for it.
	PluginSays string `json:"plugin_says,omitempty"`
}

func problemOf(err error) *Problem {
	f := diag.Internal(err)
	return &Problem{Code: f.Code, What: f.What, Why: f.Why, Fix: f.Fix, PluginSays: f.Says}
}

// Diagnostic is the problem as an error.
func (p *Problem) Diagnostic() *diag.Error {
	return &diag.Error{Code: p.Code, What: p.What, Why: p.Why, Fix: p.Fix, Says: p.PluginSays}
}

// The files of a cycle, in its folder.
const (
	stateFile    = "state.json"
	inputFile    = "input.txt"
	auditsDir    = "audits"
	refinedFile  = "refined-plan.md"
	planFile     = "plan.md"
	proposedFile = "plan.proposed.md" // as relay made it
	revisionFile = "revision.diff"
	testsFile    = "test-output.txt"
	findingsFile = "findings.json"
	callsDir     = "calls"
	iterations   = "iterations"
)

// Dir is the folder of all cycles of a workspace; each has one of its own in it.
func Dir(ws *workspace.Workspace) string { return ws.Cycles() }

func folder(ws *workspace.Workspace, uuid string) string { return filepath.Join(Dir(ws), uuid) }

// ChangeDir is the folder that has the change of a cycle and the output of its tests: that of
// an earlier iteration where this one has none yet, or the earlier one's was accepted.
func (r *Record) ChangeDir(ws *workspace.Workspace) string {
	dir := folder(ws, r.UUID)
	if r.Earlier() {
		return filepath.Join(dir, iterations, strconv.Itoa(r.LastLanded.Iteration))
	}
	return dir
}

// Earlier reports whether the change that there is, or that was accepted, is of an earlier
// iteration.
func (r *Record) Earlier() bool {
	return r.LastLanded != nil && (r.Revision == nil || r.State == Complete && !r.Revision.Landed)
}

const maxState = 8 << 20

// ReadRecord reads a cycle's state.json.
func ReadRecord(ws *workspace.Workspace, uuid string) (*Record, error) {
	path := filepath.Join(folder(ws, uuid), stateFile)
	b, err := workspace.ReadFile(path, maxState)
	r := &Record{}
	if err == nil {
		err = strictjson.Unmarshal(b, r)
	}
	if err == nil && (r.UUID != uuid || r.SchemaVersion != 1) {
		err = fmt.Errorf("it says that it is cycle %q, version %d", r.UUID, r.SchemaVersion)
	}
	if err != nil {
		return nil, &diag.Error{Code: judge.BlockedCrashRecovery, What: "the state of cycle " + Short(uuid) + " can't be trusted", Why: err.Error(),
			Fix: "`relay audit resume " + Short(uuid) + "` rebuilds it from the cycle's log", Err: err}
	}
	return r, nil
}

func (r *Record) write(ws *workspace.Workspace) error {
	return workspace.WriteJSON(filepath.Join(folder(ws, r.UUID), stateFile), r)
}

var uuidName = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// ids lists the cycles of a workspace by their folders.
func ids(ws *workspace.Workspace) ([]string, error) {
	entries, err := os.ReadDir(Dir(ws))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && uuidName.MatchString(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out, err
}

// List reads all cycles, newest first. One whose state can't be read is there with
// its problem.
func List(ws *workspace.Workspace) ([]*Record, error) {
	all, err := ids(ws)
	if err != nil {
		return nil, diag.Internal(err)
	}
	var out []*Record
	for _, id := range all {
		r, err := ReadRecord(ws, id)
		if err != nil {
			if _, serr := os.Lstat(filepath.Join(folder(ws, id), stateFile)); errors.Is(serr, fs.ErrNotExist) {
				continue // not begun: its first state was never written
			}
			r = &Record{UUID: id, Problem: problemOf(err)}
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Record) int { return b.StartedAt.Compare(a.StartedAt) })
	return out, nil
}

// Find gives the id of the cycle that is named by an id, or by the beginning of one.
func Find(ws *workspace.Workspace, name string) (string, error) {
	all, err := ids(ws)
	if err != nil {
		return "", diag.Internal(err)
	}
	var found []string
	for _, id := range all {
		if id == name {
			return id, nil
		}
		if len(name) >= 2 && strings.HasPrefix(id, strings.ToLower(name)) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", diag.New("", "there is no cycle "+fmt.Sprintf("%q", name), "no cycle of this repository has an id that begins so", "`relay queue --all` lists them")
	}
	for i := range found {
		found[i] = found[i][:min(len(found[i]), len(name)+6)]
	}
	return "", diag.New("", fmt.Sprintf("%q names several cycles", name), "there are "+strings.Join(found, ", "), "`relay queue --all` lists them; type more of the id")
}

// Short is how people call a cycle.
func Short(uuid string) string { return uuid[:min(8, len(uuid))] }

// hashFile gives the SHA-256 of a file, "" when there is none.
func hashFile(path string) (string, error) {
	b, err := workspace.ReadFile(path, 256<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return hashOf(b), err
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// canonical is the JSON of a value, for hashing.
func canonical(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("cycle: " + err.Error())
	}
	return b
}
