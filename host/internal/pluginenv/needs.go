package pluginenv

import (
	"cmp"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/confine"
	"github.com/paxiom/relay/host/internal/detect"
	"github.com/paxiom/relay/host/internal/netproxy"
)

// What a box needs of the network is worked out from what only the operator has a say
// in: the plugins that came with relay, the configuration that he trusts, and settings
// of tools in his home. The languages of the repository add known registries to that.

// Reach is what the boxes of a plugin may reach: the word for it, and the hosts.
func (e Env) Reach(name string, kind catalog.Kind) (network string, hosts []string, err error) {
	entry, err := e.Catalog.Find(name, kind)
	if err != nil {
		return "", nil, err
	}
	conf, err := e.settings(entry)
	if err != nil {
		return "", nil, err
	}
	role := map[catalog.Kind]confine.Role{catalog.Builder: confine.Builder, catalog.Provider: confine.Provider}[kind]
	plan, err := confine.ForPlugin(e.Config.Box, role, entry, e.needs(entry, kind, conf), e.Root, e.Home, nil)
	if err != nil {
		return "", nil, err
	}
	network, hosts = plan.Reach()
	return network, hosts, nil
}

// needs are the hosts that a plugin needs.
func (e Env) needs(entry catalog.Entry, kind catalog.Kind, conf []byte) []string {
	hosts := vendorHosts(entry)
	for _, program := range driven(conf) {
		for _, other := range e.Catalog.Driving(program) {
			hosts = append(hosts, vendorHosts(other)...)
		}
	}
	var block any
	json.Unmarshal(conf, &block) // what is wrong with it is said elsewhere
	hosts = append(hosts, inSettings(block)...)
	for _, name := range []string{".claude/settings.json", ".codex/config.toml", ".gemini/settings.json", ".gemini/.env"} {
		hosts = append(hosts, inFile(filepath.Join(e.Home, name), baseURL)...)
	}
	if kind == catalog.Builder {
		hosts = append(hosts, Registries(e.Root, e.Home)...)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// vendorHosts are those that the plugin declares, with the servers that variables name
// which it gets, and the regions of clouds.
func vendorHosts(entry catalog.Entry) (hosts []string) {
	hosts = slices.Clone(entry.Hosts)
	for _, v := range entry.Env {
		if !v.Secret {
			hosts = append(hosts, hostOf(os.Getenv(v.Name))...)
		}
	}
	if region := cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")); plainName.MatchString(region) && slices.Contains(hosts, "amazonaws.com") {
		hosts = append(hosts, "bedrock-runtime."+region+".amazonaws.com", "bedrock."+region+".amazonaws.com", "sts."+region+".amazonaws.com")
	}
	if region := cmp.Or(os.Getenv("CLOUD_ML_REGION"), os.Getenv("GOOGLE_CLOUD_LOCATION")); plainName.MatchString(region) && slices.Contains(hosts, "aiplatform.googleapis.com") {
		hosts = append(hosts, region+"-aiplatform.googleapis.com")
	}
	return hosts
}

// Registries are the package registries that the repository's tools use: those of its
// languages, and those that the operator's own settings of the tools name.
func Registries(root, home string) []string {
	hosts := detect.Registries(os.DirFS(root))
	if len(hosts) == 0 {
		return nil
	}
	for _, name := range []string{".npmrc", ".yarnrc.yml", ".config/pip/pip.conf", ".pip/pip.conf", ".config/go/env", ".cargo/config.toml", ".bundle/config"} {
		hosts = append(hosts, inFile(filepath.Join(home, name), address)...)
	}
	return hosts
}

var (
	plainName = regexp.MustCompile(`^[a-z0-9-]+$`)
	address   = regexp.MustCompile(`(https?://[^\s"',;|]+)`)
	baseURL   = regexp.MustCompile(`(?i)base_?url["']?\s*[=:]\s*["']?(https?://[^\s"',]+)`)
)

// maxSettings is what is read of a tool's settings, in bytes.
const maxSettings = 256 << 10

func inFile(path string, pattern *regexp.Regexp) (hosts []string) {
	text, _ := beneath.ReadPlain(path, maxSettings)
	for _, m := range pattern.FindAllSubmatch(text, -1) {
		hosts = append(hosts, hostOf(string(m[1]))...)
	}
	return hosts
}

// inSettings are the hosts of all addresses in a plugin's block.
func inSettings(v any) (hosts []string) {
	switch v := v.(type) {
	case string:
		hosts = hostOf(v)
	case []any:
		for _, x := range v {
			hosts = append(hosts, inSettings(x)...)
		}
	case map[string]any:
		for _, x := range v {
			hosts = append(hosts, inSettings(x)...)
		}
	}
	return hosts
}

// hostOf is the host of an address as box.network.hosts has it; none of any other text.
func hostOf(text string) []string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	host := net.JoinHostPort(u.Hostname(), port)
	if _, err := netproxy.ParseHost(host); err != nil {
		return nil
	}
	return []string{host}
}
