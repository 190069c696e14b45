package sdk

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// Info is what a plugin says about itself before it is configured. It is constant:
// no file, network, environment or clock goes into it.
type Info struct {
	// Name is the plugin's name: a lower-case letter, then at most 31 lower-case
	// letters, digits or dashes. The binary is called relay-plugin-Name.
	Name string
	// Version is the semantic version of the plugin.
	Version string
	// Summary is one line for lists of plugins.
	Summary string
	// Homepage is a URL; may be empty.
	Homepage string
	// Aliases are other names under which a configuration may call the plugin; they
	// may have underscores too.
	Aliases []string
	// Env is every variable that the plugin wants from the host's environment. It
	// gets no other, apart from the few that every plugin gets.
	Env []EnvVar
	// Programs are the programs that the plugin starts, for example "claude".
	Programs []string
	// Hosts are the network hosts that it talks to, for example "api.anthropic.com".
	Hosts []string
	// Reads and Writes are files and folders, beyond its own and a builder's workspace,
	// that the plugin reads or writes: absolute, below the home ("~/.config/x"), or "."
	// for the repository.
	Reads, Writes []string
	// ConfigSchema is a JSON Schema 2020-12 of the plugin's configuration,
	// self-contained, at most 256 KiB, each property with a description. Empty: the
	// plugin takes no configuration.
	ConfigSchema []byte
}

// EnvVar is one wish for a variable of the host's environment.
type EnvVar struct {
	Name     string
	Purpose  string // one line for the person who grants it
	Secret   bool   // its value must never be shown or logged
	Required bool   // without it the plugin can do nothing
}

// MaxConfigSchema is the largest Info.ConfigSchema, in bytes.
const MaxConfigSchema = 256 << 10

// Part is something that a plugin offers: a Provider or a Builder.
type Part interface {
	kind() pluginpb.GetInfoResponse_Kind
	capabilities() *pluginpb.Capabilities
	common() common
}

// common is what the Base service needs of every part.
type common struct {
	configure  configureFunc
	health     healthFunc
	concurrent bool
}

var (
	nameRE    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	aliasRE   = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)
	versionRE = regexp.MustCompile(`^v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$`)
)

// check finds mistakes of the author, with a text for the author.
func (i Info) check() error {
	switch {
	case !nameRE.MatchString(i.Name):
		return fmt.Errorf("sdk.Info.Name is %q; it must match %s", i.Name, nameRE)
	case !versionRE.MatchString(i.Version):
		return fmt.Errorf("sdk.Info.Version is %q; it must be a semantic version such as 1.2.3", i.Version)
	case strings.ContainsAny(i.Summary, "\r\n"):
		return fmt.Errorf("sdk.Info.Summary must be one line")
	case len(i.ConfigSchema) > MaxConfigSchema:
		return fmt.Errorf("sdk.Info.ConfigSchema has %d bytes; the limit is %d", len(i.ConfigSchema), MaxConfigSchema)
	case len(i.ConfigSchema) > 0 && !json.Valid(i.ConfigSchema):
		return fmt.Errorf("sdk.Info.ConfigSchema is not JSON")
	}
	for _, a := range i.Aliases {
		if !aliasRE.MatchString(a) {
			return fmt.Errorf("sdk.Info.Aliases has %q; it must match %s", a, aliasRE)
		}
	}
	return nil
}

// proto gives the answer to GetInfo: what the author wrote and what follows from
// the parts.
func (i Info) proto(parts []Part) *pluginpb.GetInfoResponse {
	out := &pluginpb.GetInfoResponse{
		Name: i.Name, Version: i.Version, Summary: i.Summary, Homepage: i.Homepage,
		Aliases: i.Aliases, Programs: i.Programs, NetworkHosts: i.Hosts, Reads: i.Reads, Writes: i.Writes,
		ConfigSchemaJson: i.ConfigSchema,
		Capabilities:     &pluginpb.Capabilities{Concurrent: true},
	}
	for _, e := range i.Env {
		out.Env = append(out.Env, &pluginpb.GetInfoResponse_EnvVar{
			Name: e.Name, Purpose: e.Purpose, Secret: e.Secret, Required: e.Required,
		})
	}
	all := out.Capabilities
	for _, p := range parts {
		out.Kinds = append(out.Kinds, p.kind())
		c := p.capabilities()
		all.ListModels = all.ListModels || c.ListModels
		all.CountTokens = all.CountTokens || c.CountTokens
		all.OutputSchema = all.OutputSchema || c.OutputSchema
		all.ReportsCost = all.ReportsCost || c.ReportsCost
		all.ReportsLimits = all.ReportsLimits || c.ReportsLimits
		all.Resume = all.Resume || c.Resume
		all.Concurrent = all.Concurrent && c.Concurrent
	}
	return out
}
