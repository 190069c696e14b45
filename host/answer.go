package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/internal/workspace"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/judge"
)

// maxAnswer is the longest answer, in bytes: it goes into the next prompt.
const maxAnswer = 8 << 10

// Answer records the operator's answer to the question of the last run. A number
// picks one of the offered choices. run is the one whose question was read, so that an
// answer is given to no other; "" is whichever waits.
func (r *Repo) Answer(ctx context.Context, run, answer string) (*AnswerResult, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	release, err := o.lock("relay answer")
	if err != nil {
		return nil, err
	}
	defer r.noteNeeds(false)
	defer release()
	q, err := openQuestion(o)
	if err != nil {
		return nil, fault.Wrap(err, judge.BlockedCrashRecovery, "it can't be read whether a question waits", "`relay recover`")
	}
	if q == nil {
		return nil, fault.New("", "there is no question to answer", "no run has asked one, or it has been answered", "`relay status`")
	}
	if run != "" && q.RunID != run {
		return nil, fault.New("", "nothing was answered", "the question that you read waits no more; another one does now: "+q.Prompt, "`relay status`")
	}
	answer, err = choose(answer, q.Choices)
	if err != nil {
		return nil, err
	}
	book, _, err := ledger.Open(o.ws, o.loaded.Config.Budgets, r.stateDir())
	if err != nil {
		return nil, err
	}
	a := ledger.Answer{RunID: q.RunID, Prompt: q.Prompt, Answer: answer, At: time.Now().UTC()}
	if err := book.Answer(a); err != nil {
		return nil, err
	}
	res := &AnswerResult{Doc: Doc{"relay.answer", 1}, RunID: q.RunID, Prompt: a.Prompt, Answer: answer}
	approve := func(b *trust.Built, at time.Time) attest.Approval {
		yes, why := r.approve(ctx, o.root, attest.Approved{Kind: "policy", Touched: b.Touched}, at)
		if res.Key = yes.KeyOrNone(); why != nil {
			res.Unsigned = why.Error()
		}
		return yes
	}
	if err := r.trust().AnswerWish(o.root, q.RunID, answer, approve); err != nil {
		return nil, fault.Wrap(err, "", "the answer could not be kept for the task that was asked about", "`relay run` plans it anew")
	}
	if err := os.Remove(o.ws.Stuck()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fault.Wrap(err, "", "what relay remembers of tasks that did not work could not be forgotten", "`rm "+fault.Word(o.ws.Stuck())+"`")
	}
	res.Next = "`" + cmp.Or(o.loopThatAsked(q.RunID), "relay run") + "`"
	return res, nil
}

// approve makes an approval of the operator's yes, with the key that git signs with.
func (r *Repo) approve(ctx context.Context, root string, yes attest.Approved, at time.Time) (attest.Approval, error) {
	git, err := judge.OpenGit(ctx, root)
	if err != nil {
		return attest.Approval{Kind: yes.Kind, At: at.UTC().Format(attest.Time)}, err
	}
	return attest.Options{Git: git, StateDir: r.stateDir(), Home: r.home(), Environ: r.opts.Env}.Approve(ctx, yes, at)
}

// loopThatAsked is the command that goes on with the loop of a run; "" where none ended at
// its question.
func (o *opened) loopThatAsked(run string) string {
	m, err := o.hist.Get(run)
	last, lerr := loop.Last(o.ws)
	if err != nil || lerr != nil || last == nil || m.Loop != last.ID || last.Reason != loop.Question {
		return ""
	}
	return last.Again
}

// choose turns a number into the choice that it stands for, and checks the text.
func choose(answer string, choices []string) (string, error) {
	answer = strings.TrimSpace(answer)
	switch {
	case answer == "":
		return "", fault.New("", "the answer is empty", "the next prompt needs words", "`relay answer \"your answer\"`")
	case !utf8.ValidString(answer):
		return "", fault.New("", "the answer is not UTF-8 text", "it goes into a prompt as it is", "`relay answer \"your answer\"`")
	case len(answer) > maxAnswer:
		return "", fault.New("", "the answer is too long", fmt.Sprintf("it has %d bytes, the limit is %d", len(answer), maxAnswer), "put the long text into FACTS.md of the workspace and run `relay answer \"see FACTS.md\"`")
	}
	n, err := strconv.Atoi(answer)
	if err != nil || len(choices) == 0 {
		return answer, nil
	}
	if n < 1 || n > len(choices) {
		return "", fault.New(judge.Code(""), fmt.Sprintf("there is no choice %d", n), fmt.Sprintf("the question offers 1 to %d", len(choices)), "`relay status` shows them")
	}
	return choices[n-1], nil
}

// openQuestion gives the question that nobody has answered yet; nil when there is none.
func openQuestion(o *opened) (*ledger.Question, error) {
	st, err := ledger.Read(o.ws)
	if err != nil {
		return nil, err
	}
	return st.Question, nil
}

// readReport reads a report; nil when there is none.
func readReport(path string) (*report.Report, error) {
	raw, err := workspace.ReadFile(path, report.MaxBytes)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return report.Decode(raw)
}
