package pluginenv

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/pluginhost"
	"github.com/paxiom/relay/host/internal/quota"
	"github.com/paxiom/relay/host/internal/report"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// Choice is a provider or builder with its model; "" is the plugin's own.
type Choice struct {
	Name, Model string
	First       bool // the one that is configured, or that the task names
}

// String writes it as the configuration does.
func (c Choice) String() string {
	if c.Model == "" {
		return c.Name
	}
	return c.Name + "/" + c.Model
}

// Lineup is who can do the work of one role, in the order in which they are asked. It
// is never empty.
type Lineup struct {
	Limits []report.Limit // met since the last Settle

	env   Env
	role  string
	all   []Choice
	at    int
	known []report.Limit // of those that other runs of this machine have met lately
}

// Choices are the configured one and its fallback, entries like "codex/gpt-5.5".
func Choices(name, model string, fallback []string) []Choice {
	all := []Choice{{catalog.Canonical(name), model, true}}
	for _, text := range fallback {
		name, model, _ := strings.Cut(text, "/")
		c := Choice{Name: catalog.Canonical(name), Model: model}
		if !slices.ContainsFunc(all, func(o Choice) bool { return o.Name == c.Name && o.Model == c.Model }) {
			all = append(all, c)
		}
	}
	return all
}

// Lineup is the lineup of these [Choices].
func (e Env) Lineup(role, name, model string, fallback []string) *Lineup {
	return e.LineupOf(role, Choices(name, model, fallback))
}

// LineupOf puts choices into the order in which they are asked: those of which it is known
// that their vendor refuses them now come last. They are asked all the same when nobody
// else answers.
func (e Env) LineupOf(role string, all []Choice) *Lineup {
	l := &Lineup{env: e, role: role, all: all}
	if len(l.all) == 1 {
		return l
	}
	var later []Choice
	l.all = slices.DeleteFunc(l.all, func(c Choice) bool {
		known := e.Account(c.Name).Known(c.Model)
		if known == nil {
			return false
		}
		known.Role, known.Provider = role, c.Name
		l.known = append(l.known, *known)
		later = append(later, c)
		return true
	})
	l.all = append(l.all, later...)
	return l
}

// Now is whose turn it is, Last whether nobody comes after, and Next passes on.
func (l *Lineup) Now() Choice { return l.all[l.at] }
func (l *Lineup) Last() bool  { return l.at == len(l.all)-1 }
func (l *Lineup) Next()       { l.at++ }

// Met keeps the limit or outage that the present choice has met, and tells the other
// runs of the machine. It is false for every other end of a call.
func (l *Lineup) Met(f *pluginhost.Failure) bool {
	if f == nil {
		return false
	}
	c := l.Now()
	limit := quota.LimitOf(f, l.role, c.Name, c.Model, l.env.now())
	if limit == nil {
		return false
	}
	l.Limits = append(l.Limits, *limit)
	_ = l.env.Account(c.Name).Refused(*limit) // at worst another run finds out by itself
	return true
}

// Settle says that the present choice did the work, or failed in its own way, and for
// whom it stood in.
func (l *Lineup) Settle(answered bool) []report.Switch {
	c := l.Now()
	var out []report.Switch
	for _, from := range append(l.Limits, l.known...) {
		if from.Provider != c.Name || from.Model != c.Model {
			out = append(out, report.Switch{From: from, ToProvider: c.Name, ToModel: c.Model})
		}
	}
	l.Limits, l.known = nil, nil
	if answered {
		_ = l.env.Account(c.Name).Answered(c.Model) // at worst it is asked last for a while
	}
	return out
}

// vendorOf is whose account a builder uses that drives a vendor's program.
var vendorOf = map[string]string{"claude-code": "claude", "codex-exec": "codex", "gemini-cli": "gemini"}

// Vendor is the provider whose vendor's models a plugin asks: itself, unless it is a
// builder that drives a vendor's program.
func Vendor(plugin string) string { return cmp.Or(vendorOf[plugin], plugin) }

// Account is the account that a plugin uses, as the whole machine shares it.
func (e Env) Account(plugin string) *quota.Account {
	own := e.account(plugin)
	name := cmp.Or(own.Account, Vendor(plugin))
	if own.CallsPerMinute == 0 { // the rate of the provider whose account it is
		own = e.account(name)
	}
	return quota.Open(e.StateDir, name, quota.Rate{PerMinute: own.CallsPerMinute, Burst: own.Burst}, e.now)
}

func (e Env) account(plugin string) config.Account {
	for name, a := range e.Config.Providers {
		if catalog.Canonical(name) == plugin {
			return a
		}
	}
	return config.Account{}
}

func (e Env) now() time.Time {
	if e.Now != nil {
		return e.Now()
	}
	return time.Now()
}

// Admit waits for a call's turn on its account; told is called once when there is
// something to wait for. A rate that leaves no room within the call's time is a limit
// like a vendor's own.
func (e Env) Admit(ctx context.Context, plugin, role, rpc string, told func(time.Duration)) (*pluginhost.Failure, error) {
	most := time.Duration(1<<63 - 1)
	if end, ok := ctx.Deadline(); ok {
		most = time.Until(end)
	}
	err := e.Account(plugin).Take(ctx, e.Root+" "+role, most, told)
	var late *quota.NotYet
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &late):
		return &pluginhost.Failure{Cause: pluginhost.Reported, Plugin: plugin, RPC: rpc, Reason: pluginpb.Failure_REASON_RATE_LIMITED,
			Effect: pluginpb.Failure_EFFECT_NONE, Summary: "the rate that is set for the account of " + plugin + " is used up", Detail: late.Error(),
			Fix: "`relay config show providers`", ResetAt: late.Turn, LimitName: "calls_per_minute"}, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, diag.Wrap(err, judge.BlockedPlugin, "the rate set for "+plugin+" can't be kept", "`ls -ld "+e.StateDir+"/accounts`")
}
