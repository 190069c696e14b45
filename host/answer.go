package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/lock"
	"github.com/paxiom/relay/judge"
)

// maxAnswer is the longest answer, in bytes: it goes into the next prompt.
const maxAnswer = 8 << 10

// Answer records the operator's answer to the question of the last run. A number
// picks one of the offered choices.
func (r *Repo) Answer(ctx context.Context, answer string) (*AnswerResult, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	if err := o.ws.Ensure(); err != nil {
		return nil, err
	}
	l, _, err := lock.Acquire(o.ws.Lock(), "relay answer")
	if err != nil {
		return nil, err
	}
	defer l.Release()
	rep, err := openQuestion(o)
	if err != nil || rep == nil {
		return nil, fault.New("", "there is no question to answer", "the last run asked nothing, or its question has been answered", "`relay status`")
	}
	answer, err = choose(answer, rep.Question.Choices)
	if err != nil {
		return nil, err
	}
	book, _, err := ledger.Open(o.ws, o.loaded.Config.Budgets, r.stateDir())
	if err != nil {
		return nil, err
	}
	a := ledger.Answer{RunID: rep.RunID, Prompt: rep.Question.Prompt, Answer: answer, At: time.Now().UTC()}
	if err := book.Answer(a); err != nil {
		return nil, err
	}
	if err := os.Remove(o.ws.Stuck()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fault.Wrap(err, "", "what relay remembers of tasks that did not work could not be forgotten", "`rm "+fault.Word(o.ws.Stuck())+"`")
	}
	return &AnswerResult{Doc: Doc{"relay.answer", 1}, RunID: rep.RunID, Prompt: a.Prompt, Answer: answer, Next: "`relay run`"}, nil
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
