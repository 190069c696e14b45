package pluginhost

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/keys"
	"github.com/paxiom/relay/host/internal/secrets"
)

// ring is what of relay's environment, and which keys, a plugin is started with.
type ring struct {
	grants  []string // variables to pass on as they are
	env     []string // keys: NAME=value
	secrets []string // values that may not come back from the plugin
	back    func()   // ends what was lent; nil when nothing was
}

// takeKeys takes "keys" out of the configuration and gives the plugin what is its own.
// Where keys are named, they are all that it gets: another one that happens to be in
// the environment could be billed to somebody else.
func (s *Spec) takeKeys(ctx context.Context) (*ring, *Failure) {
	refs, f := s.keyRefs()
	if f != nil {
		return nil, f
	}
	r := &ring{}
	if s.Entry.Attach != nil { // it has the environment that it was started with
		return r, nil
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if why := s.wants(name); why != "" {
			return nil, s.badConfig(why)
		}
		key, err := refs[name].Resolve(ctx, s.EnvFile.Root)
		if err != nil {
			return nil, s.noKey(name, err)
		}
		r.give(name, key)
	}
	for _, v := range s.Entry.Env {
		if !v.Secret {
			r.grants = append(r.grants, v.Name)
		} else if value := os.Getenv(v.Name); len(refs) == 0 && value != "" {
			r.give(v.Name, value)
		}
	}
	switch {
	case s.Broker != nil:
		return s.lend(r, refs)
	case len(refs) == 0:
		if f := s.fromEnvFile(ctx, r); f != nil {
			return nil, f
		}
	}
	return r, nil
}

func (r *ring) give(name, key string) {
	r.env, r.secrets = append(r.env, name+"="+key), append(r.secrets, key)
	secrets.HandOut(name, key)
}

// passwords are the names and passwords in the addresses that a plugin is given, as of
// proxies and gateways: clients like to name an address in their errors. They are masked as
// they stand in an address, since a password may be a word.
func passwords(env []string) []string {
	var found []string
	for _, kv := range env {
		_, value, _ := strings.Cut(kv, "=")
		if u, err := url.Parse(value); err == nil && u.User != nil && u.Host != "" {
			_, after, _ := strings.Cut(value, "://")
			found = append(found, u.User.String()+"@", after[:strings.LastIndex(after, "@")+1])
		}
	}
	return found
}

// keyRefs takes the references, and whether keys are lent, out of Config. What is no object is left for the check
// of the configuration.
func (s *Spec) keyRefs() (map[string]keys.Ref, *Failure) {
	var block map[string]json.RawMessage
	if json.Unmarshal(s.Config, &block) != nil || block["keys"] == nil && block["secret"] == nil {
		return nil, nil
	}
	var values map[string]any
	if block["keys"] == nil {
		block["keys"] = json.RawMessage("{}")
	}
	if err := json.Unmarshal(block["keys"], &values); err != nil {
		return nil, s.badConfig("keys is not an object")
	}
	refs := map[string]keys.Ref{}
	for name, v := range values {
		ref, err := keys.Parse(v)
		if err != nil {
			return nil, s.badConfig("keys." + name + ": " + err.Error())
		}
		refs[name] = ref
	}
	delete(block, "keys")
	delete(block, "secret")
	var err error
	if s.Config, err = json.Marshal(block); err != nil {
		return nil, s.badConfig(err.Error())
	}
	return refs, nil
}

// wants says why a plugin has no use for a key under this name. One that asks for no
// key, such as external, passes on what it is given.
func (s *Spec) wants(name string) string {
	var asked []string
	for _, v := range s.Entry.Env {
		if v.Secret {
			asked = append(asked, v.Name)
		}
	}
	if len(asked) == 0 && s.Entry.Pin == nil || slices.Contains(asked, name) {
		return ""
	}
	if s.Entry.Pin != nil {
		return fmt.Sprintf("it was not granted the key %s; `relay plugin info %s` shows what it was granted", name, s.Entry.Name)
	}
	return fmt.Sprintf("it asks for no key %s; it knows %s", name, strings.Join(asked, ", "))
}

// fromEnvFile adds the keys that the plugin asks for and the environment lacks.
func (s *Spec) fromEnvFile(ctx context.Context, r *ring) *Failure {
	lacks := func(v catalog.EnvVar) bool { return v.Secret && os.Getenv(v.Name) == "" }
	if s.EnvFile.Path == "" || !slices.ContainsFunc(s.Entry.Env, lacks) {
		return nil
	}
	vars, err := s.EnvFile.Read(ctx)
	if err != nil {
		return s.noKey(s.EnvFile.Path, err)
	}
	for _, v := range s.Entry.Env {
		if lacks(v) && vars[v.Name] != "" {
			r.give(v.Name, vars[v.Name])
		}
	}
	return nil
}

// noKey is a key that is configured and can't be had.
func (s *Spec) noKey(name string, err error) *Failure {
	e := diag.Internal(err)
	f := s.failure(NoKey, "Start", fmt.Sprintf("plugin %s can't have its key %s: %s", s.Entry.Name, name, e.What), e.Why, e.Fix)
	f.Err = err
	return f
}
