package config

import (
	"slices"
	"strings"

	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/judge"
)

// strength orders the means of containment; "" is none.
var strength = map[string]int{"": 0, "copy": 1, "landlock": 2, "overlay": 3}

// openness orders what a box may reach.
var openness = map[string]int{"none": 0, "auto": 1, "hosts": 1, "full": 2}

// narrow gives the repository's layer without what the user's own configuration
// does not let it have. What is merely looser than the user's gives way with a
// notice; a right that was never given is refused.
func (l *Loaded) narrow(user, repo *node) (*node, error) {
	out := merge(newMap(repo.at), repo) // a copy: its maps are made anew below
	for _, k := range table {
		if k.narrow == free {
			continue
		}
		for _, path := range repo.paths(strings.Split(k.path, ".")) {
			asked, own := repo.lookup(path...), user.lookup(path...)
			if k.narrow == owners {
				return nil, l.notGiven(asked, problem{asked.at, k.path, "only your own configuration, the environment or --set can have this"})
			}
			if k.narrow == subset {
				if err := l.subset(asked, own, k); err != nil {
					return nil, err
				}
				continue
			}
			if own == nil || !looser(k.narrow, asked, own) {
				continue
			}
			out = withoutLeaf(out, path)
			note := strings.Join(path, ".") + " stays " + own.describe() + " as in " + own.at.File + "; " + asked.at.File + " asked for " + asked.describe()
			own.at.Note = note
			l.Notices = append(l.Notices, note)
		}
	}
	return l.narrowPlugins(user, out), nil
}

// paths are the places in n that a key's path means: "*" stands for every name there.
func (n *node) paths(path []string) [][]string {
	for i, name := range path {
		if name != "*" {
			continue
		}
		var all [][]string
		for _, name := range sortedKeys(n.lookup(path[:i]...).fieldsOrNil()) {
			all = append(all, n.paths(slices.Replace(slices.Clone(path), i, i+1, name))...)
		}
		return all
	}
	if n.lookup(path...) == nil {
		return nil
	}
	return [][]string{path}
}

func looser(how narrowing, asked, own *node) bool {
	switch how {
	case users:
		return asked.v != own.v
	case notWeak:
		a := asked.text()
		o := own.text()
		return strength[a] < strength[o]
	case notOpen:
		a := asked.text()
		o := own.text()
		return openness[a] > openness[o] || o == "auto" && a != "none"
	case within:
		return len(beyond(asked, own)) > 0
	default: // atMost; 0 is no limit
		a, _ := asked.number()
		o, _ := own.number()
		return o != 0 && (a == 0 || a > o)
	}
}

// beyond gives what is in the list asked and not in own.
func beyond(asked, own *node) (more []*node) {
	have := map[any]bool{}
	if list, ok := own.list(); ok {
		for _, x := range list {
			have[x.v] = true
		}
	}
	list, _ := asked.list()
	for _, x := range list {
		if !have[x.v] {
			more = append(more, x)
		}
	}
	return more
}

func (l *Loaded) subset(asked, own *node, k *key) error {
	if more := beyond(asked, own); len(more) > 0 {
		x := more[0]
		return l.notGiven(x, problem{x.at, k.path, x.describe() + " is not in your own configuration, and only that can give it"})
	}
	return nil
}

func (l *Loaded) notGiven(n *node, p problem) error {
	return fault.New(judge.BlockedUntrustedConfig, source(n.at)+" asks for more than a repository may have", p.String(),
		"`${EDITOR:-vi} ~/.config/relay/config.json` to give it to every repository that you trust, or take it out of "+source(n.at))
}

// ofUser are the settings of a plugin that a repository can't take from the user:
// what is run, and where prompts and keys are sent.
var ofUser = map[string]bool{"command": true, "args": true, "path": true, "env": true, "base_url": true, "keys": true, "secret": true, "transport": true}

func (l *Loaded) narrowPlugins(user, repo *node) *node {
	for _, name := range sortedKeys(repo.lookup("plugins").fieldsOrNil()) {
		for key := range ofUser {
			asked, own := repo.lookup("plugins", name, key), user.lookup("plugins", name, key)
			if asked == nil || own == nil || equalPlain(asked, own) {
				continue
			}
			repo = withoutLeaf(repo, []string{"plugins", name, key})
			note := "plugins." + name + "." + key + " stays as in " + own.at.File
			own.at.Note = note
			l.Notices = append(l.Notices, note)
		}
	}
	return repo
}

// withoutLeaf gives a copy of n without the value at path.
func withoutLeaf(n *node, path []string) *node {
	out := &node{v: map[string]*node{}, at: n.at}
	for _, k := range n.order {
		c := n.fields()[k]
		switch {
		case k == path[0] && len(path) == 1:
		case k == path[0]:
			out.put(k, withoutLeaf(c, path[1:]))
		default:
			out.put(k, c)
		}
	}
	return out
}
