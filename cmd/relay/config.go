package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/setup"
)

func newConfigCmd(a *app) *cobra.Command {
	return parent("config", "Show the configuration in force, and change it", "relay config show\nrelay config show budgets --origin\nrelay config set runner.max_tick_seconds 1800",
		groupSetup, newConfigShowCmd(a), newConfigSetCmd(a), newConfigValidateCmd(a))
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
		RunE:    inRepo(a, o, runConfigShow),

		ValidArgsFunction: completeKeys,
	}
	cmd.Flags().BoolVar(&o.origin, "origin", false, "say where each value came from")
	return cmd
}

type configSetOptions struct {
	app        *app
	key, value string
	user       bool
}

func newConfigSetCmd(a *app) *cobra.Command {
	o := &configSetOptions{app: a}
	cmd := &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Write one value into the configuration file",
		Long: "Writes VALUE into the repository's JSON file, or with --user into your own. A list is written as\n" +
			"a,b or as JSON. A value that the configuration can't have leaves the file unchanged.",
		Example: "relay config set runner.max_tick_seconds 1800\nrelay config set scope.default_allowed_globs 'src/**,docs/**'\nrelay config set --user orchestrator.provider claude",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError{what: "relay config set needs a key and a value", fix: "`relay config set --help`"}
			}
			o.key, o.value = args[0], args[1]
			return nil
		},
		RunE: inRepo(a, o, runConfigSet),

		ValidArgsFunction: completeKeys,
	}
	cmd.Flags().BoolVar(&o.user, "user", false, "for all repositories: into your own file")
	return cmd
}

func runConfigSet(ctx context.Context, repo *host.Repo, o *configSetOptions) error {
	file, err := setup.SetConfig(ctx, repo, o.key+"="+o.value, o.user)
	if err != nil {
		return err
	}
	doc := configSetDoc{host.Doc{Kind: "relay.config_set", Version: 1}, file, o.key}
	return o.app.done(doc, nil, func(p *printer) {
		if rel, err := filepath.Rel(repo.Root(), file); err == nil && filepath.IsLocal(rel) {
			file = rel
		}
		p.linef("%s %s in %s", p.green("set:"), host.Safe(o.key), host.Safe(file))
		if repo.Root() != "" {
			p.next("`relay config show " + host.Safe(o.key) + " --origin`")
		}
	})
}

func newConfigValidateCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "validate",
		Short:   "Whether every layer can be read and every value is allowed",
		Long:    "Reads the configuration as a run does, and says which file, line and key is wrong, with exit code 3.\nStarts nothing; relay doctor tries the programs and plugins that it names.",
		Example: "relay config validate\nrelay config validate --set budgets.per_milestone.max_ticks=many",
		Args:    noArgs,
		RunE:    inRepo(a, &configShowOptions{app: a}, runConfigValidate),
	}
}

func runConfigValidate(ctx context.Context, repo *host.Repo, o *configShowOptions) error {
	c, err := setup.ShowConfig(ctx, repo)
	return o.app.done(c, err, func(p *printer) {
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

func runConfigShow(ctx context.Context, repo *host.Repo, o *configShowOptions) error {
	c, err := setup.ShowConfig(ctx, repo)
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
			return usageError{what: fmt.Sprintf("the configuration has no key %q", o.key), fix: "`relay config show` lists all keys"}
		}
		c.Values = under
	}
	return o.app.done(c, nil, func(p *printer) {
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
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimRight(string(host.SafeJSON(b.Bytes())), "\n")
}

// configSetDoc is the document of relay config set.
type configSetDoc struct {
	host.Doc
	File string `json:"file"`
	Key  string `json:"key"`
}
