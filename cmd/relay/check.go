package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/checkcmd"
)

func newCheckCmd(a *app) *cobra.Command {
	cmd := parent("check", "Checks, and those that no builder sees", "relay check list\nrelay check new ranges --hidden --lang python\nrelay check run --hidden",
		groupSetup, newCheckListCmd(a), newCheckNewCmd(a), newCheckAddCmd(a), newCheckRunCmd(a))
	cmd.AddCommand(newCheckHTTPCmd())
	return cmd
}

type checkOptions struct {
	app    *app
	ids    []string
	hidden bool
	seed   uint64
}

func newCheckListCmd(a *app) *cobra.Command {
	o := &checkOptions{app: a}
	return &cobra.Command{
		Use: "list", Short: "The checks of this repository, and hidden ones for it", Example: "relay check list\nrelay check list --json | jq -r '.checks[].id'",
		Args: noArgs, RunE: inRepo(a, o, runCheckList),
	}
}

func runCheckList(ctx context.Context, repo *host.Repo, o *checkOptions) error {
	res, err := checkcmd.List(ctx, repo)
	return o.app.done(res, err, func(p *printer) {
		rows := [][]string{{"check", "counts", "command"}}
		hidden := false
		for _, c := range res.Checks {
			when := "where a task asks"
			switch {
			case c.Draft:
				when = "not yet: a draft in " + c.Folder
			case c.OnRequest:
				when = "by hand, and where a task asks"
			case c.Required:
				when = "for every change"
			}
			if c.Hidden {
				hidden, when = true, "hidden, "+when
			}
			rows = append(rows, []string{host.Safe(c.ID), host.Safe(when), shorten(strings.Join(c.Command, " "), 60)})
		}
		if len(rows) == 1 {
			p.linef("No checks: changes land unchecked.")
			p.next("`relay help config verification.templates` says how to add one")
			return
		}
		p.table(rows)
		if !hidden {
			p.linef("No hidden check: relay does not look for hard-coded answers.")
		}
	})
}

func newCheckRunCmd(a *app) *cobra.Command {
	o := &checkOptions{app: a}
	cmd := &cobra.Command{
		Use: "run --hidden [CHECK...]", Short: "Run hidden checks on the last commit",
		Long: "run starts hidden checks by hand, all of them or those that you name, and prints what they print.\n" +
			"Nothing changes. With --seed a check makes the same values as in the run that reported the seed.",
		Example: "relay check run --hidden\nrelay check run --hidden ranges --seed 7342",
		Args:    func(_ *cobra.Command, args []string) error { o.ids = args; return nil },
		RunE:    inRepo(a, o, runCheckRun),
	}
	cmd.Flags().BoolVar(&o.hidden, "hidden", false, "run hidden checks")
	cmd.Flags().Uint64Var(&o.seed, "seed", 0, "make the values of an earlier run again: its `SEED`")
	return cmd
}

func runCheckRun(ctx context.Context, repo *host.Repo, o *checkOptions) error {
	if !o.hidden {
		return usageError{what: "only hidden checks are run by hand", why: "the others are commands that you can type", fix: "`relay check run --hidden`, or `relay check list`"}
	}
	res, err := checkcmd.RunHidden(ctx, repo, checkcmd.RunOptions{IDs: o.ids, Seed: o.seed})
	if err != nil {
		return err
	}
	err = o.app.done(res, nil, func(p *printer) {
		for _, r := range res.Results {
			for line := range strings.Lines(r.Output) {
				p.linef("%s", host.SafeLine(strings.TrimSuffix(line, "\n")))
			}
			word := "passed"
			if !r.OK {
				word = "failed"
			}
			p.linef("%s %s: %s", host.Safe(r.ID), word, host.Safe(r.Outcome))
		}
		p.linef("seed %d", res.Seed)
	})
	if err == nil && !res.OK() {
		return exit{2}
	}
	return err
}

// newCheckHTTPCmd is the driver of hidden checks for programs that serve HTTP: it runs in
// the box of the code under test. See package examine.
func newCheckHTTPCmd() *cobra.Command {
	return &cobra.Command{
		Use: "http PORT PROGRAM [ARGUMENT...]", Short: "Call a server for a hidden check", Hidden: true, DisableFlagParsing: true,
		Args: cobra.MinimumNArgs(2), RunE: func(cmd *cobra.Command, args []string) error {
			return callServer(cmd.Context(), args[0], args[1:], os.Stdin, os.Stdout)
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
	}
}

// callServer starts the server and answers calls such as "GET /path" until there are none.
func callServer(ctx context.Context, port string, argv []string, in io.Reader, out io.Writer) error {
	type answer struct {
		Value   any    `json:"value,omitempty"`
		Error   string `json:"error,omitempty"`
		Message string `json:"message,omitempty"`
		Failed  string `json:"failed,omitempty"`
	}
	say := json.NewEncoder(out).Encode
	server := exec.CommandContext(ctx, argv[0], argv[1:]...)
	server.Stdout, server.Stderr = os.Stderr, os.Stderr
	if err := server.Start(); err != nil {
		return say(answer{Failed: err.Error()})
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	client := &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	at := "http://127.0.0.1:" + port
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if res, err := client.Get(at + "/"); err == nil {
			res.Body.Close()
			break
		} else if time.Now().After(deadline) {
			return say(answer{Failed: "the server did not listen within a minute: " + err.Error()})
		}
		select {
		case err := <-ended:
			return say(answer{Failed: fmt.Sprintf("the server ended before it listened: %v", err)})
		default:
		}
	}
	if err := say(answer{}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var q struct {
			Call string
			Args []json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return err
		}
		value, err := request(ctx, client, at, q.Call, q.Args)
		a := answer{Value: value}
		if err != nil {
			a = answer{Error: "request", Message: err.Error()}
		}
		if err := say(a); err != nil {
			return err
		}
	}
	server.Process.Kill()
	return lines.Err()
}

// request makes one request. A body that is a text goes as it is, any other as JSON.
func request(ctx context.Context, client *http.Client, at, call string, args []json.RawMessage) (any, error) {
	method, path, _ := strings.Cut(call, " ")
	var body []byte
	kind := "application/json"
	if len(args) > 0 {
		body = args[0]
		var text string
		if json.Unmarshal(body, &text) == nil {
			body, kind = []byte(text), "text/plain; charset=utf-8"
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, at+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if len(args) > 0 {
		req.Header.Set("Content-Type", kind)
	}
	if len(args) > 1 {
		headers := map[string]string{}
		if err := json.Unmarshal(args[1], &headers); err != nil {
			return nil, err
		}
		for name, v := range headers {
			req.Header.Set(name, v)
		}
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	headers := map[string]string{}
	for name := range res.Header {
		headers[strings.ToLower(name)] = res.Header.Get(name)
	}
	return map[string]any{"status": res.StatusCode, "headers": headers, "body": string(b)}, err
}
