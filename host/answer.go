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

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/host/loop"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// maxAnswer is the longest answer, in bytes: it goes into the next prompt.
const maxAnswer = 8 << 10

// Answer records the operator's answer to the question of the last run. A number
// picks one of the offered choices. run is the one whose question was read, so that an
// answer is given to no other; "" is whichever waits.
func (r *Repo) Answer(ctx context.Context, run, answer string) (*AnswerResult, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	release, err := o.Lock("relay answer")
	if err != nil {
		return nil, err
	}
	defer r.NoteNeeds(false)
	defer release()
	q, err := openQuestion(o)
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedCrashRecovery, "relay can't read whether a question is waiting", "`relay recover`")
	}
	if q == nil {
		return nil, diag.New("", "no question is open", "no run has asked one, or it has been answered", "`relay status`")
	}
	if run != "" && q.RunID != run {
		return nil, diag.New("", "nothing was answered", "the question that you read is no longer open; another one is: "+q.Prompt, "`relay status`")
	}
	answer, err = choose(answer, q.Choices)
	if err != nil {
		return nil, err
	}
	book, _, err := ledger.Open(o.WS, o.Loaded.Config.Budgets, r.StateDir())
	if err != nil {
		return nil, err
	}
	a := ledger.Answer{RunID: q.RunID, Prompt: q.Prompt, Answer: answer, At: time.Now().UTC()}
	if err := book.Answer(a); err != nil {
		return nil, err
	}
	res := &AnswerResult{Doc: DocOf("relay.answer", 1), RunID: q.RunID, Prompt: a.Prompt, Answer: answer}
	approve := func(w *trust.Wish) attest.Approval {
		yes, why := r.Approve(ctx, o.Root, a.At, func(git *git.Repo) (yes attest.Approved, err error) {
			if w.Built != nil {
				return attest.Approved{Kind: "policy", Touched: w.Built.Touched}, nil
			}
			yes.Kind = attest.Beyond
			if yes.Base, _, err = git.Head(ctx); err == nil {
				yes.Task, err = w.Digest()
			}
			return yes, err
		})
		if res.Key = yes.KeyOrNone(); why != nil {
			res.Unsigned = why.Error()
		}
		return yes
	}
	if err := r.TrustStore().AnswerWish(o.Root, q.RunID, answer, approve); err != nil {
		return nil, diag.Wrap(err, "", "the answer could not be kept for the task that was asked about", "`relay run` plans it again")
	}
	if err := os.Remove(o.WS.Stuck()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, diag.Wrap(err, "", "relay's list of failed tasks could not be cleared", "`rm "+diag.Word(o.WS.Stuck())+"`")
	}
	res.Next = "`" + cmp.Or(o.loopThatAsked(q.RunID), "relay run") + "`"
	return res, nil
}

// loopThatAsked is the command that continues the loop of a run; "" where none ended at
// its question.
func (o *Opened) loopThatAsked(run string) string {
	m, err := o.History.Get(run)
	last, lerr := loop.Last(o.WS)
	if err != nil || lerr != nil || last == nil || m.Loop != last.ID || last.Reason != loop.Question {
		return ""
	}
	return last.Again
}

// choose turns a number into the choice that it stands for, and checks the text.
func choose(answer string, choices []string) (string, error) {
	answer = strings.TrimSpace(answer)
	switch {
	case strings.Trim(answer, ".… ") == "": // as a suggestion has it
		return "", diag.New("", "the answer is empty", "the next prompt needs words", "`relay answer \"your answer\"`")
	case !utf8.ValidString(answer):
		return "", diag.New("", "the answer is not UTF-8 text", "it goes into a prompt as it is", "`relay answer \"your answer\"`")
	case len(answer) > maxAnswer:
		return "", diag.New("", "the answer is too long", fmt.Sprintf("it has %d bytes, the limit is %d", len(answer), maxAnswer), "put the long text into FACTS.md of the workspace and run `relay answer \"see FACTS.md\"`")
	}
	n, err := strconv.Atoi(answer)
	if err != nil || len(choices) == 0 {
		return answer, nil
	}
	if n < 1 || n > len(choices) {
		return "", diag.New(judge.Code(""), fmt.Sprintf("the question has no choice %d", n), fmt.Sprintf("it offers 1 to %d", len(choices)), "`relay status` shows them")
	}
	return choices[n-1], nil
}

// AnswerResult says which question was answered.
type AnswerResult struct {
	Doc
	RunID  string `json:"run_id"`
	Prompt string `json:"prompt"`
	Answer string `json:"answer"` // as recorded
	// Key is of who gave the approval that the answer is; Unsigned says why git's SSH key did
	// not sign it.
	Key      string `json:"key,omitempty"`
	Unsigned string `json:"unsigned,omitempty"` // why no key signed it
	Next     string `json:"next"`
}
