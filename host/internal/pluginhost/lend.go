package pluginhost

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/broker"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/keys"
)

// Lends reports whether a plugin's configuration wants its keys lent by a broker, and
// which files hold them: no agent may see those.
func Lends(config []byte) (yes bool, files []string) {
	var block struct {
		Secret string         `json:"secret"`
		Keys   map[string]any `json:"keys"`
	}
	if json.Unmarshal(config, &block) != nil || block.Secret != "broker" {
		return false, nil
	}
	for _, v := range block.Keys {
		if ref, err := keys.Parse(v); err == nil && ref.Path() != "" {
			files = append(files, ref.Path())
		}
	}
	return true, files
}

// lend puts worthless keys, and the broker as the server, in place of the real ones.
// What the broker has no vendor for stays out: it would be a real key.
func (s *Spec) lend(r *ring, refs map[string]keys.Ref) (*ring, *Failure) {
	lent := &ring{grants: r.grants}
	var accounts []broker.Account
	for _, kv := range r.env {
		name, key, _ := strings.Cut(kv, "=")
		switch _, named := refs[name]; {
		case broker.Knows(name):
			accounts = append(accounts, broker.Account{Variable: name, Key: key})
		case named:
			return nil, s.badConfig("secret is broker, and that lends API keys of Anthropic, OpenAI and the Gemini API only, not " + name)
		default: // it is not known whose it is
			lent.secrets = append(lent.secrets, key)
		}
	}
	if len(accounts) == 0 {
		return nil, s.failure(NoKey, "Start", fmt.Sprintf("plugin %s has no key that the broker could lend", s.Entry.Name),
			"secret is broker, and there is no API key in keys or in relay's environment; a login and .env are not lent",
			fmt.Sprintf("`relay config show plugins` shows it; name the key in plugins.%s.keys", s.Entry.Name))
	}
	if f := s.redirect(accounts); f != nil {
		return nil, f
	}
	env, masked, back, err := s.Broker.Lend(accounts)
	if err != nil {
		return nil, s.badConfig(err.Error())
	}
	lent.env, lent.secrets, lent.back = env, append(lent.secrets, masked...), back
	return lent, nil
}

// redirect takes the vendor's server out of the configuration, or out of relay's
// environment, and gives it to the broker: the plugin is to find the broker instead.
func (s *Spec) redirect(accounts []broker.Account) *Failure {
	var block map[string]json.RawMessage
	if json.Unmarshal(s.Config, &block) != nil {
		return nil // the check of the configuration says so
	}
	switch text(block["backend"]) {
	case "bedrock", "vertex":
		return s.badConfig("secret is broker, and that lends API keys only; the backend " + text(block["backend"]) + " has logins of its own")
	}
	var env map[string]json.RawMessage
	if json.Unmarshal(block["env"], &env) != nil {
		env = nil
	}
	own := text(block["base_url"])
	for i := range accounts {
		a := &accounts[i]
		base := broker.Base(a.Variable)
		if base != broker.Base(accounts[0].Variable) && own != "" {
			return s.badConfig("base_url is one server, and the keys are of two vendors")
		}
		switch given := text(env[base]); {
		case own != "":
			a.Server = own
		case given != "":
			a.Server = given
		case s.reads(base):
			a.Server = os.Getenv(base)
		case os.Getenv(base) != "": // the key may be that server's
			return s.badConfig(fmt.Sprintf("secret is broker, and %s names a server; %s does not look at that variable, so write the server as plugins.%s.base_url, or unset %s", base, s.label(), s.Entry.Name, base))
		}
	}
	delete(block, "base_url")
	if env != nil {
		for _, a := range accounts {
			delete(env, broker.Base(a.Variable))
			delete(env, a.Variable)
		}
		block["env"], _ = json.Marshal(env)
	}
	s.Config, _ = json.Marshal(block)
	return nil
}

// reads reports whether a plugin would look at this variable of relay's environment.
func (s *Spec) reads(name string) bool {
	return slices.ContainsFunc(s.Entry.Env, func(v catalog.EnvVar) bool { return v.Name == name })
}

func text(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
