package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
)

func newConfigCmd(a *app) *cobra.Command {
	return parent("config", "Show the configuration in force", "relay config show\nrelay config show budgets --origin\nrelay config validate",
		groupSetup, newConfigShowCmd(a), newConfigValidateCmd(a))
}

type configShowOptions struct {
	app    *app
	key    string
	origin bool
}

func newConfigShowCmd(a *app) *cobra.Command {
	o := &configShowOptions{app: a}
	cmd := &cobra.Command{
		Use:     "show [KEY]",
		Short:   "Every value, or those under KEY",
		Long:    "Prints the configuration after all layers: built-in, user, repository, RELAY_* and --set.",
		Example: "relay config show --origin          # and where each value came from\nrelay config show verification",
		Args:    oneArg(&o.key, "key"),
		RunE:    runE(o, runConfigShow),

		ValidArgsFunction: completeKeys,
	}
	cmd.Flags().BoolVar(&o.origin, "origin", false, "say where each value came from")
	return cmd
}

func newConfigValidateCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "validate",
		Short:   "Whether every layer can be read and every value is allowed",
		Long:    "Reads the configuration as a run does, and says which file, line and key is wrong, with exit code 3.\nStarts nothing; relay doctor tries the programs and plugins that it names.",
		Example: "relay config validate\nrelay config validate --set budgets.per_milestone.max_ticks=many",
		Args:    noArgs,
		RunE:    runE(&configShowOptions{app: a}, runConfigValidate),
	}
}

func runConfigValidate(ctx context.Context, o *configShowOptions) error {
	repo, err := o.app.open()
	if err != nil {
		return err
	}
	c, err := repo.ConfigShow(ctx)
	if err != nil {
		return err
	}
	return o.app.done(c, func(p *printer) {
		file := "no file of this repository's"
		if rel, err := filepath.Rel(repo.Root(), c.File); err == nil && c.File != "" {
			file = host.Safe(rel)
		}
		p.linef("%s %s, %s", p.green("valid:"), file, plural(len(c.Values), "value", "values"))
		for _, n := range c.Notices {
			p.linef("%s %s", p.yellow("notice:"), host.Safe(n))
		}
	})
}

func runConfigShow(ctx context.Context, o *configShowOptions) error {
	repo, err := o.app.open()
	if err != nil {
		return err
	}
	c, err := repo.ConfigShow(ctx)
	if err != nil {
		return err
	}
	if o.key != "" {
		var under []host.ConfigValue
		for _, v := range c.Values {
			if v.Key == o.key || strings.HasPrefix(v.Key, o.key+".") || strings.HasPrefix(v.Key, o.key+"[") {
				under = append(under, v)
			}
		}
		if len(under) == 0 {
			return usageError{what: fmt.Sprintf("there is no configuration key %q", o.key), fix: "`relay config show` lists all keys"}
		}
		c.Values = under
	}
	return o.app.done(c, func(p *printer) {
		for _, v := range c.Values {
			line := v.Key + " = " + host.Safe(encoded(v.Value))
			if o.origin {
				line += "  " + p.dim("# "+host.Safe(origin(v.Origin)))
			}
			p.linef("%s", line)
		}
		for _, n := range c.Notices {
			p.linef("%s %s", p.yellow("notice:"), host.Safe(n))
		}
	})
}

// origin is where a value came from, in one phrase.
func origin(o host.ConfigOrigin) string {
	if o.Note != "" {
		return o.String() + " (" + o.Note + ")"
	}
	return o.String()
}

// encoded is a value as it would stand in relay.config.json.
func encoded(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimRight(b.String(), "\n")
}
