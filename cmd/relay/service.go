package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycles"
)

type serviceOptions struct {
	app *app
	id  string
}

func newServiceCmd(a *app) *cobra.Command {
	sub := func(use, short, example string, args func(*string) cobra.PositionalArgs, run func(context.Context, *host.Repo, *serviceOptions) error) *cobra.Command {
		o := &serviceOptions{app: a}
		return &cobra.Command{Use: use, Short: short, Example: example, Args: args(&o.id), RunE: inRepo(a, o, run), ValidArgsFunction: completeServices(a)}
	}
	none := func(*string) cobra.PositionalArgs { return noArgs }
	one := func(to *string) cobra.PositionalArgs { return needArg(to, "service", "relay audit service list") }
	maybe := func(to *string) cobra.PositionalArgs { return oneArg(to, "service") }
	return parent("service", "The services that audit cycles work on", "relay audit service new A-202\nrelay audit service check A-202", "",
		sub("list", "List services", "relay audit service list", none, runServiceList),
		sub("show SERVICE", "One service, and where each value comes from", "relay audit service show A-202", one, runServiceShow),
		sub("check [SERVICE]", "Check whether a cycle could begin, and what auditors would read", "relay audit service check A-202", maybe, runServiceCheck),
		sub("new SERVICE", "Write a service file", "relay audit service new A-202", one, runServiceNew),
	)
}

func runServiceList(ctx context.Context, repo *host.Repo, o *serviceOptions) error {
	res, err := cycles.Services(ctx, repo)
	return o.app.done(res, err, func(p *printer) {
		if len(res.Services) == 0 {
			p.linef("There are no services.")
			p.next("`relay audit service new NAME`")
			return
		}
		var rows [][]string
		for _, s := range res.Services {
			state := s.State
			switch {
			case s.Problem != "":
				state = p.red("broken: " + shorten(s.Problem, 80))
			case s.Cycle != "":
				state = s.Cycle + " " + s.State
			case !s.Trusted:
				state = p.yellow("not trusted: relay trust " + s.ID)
			}
			rows = append(rows, []string{s.ID, host.Safe(s.Name), state})
		}
		p.table(rows)
	})
}

func runServiceShow(ctx context.Context, repo *host.Repo, o *serviceOptions) error {
	res, err := cycles.ShowService(ctx, repo, o.id)
	return o.app.done(res, err, func(p *printer) { serviceText(p, res) })
}

func serviceText(p *printer, res *cycles.ServiceResult) {
	var rows [][]string
	for _, v := range res.Values {
		b, err := json.Marshal(v.Value)
		if err != nil {
			continue
		}
		rows = append(rows, []string{v.Key, shorten(string(b), 80), p.dim(host.Safe(v.Origin.String()))})
	}
	p.table(rows)
	for _, w := range res.Warnings {
		p.row("note", p.yellow(host.Safe(w)))
	}
	p.row("next", "the next cycle is revised by "+host.Safe(res.Service.Reviser))
	if !res.Service.Trusted {
		p.next("`relay trust " + res.Service.ID + "`")
	}
}

func runServiceCheck(ctx context.Context, repo *host.Repo, o *serviceOptions) error {
	res, err := cycles.CheckService(ctx, repo, o.id)
	if err != nil {
		return err
	}
	code := host.ExitDone
	if !res.OK {
		code = host.ExitBlocked
	}
	return o.app.end(code, res, func(p *printer) {
		checkLines(p, res.Checks)
		if res.OK && o.id != "" {
			p.next("`relay audit start " + host.Safe(o.id) + "`")
		}
	})
}

func runServiceNew(ctx context.Context, repo *host.Repo, o *serviceOptions) error {
	res, err := cycles.NewService(ctx, repo, o.id)
	return o.app.done(res, err, func(p *printer) {
		p.linef("%s %s", p.green("written:"), host.Safe(res.Service.File))
		p.next("`${EDITOR:-vi} " + res.Service.File + "`, then `relay trust " + res.Service.ID + "`")
	})
}

type rotateOptions struct {
	app *app
	id  string
}

func newRotateCmd(a *app) *cobra.Command {
	o := &rotateOptions{app: a}
	return &cobra.Command{
		Use:     "rotate SERVICE",
		Short:   "Let the next model revise",
		Long:    "Who revises alternates from cycle to cycle, so that no model inherits its own habits. This moves the\nturn on by hand.",
		Example: "relay audit rotate A-202",
		Args:    needArg(&o.id, "service", "relay audit service list"),
		RunE:    inRepo(a, o, runRotate),

		ValidArgsFunction: completeServices(a),
	}
}

func runRotate(ctx context.Context, repo *host.Repo, o *rotateOptions) error {
	res, err := cycles.Rotate(ctx, repo, o.id)
	return o.app.done(res, err, func(p *printer) {
		p.linef("the next cycle of %s is revised by %s", res.Service.ID, host.Safe(res.Service.Reviser))
	})
}
