package host

import (
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/prompts"
)

// ConfigKey is one key of the configuration as help tells it.
type ConfigKey = config.KeyDoc

// ConfigKeys are the configuration's keys that are, or lie below, the given one.
func ConfigKeys(below string) []ConfigKey { return config.Keys(below) }

// PromptRole is one pair of prompts that an operator may replace.
type PromptRole struct {
	Name         string
	Placeholders []string // each in double braces, sorted
}

// PromptRoles are all of them, in the order of the workflows.
func PromptRoles() []PromptRole {
	var all []PromptRole
	for _, name := range prompts.Roles() {
		r := PromptRole{Name: name}
		for _, p := range prompts.Placeholders(name) {
			r.Placeholders = append(r.Placeholders, "{{"+p+"}}")
		}
		all = append(all, r)
	}
	return all
}
