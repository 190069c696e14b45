package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/fleet/internal/job"
)

// said is what a command of relay prints, of whichever kind.
type said struct {
	Report *struct {
		Code     string        `json:"code"`
		RunID    string        `json:"run_id"`
		Commit   string        `json:"commit"`
		Question *job.Question `json:"question"`
	} `json:"report"`
	Earlier *struct {
		Here bool `json:"here"`
	} `json:"earlier"`
	Pushed *struct {
		Branch string `json:"branch"`
		stopped
	} `json:"pushed"`
	// A loop's or a pipeline's.
	Reason  string     `json:"reason"`
	LoopID  string     `json:"loop_id"`
	RunID   string     `json:"run_id"`
	Ticks   []struct{} `json:"ticks"`
	Waiting []string   `json:"waiting"`
	Tasks   []struct {
		Code string `json:"code"`
	} `json:"tasks"`
	Left *struct {
		Object string `json:"object"`
	} `json:"left"`
	// A cycle's.
	Cycle *struct {
		UUID    string    `json:"uuid"`
		State   string    `json:"state"`
		Branch  string    `json:"branch"`
		Base    string    `json:"base_commit"`
		Problem *struct{} `json:"problem"`
	} `json:"cycle"`
	Dir     string   `json:"dir"`
	stopped          // an error's
	Blocked *stopped `json:"blocked"` // why a run could not begin
}

// stopped is what relay says where it could not begin.
type stopped struct {
	Code, What, Why string
	Fix             string `json:"next"`
}

func (s *stopped) Error() string { return s.What + ": " + s.Why + " (fix: " + s.Fix + ")" }

// said is that, or all that relay has printed.
func (d *said) said(out []byte) string {
	switch {
	case d.Blocked != nil:
		return d.Blocked.Error()
	case d.What != "":
		return d.stopped.Error()
	case d.Pushed != nil && d.Pushed.What != "":
		return d.Pushed.Error()
	}
	return string(out)
}

// command is one call of relay for a step: the kind's own, that of the gate that was chosen, or one with the key of what is to join.
func (w *Worker) command(s job.Spec, st job.Step, word string) (args []string, in []byte) {
	key := s.Key
	if st.N > 0 { // what asked has that key
		key += "-" + strconv.Itoa(st.N+1)
	}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	switch s.Kind {
	case job.KindRun, job.KindLoop:
		args = []string{s.Kind, "--json", "--no-input", "--key", key, "--push", "origin"}
		add("--signers", w.Signers)
		add("--goal", s.Goal)
	case job.KindPipeline:
		args = []string{"pipeline", "run", "--json", "--no-input", "--push"}
		if st.Do == job.Join {
			add("--join", word)
			add("--signers", w.Signers)
			break
		}
		add("--only", s.Only)
		if s.Parallel > 0 {
			add("--parallel", strconv.Itoa(s.Parallel))
		}
	case job.KindTask: // what asked has left no result
		args = []string{"pipeline", "run", "--json", "--no-input", "--push", "--only", s.Only, "--key", s.Key}
		add("--signers", w.Signers)
	case job.KindAudit:
		args = []string{"audit", "start", "--json", "--no-input", "--", s.Service}
		if st.N > 0 {
			args = []string{"audit", word, "--json", "--no-input"}
			if word == "continue" {
				args = append(args, "--yes")
			}
			args = append(args, "--", st.Of)
		}
	}
	if s.Task != nil {
		args, in = append(args, "--task", "-"), s.Task
	}
	if s.Kind == job.KindLoop {
		add("--mode", s.Mode)
		if s.MaxTicks > 0 {
			add("--max-ticks", strconv.Itoa(s.MaxTicks-st.Ticks))
		}
		if !s.Until.IsZero() {
			add("--until", s.Until.Format(time.RFC3339))
		}
		if s.MaxCostUSD > 0 {
			add("--max-cost-usd", strconv.FormatFloat(s.MaxCostUSD, 'f', -1, 64))
		}
	}
	return args, in
}

// relay runs a command of relay and reads its document.
func (w *Worker) relay(ctx context.Context, dir string, in []byte, args ...string) (doc said, out []byte, code int, err error) {
	out, stderr, code, err := w.run(ctx, dir, in, w.Relay, args...)
	if err == nil && json.Unmarshal(out, &doc) != nil {
		err = fmt.Errorf("relay ended with exit code %d: %s\n%s", code, out, stderr)
	}
	return doc, out, code, err
}

// answer gives relay what the operator said, and gives the word of a gate. Where relay takes
// it no more since a lost worker's attempt gave it already, that is no error.
func (w *Worker) answer(ctx context.Context, dir string, s job.Spec, st job.Step, again bool) (string, error) {
	raw, err := w.Blobs.Get(st.Answer.Question)
	var q job.Question
	if err == nil {
		err = json.Unmarshal(raw, &q)
	}
	if err != nil {
		return "", fmt.Errorf("the question can't be read: %w", err)
	}
	text := ""
	if n := st.Answer.Choice; n > 0 && n <= len(q.Choices) {
		text = q.Choices[n-1]
	} else if b, err := w.Blobs.Get(st.Answer.Text); err == nil {
		text = string(b)
	} else {
		return "", fmt.Errorf("the answer can't be read: %w", err)
	}
	args := []string{"answer", "--json", "--no-input", "--", text}
	switch s.Kind {
	case job.KindAudit:
		return text, nil
	case job.KindPipeline, job.KindTask:
		args = []string{"task", "answer", "--json", "--no-input", "--", st.Of, text}
	}
	doc, out, code, err := w.relay(ctx, dir, nil, args...)
	switch {
	case err != nil:
		return "", err
	case code == 0 || again && doc.Code != lockHeld:
		return text, nil
	case doc.What != "" && doc.Code != lockHeld:
		return "", &refusal{doc.stopped, q}
	}
	return "", fmt.Errorf("relay ended with exit code %d: %s", code, doc.said(out))
}

// refusal is an answer that relay did not take: the question still waits.
type refusal struct {
	stopped
	q job.Question
}

// ask is what waits for the operator after a command; nil for nothing.
func (w *Worker) ask(ctx context.Context, dir string, doc said, code int) (*job.Ask, error) {
	if code != 1 {
		return nil, nil
	}
	var q job.Question
	a := &job.Ask{}
	switch {
	case doc.Cycle != nil:
		a.Of, a.Only = doc.Cycle.UUID, true
		q = job.Question{Prompt: "The cycle stands at " + doc.Cycle.State + "; its report says more.", Choices: []string{"resume", "abort"}}
		file := ""
		switch doc.Cycle.State {
		case "AWAITING_REVIEW":
			q, file = job.Question{Prompt: "Is this plan to be carried out?", Choices: []string{"continue", "abort"}}, "plan.md"
		case "AWAITING_ACCEPTANCE":
			q, file = job.Question{Prompt: "Is this revision accepted?", Choices: []string{"accept", "iterate", "abort"}}, "revision.diff"
		}
		if b, err := os.ReadFile(filepath.Join(doc.Dir, file)); file != "" && err == nil {
			q.Prompt += "\n\n" + string(b[:min(len(b), maxShown)])
		}
	case len(doc.Waiting) > 0:
		a.Of = doc.Waiting[0]
		out, _, _, err := w.run(ctx, dir, nil, w.Relay, "task", "show", "--json", "--", a.Of)
		if err != nil {
			return nil, err
		}
		var task struct {
			Attempts []struct {
				Waiting *struct {
					Text string `json:"text"`
				} `json:"waiting"`
			} `json:"attempts"`
		}
		if json.Unmarshal(out, &task) != nil || len(task.Attempts) == 0 || task.Attempts[0].Waiting == nil {
			return nil, nil
		}
		q.Prompt = "task " + a.Of + ": " + task.Attempts[0].Waiting.Text
	case doc.Report != nil && doc.Report.Question != nil:
		a.Of, q = doc.Report.RunID, *doc.Report.Question
	default:
		return nil, nil // a budget or a milestone: the caller looks at the report and asks for another run
	}
	return w.put(a, q)
}

// maxShown is the most of a plan or a revision that a question shows, in bytes.
const maxShown = 1 << 20

func (w *Worker) put(a *job.Ask, q job.Question) (_ *job.Ask, err error) {
	raw, err := json.Marshal(q)
	if err == nil {
		a.Choices = len(q.Choices)
		a.Question, err = w.Blobs.Put(raw)
	}
	return a, err
}

// cycle resumes or aborts the cycle of a service that an attempt has begun here.
func (w *Worker) cycle(ctx context.Context, dir, service, verb string) (doc said, out []byte, code int, err error) {
	out, _, _, err = w.run(ctx, dir, nil, w.Relay, "status", "--json")
	var status struct {
		Cycles []struct {
			UUID    string `json:"uuid"`
			Service string `json:"service_id"`
		} `json:"cycles"`
	}
	if err == nil && json.Unmarshal(out, &status) == nil {
		for _, c := range status.Cycles {
			if c.Service == service {
				return w.relay(ctx, dir, nil, "audit", verb, "--json", "--no-input", "--", c.UUID)
			}
		}
	}
	return doc, out, 3, errors.Join(err, errors.New("the cycle that an earlier attempt began is not here"))
}

// pushCycle brings a cycle's branch to the remote, where nobody else has moved it.
func (w *Worker) pushCycle(ctx context.Context, dir string, doc said) (tip string, err error) {
	ref := "refs/heads/" + doc.Cycle.Branch
	out, _, code, err := w.run(ctx, dir, nil, "git", "rev-parse", "--verify", "--quiet", ref)
	if tip = strings.TrimSpace(string(out)); err != nil || code != 0 || tip == doc.Cycle.Base {
		return "", err
	}
	was, _, _, err := w.run(ctx, dir, nil, "git", "rev-parse", "--verify", "--quiet", "refs/remotes/origin/"+doc.Cycle.Branch)
	if err != nil {
		return "", err
	}
	_, stderr, code, err := w.run(ctx, dir, nil, "git", "push", "--quiet", "--no-follow-tags", "--force-with-lease="+ref+":"+strings.TrimSpace(string(was)), "origin", tip+":"+ref)
	if err == nil && code != 0 {
		err = fmt.Errorf("%w: the cycle's branch is not pushed: %s", errRefused, stderr)
	}
	return tip, err
}

// spent is what calls have cost here since a time, as relay has it.
func (w *Worker) spent(ctx context.Context, dir string, since time.Time) (s job.Spend) {
	out, _, _, err := w.run(ctx, dir, nil, w.Relay, "cost", "--json", "--since", time.Since(since).String())
	var doc struct {
		Total struct {
			Calls   int      `json:"calls"`
			CostUSD *float64 `json:"cost_usd"`
			Unknown int      `json:"unknown_cost_calls"`
		} `json:"total"`
	}
	if err != nil || json.Unmarshal(out, &doc) != nil {
		return s
	}
	s.Calls, s.Unknown = doc.Total.Calls, doc.Total.Unknown
	if usd := doc.Total.CostUSD; usd != nil {
		s.MicroUSD = int64(math.Round(*usd * 1e6))
	}
	return s
}
