package catalog

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/netproxy"
)

// Rights are what a plugin may use beyond its own folders and, as a builder, the
// workspace. The lists are sorted and have no entry twice; see [Rights.Tidy].
type Rights struct {
	// Env are variables of relay's environment; a name that ends in "!" is a secret.
	Env []string `json:"env,omitempty"`
	// Programs are what it starts: names along PATH, or absolute paths.
	Programs []string `json:"programs,omitempty"`
	// Hosts are what it connects to, as netproxy.ParseHost reads them.
	Hosts []string `json:"hosts,omitempty"`
	// Read and Write are files and folders: absolute, below the home ("~/…"), or "."
	// for the repository.
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"` // paths that it may write
}

// AnyHost among Hosts is the whole network. Only an operator can say so, never a plugin.
const AnyHost = "*"

// NoRights is how a person writes down that nothing is granted.
const NoRights = "none"

// The kinds of rights, as a person writes them: "host:api.example.org".
var rightKinds = []struct {
	name string
	list func(*Rights) *[]string
	says string // in a sentence: "it SAYS NAME"
}{
	{"env", func(r *Rights) *[]string { return &r.Env }, "reads the variable"},
	{"program", func(r *Rights) *[]string { return &r.Programs }, "starts"},
	{"host", func(r *Rights) *[]string { return &r.Hosts }, "connects to"},
	{"read", func(r *Rights) *[]string { return &r.Read }, "reads the files of"},
	{"write", func(r *Rights) *[]string { return &r.Write }, "writes"},
}

var programRE = regexp.MustCompile(`^(/[^\x00]*/)?[A-Za-z0-9_][A-Za-z0-9._+-]*$`)

// Check says what is no right that can be held.
func (r Rights) Check() error {
	for _, v := range r.Env {
		if !envNameRE.MatchString(v) {
			return fmt.Errorf("%q is not the name of a variable", v)
		}
	}
	for _, p := range r.Programs {
		if !programRE.MatchString(p) || filepath.IsAbs(p) && filepath.Clean(p) != p {
			return fmt.Errorf("%q is not a program: it must be a name, or an absolute path", p)
		}
	}
	for _, h := range r.Hosts {
		if h == AnyHost {
			continue
		}
		if _, err := netproxy.ParseHost(h); err != nil {
			return err
		}
	}
	for _, path := range slices.Concat(r.Read, r.Write) {
		below, home := strings.CutPrefix(path, "~/")
		absolute := filepath.IsAbs(path) && filepath.Clean(path) == path && path != "/"
		if path != "." && !absolute && !(home && filepath.IsLocal(below)) || strings.ContainsFunc(path, func(c rune) bool { return c < ' ' }) {
			return fmt.Errorf("%q is not a file that can be granted: it must be absolute, below the home (~/…), or . for the repository", path)
		}
	}
	return nil
}

// Tidy sorts the lists and takes out what stands twice.
func (r Rights) Tidy() Rights {
	for _, k := range rightKinds {
		list := k.list(&r)
		*list = slices.Compact(slices.Sorted(slices.Values(*list)))
	}
	return r
}

// Beyond gives what r has and o has not.
func (r Rights) Beyond(o Rights) (more Rights) {
	for _, k := range rightKinds {
		for _, have := range *k.list(&r) {
			if !slices.Contains(*k.list(&o), have) {
				*k.list(&more) = append(*k.list(&more), have)
			}
		}
	}
	return more
}

// Empty says that there is no right at all.
func (r Rights) Empty() bool { return len(r.Words()) == 0 }

// Words writes the rights as a person does, one word each.
func (r Rights) Words() (words []string) {
	for _, k := range rightKinds {
		for _, v := range *k.list(&r) {
			words = append(words, k.name+":"+strings.TrimSuffix(v, "!"))
		}
	}
	return words
}

// Sentences says in words what the rights let a plugin do.
func (r Rights) Sentences() (out []string) {
	for _, k := range rightKinds {
		for _, v := range *k.list(&r) {
			name, secret := strings.CutSuffix(v, "!")
			says := k.says + " " + name
			switch {
			case secret && k.name == "env":
				says += " (a secret)"
			case name == ".":
				says = strings.TrimSuffix(k.says, " the files of") + " the repository"
			case name == AnyHost:
				says = "connects to every host, and to this machine's network"
			}
			out = append(out, says)
		}
	}
	return out
}

// Choose picks the rights that a person lists by their words out of those that a
// plugin declares. What is not declared can't be granted, but for the whole network.
func (r Rights) Choose(words []string) (Rights, error) {
	var out Rights
	for _, word := range words {
		if word == NoRights && len(words) == 1 {
			break
		}
		kind, name, _ := strings.Cut(word, ":")
		i := slices.IndexFunc(rightKinds, func(k struct {
			name string
			list func(*Rights) *[]string
			says string
		}) bool {
			return k.name == kind
		})
		if i < 0 || name == "" {
			return Rights{}, fmt.Errorf("%q is not a right: rights are env:NAME, program:NAME, host:NAME, read:PATH and write:PATH", word)
		}
		list := rightKinds[i].list
		if kind == "host" && name == AnyHost {
			out.Hosts = append(out.Hosts, AnyHost)
			continue
		}
		at := slices.IndexFunc(*list(&r), func(have string) bool { return strings.TrimSuffix(have, "!") == name })
		if at < 0 {
			return Rights{}, fmt.Errorf("the plugin does not ask for %s; it asks for %s", word, r.list())
		}
		*list(&out) = append(*list(&out), (*list(&r))[at])
	}
	return out.Tidy(), nil
}

func (r Rights) list() string {
	if r.Empty() {
		return "nothing"
	}
	return strings.Join(r.Words(), ", ")
}

// Argument is the value of --grant that means exactly these rights.
func (r Rights) Argument() string {
	if r.Empty() {
		return NoRights
	}
	return strings.Join(r.Words(), ",")
}

// Any reports whether the whole network is among the rights.
func (r Rights) Any() bool { return slices.Contains(r.Hosts, AnyHost) }
