package tick

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/detect"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/prompts"
)

// ceiling is the most that a task of a tick may have.
func (r *run) ceiling() judge.Ceiling {
	own := judge.BuilderCommits(r.cfg.Commit.BuilderCommits)
	if own == judge.KeepCommits && !r.cfg.Commit.OnSuccess || r.letLand != nil {
		own = judge.SquashCommits // nothing is committed at all, or relay itself made it again
	}
	return r.widened.Widen(r.at().Ceiling(r.cfg.TickFence(), own))
}

// unasked reports whether no planner is asked: the task is at hand, or what the operator has
// allowed meanwhile is.
func (r *run) unasked() bool { return r.o.Task != nil || r.env.Trust.Allowed(r.env.Root) }

// takeAllowed gives what the operator was asked about and has allowed, nil when there is
// nothing. What was asked and not answered is asked no more.
func (r *run) takeAllowed() (w *trust.Wish, err error) {
	if r.widened, err = r.env.Trust.Widened(r.env.Root); err != nil {
		return nil, err
	}
	return r.env.Trust.TakeAllowed(r.env.Root)
}

// policy is the law for this task, and what it asks for beyond the ceiling.
func (r *run) policy() (judge.Policy, []judge.Beyond) { return judge.NewPolicy(r.law()) }

func (r *run) law() (judge.Ceiling, judge.Request) { return r.ceiling(), r.request() }

// request is what the task asks for.
func (r *run) request() judge.Request {
	s, l := r.task.Scope, r.task.DiffLimits
	return judge.Request{By: r.asker(), Beyond: r.beyond(), Kind: r.task.Kind, Allowed: s.AllowedGlobs, Forbidden: s.ForbiddenGlobs,
		NewFiles: s.AllowNewFiles, LockfileChanges: s.AllowLockfileChanges, MaxFiles: l.MaxFilesTouched, MaxLines: l.MaxLinesChanged}
}

// asker is who wrote the task.
func (r *run) asker() judge.Asker {
	switch {
	case r.letLand != nil:
		return r.letLand.Built.By
	case r.o.operators():
		return judge.Operator
	case r.approved != nil:
		return judge.Approved
	}
	return judge.Model
}

func (r *run) beyond() bool { return r.o.Beyond || r.letLand != nil && r.letLand.Built.Beyond }

// underCeiling settles, before anything is built, what the task asks for beyond the
// ceiling. The operator says of his own task that he means it. What a model asks for is a
// question to the operator who is there; done without an error means that he is asked. In
// a loop a task that can't be meant without it is not built, and its planner reads why in
// the next prompt: a builder would be paid for what can't land. Limits that are too high and
// paths that reach too far are cut, since what is left most often does.
func (r *run) underCeiling() (done bool, err error) {
	if r.task.Kind != judge.Execute {
		return false, nil // it may change nothing at all
	}
	_, beyond := r.policy()
	if len(beyond) == 0 {
		return false, nil
	}
	said := judge.Listed(beyond)
	if r.o.operators() {
		return false, diag.New(judge.BlockedBeyondCeiling, "the task asks for more than the ceiling gives", said, r.beyondFix())
	}
	if r.o.Attended {
		return true, r.askBeyond(beyond)
	}
	for _, b := range beyond {
		if b.Needed {
			fix := "`relay config show scope` shows the ceiling; the next tick's planner is told"
			if b.Code == judge.StopForbidden { // no ceiling gives it
				fix = "`relay run --task FILE`, with a copy of .relay/TASK.json as a task of your own, opens what that names, but for scope.default_forbidden_globs"
			}
			return false, diag.New(b.Code, "the task needs more than the ceiling gives, and was not built", said, fix)
		}
	}
	r.note("the task was cut to the ceiling: " + said)
	return false, r.cut(beyond)
}

// beyondFix is what lets the operator's task go beyond the ceiling.
func (r *run) beyondFix() string {
	return "`" + r.ownCommand() + " --beyond-ceiling` if you mean it; `relay config show scope` shows the ceiling"
}

// askBeyond makes a question of it.
func (r *run) askBeyond(beyond []judge.Beyond) error {
	w := trust.Wish{RunID: r.rep.RunID, Task: r.taskJSON}
	for _, b := range beyond {
		switch {
		case b.Glob != "":
			w.Widening.Globs = append(w.Widening.Globs, b.Glob)
		case b.Code == judge.StopNewFile:
			w.Widening.NewFiles = true
		case b.Code == judge.StopLockfile:
			w.Widening.Lockfiles = true
		case b.Files+b.Lines > 0:
			w.Widening.Files, w.Widening.Lines = max(w.Widening.Files, b.Files), max(w.Widening.Lines, b.Lines)
		default:
			w.OnceOnly = true // a protected file is never opened for good
		}
	}
	if err := r.env.Trust.Ask(r.env.Root, w); err != nil {
		return err
	}
	r.rep.Question = &report.Question{Prompt: format.Clip(fmt.Sprintf("The planner asks for more than the ceiling gives, for %q: %s. May it?", report.Safe(format.Clip(r.task.Intent, 200)), judge.Listed(beyond)), 1900), Choices: w.Choices()}
	return nil
}

// cut takes from the task what is beyond the ceiling, so that the builder is told what it
// really may do. Paths are held to the ceiling by the policy whatever is said here.
func (r *run) cut(beyond []judge.Beyond) error {
	fence := r.cfg.TickFence()
	t := r.task
	t.DiffLimits.MaxFilesTouched, t.DiffLimits.MaxLinesChanged = min(t.DiffLimits.MaxFilesTouched, fence.MaxFiles), min(t.DiffLimits.MaxLinesChanged, fence.MaxLines)
	var globs []string
	for _, g := range t.Scope.AllowedGlobs {
		globs = append(globs, narrower(g, beyond, fence.Allowed)...)
	}
	t.Scope.AllowedGlobs = globs
	raw, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return internal(err)
	}
	r.taskJSON = raw
	err = workspace.WriteFile(r.ws.Task(), raw)
	r.publish() // a driver may read TASK.json in the workspace
	return err
}

// narrower gives for a glob that reaches beyond the ceiling those of the ceiling's that it
// covers, or itself where none says it.
func narrower(g string, beyond []judge.Beyond, ceiling []string) (in []string) {
	for _, b := range beyond {
		if b.Glob != g {
			continue
		}
		for _, c := range ceiling {
			if judge.Covers([]string{g}, c) {
				in = append(in, c)
			}
		}
		break
	}
	if len(in) == 0 {
		return []string{g}
	}
	return in
}

// toldCeiling is the ceiling as the planner is told it.
func (r *run) toldCeiling() prompts.Ceiling {
	c := r.ceiling()
	return prompts.Ceiling{Allowed: r.cfg.TickFence().Allowed, NewFiles: c.NewFiles, Lockfiles: c.LockfileChanges, MaxFiles: c.MaxFiles, MaxLines: c.MaxLines}
}

// drives are the programs of the agents that relay's own builders start.
var drives = map[string]string{"claude-code": "claude", "codex-exec": "codex", "gemini-cli": "gemini"}

// canStart reports whether a builder has what it starts. It looks at the configuration and
// at PATH and starts nothing; the configured builder counts always, so that what is
// missing of it is said.
func (r *run) canStart(e *catalog.Entry) bool {
	switch {
	case e.Name == "patch":
		return r.cfg.Builder.AllowPatchMode
	case e.Name == catalog.Canonical(r.cfg.Builder.DefaultMode):
		return true
	case e.State != catalog.OK:
		return false
	case e.Name == "external":
		return r.cfg.Builder.External != nil
	}
	var own struct {
		Command string   `json:"command"`
		Agent   []string `json:"agent"`
	}
	_ = json.Unmarshal(r.cfg.Plugins[e.Name], &own) // a block that is wrong is said when the plugin starts
	switch {
	case e.Name == "acp":
		return len(own.Agent) > 0 && r.hasProgram(own.Agent[0])
	case own.Command != "":
		return r.hasProgram(own.Command)
	case e.Name == "claude-code":
		return r.hasProgram(r.cfg.ClaudeCLI.Command)
	case drives[e.Name] != "" && e.Builtin():
		return r.hasProgram(drives[e.Name])
	}
	for _, p := range e.Programs {
		if !r.hasProgram(p) {
			return false
		}
	}
	return true
}

// hasProgram reports whether a program is there: a path, or a name along PATH.
func (r *run) hasProgram(name string) bool {
	if strings.HasPrefix(name, "~/") {
		name = filepath.Join(r.env.Home, name[2:])
	}
	if !strings.Contains(name, "/") {
		return len(detect.Programs([]string{name}, r.getenv("PATH"))) > 0
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(r.env.Root, name)
	}
	fi, err := os.Stat(name)
	return err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o111 != 0
}
