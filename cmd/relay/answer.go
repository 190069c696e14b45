package main

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

type answerOptions struct {
	app  *app
	text string
}

func newAnswerCmd(a *app) *cobra.Command {
	o := &answerOptions{app: a}
	return &cobra.Command{
		Use:   "answer [TEXT|NUMBER]",
		Short: "Answer the question that the last run asked",
		Long: "Records your answer; the next tick's planner reads it. A number picks one of the choices.\n" +
			"Without an argument the question is shown and the answer is read from the terminal.",
		Example: "relay answer \"round up\"\nrelay answer 2",
		GroupID: groupWork,
		Args:    oneArg(&o.text, "answer"),
		RunE:    inRepo(a, o, runAnswer),
	}
}

func runAnswer(ctx context.Context, repo *host.Repo, o *answerOptions) error {
	s, err := repo.Status(ctx, false)
	if err != nil {
		return err
	}
	if o.text == "" && s.Question != "" {
		if o.text, err = askAnswer(o.app, s); err != nil {
			return err
		}
	}
	text, asked := choice(o.text, s.Choices), ""
	if s.Question != "" {
		asked = s.AskedBy
	}
	res, err := repo.Answer(ctx, asked, text)
	return o.app.done(res, err, func(p *printer) {
		p.row("question", host.Safe(res.Prompt))
		p.row("answer", host.Safe(res.Answer))
		if res.Key != "" {
			p.row("signed", res.Key)
		}
		if res.Unsigned != "" {
			p.row("unsigned", host.Safe(res.Unsigned))
		}
		p.next(res.Next)
	})
}

// choice turns the number of a choice into its text.
func choice(text string, choices []string) string {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n >= 1 && n <= len(choices) {
		return choices[n-1]
	}
	return text
}

func askAnswer(a *app, s *host.StatusResult) (string, error) {
	if !a.interactive() {
		return "", usageError{what: "the answer is missing", why: "the question is: " + shorten(s.Question, 200), fix: "`relay answer \"TEXT\"`"}
	}
	p := a.printer(a.err, a.errTTY)
	question(p, s)
	p.write("> ")
	line, err := bufio.NewReader(io.LimitReader(a.in, 64<<10)).ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		if err == nil {
			err = usageError{what: "the answer is empty", fix: "`relay answer \"TEXT\"`"}
		}
		return "", err
	}
	return line, nil
}
