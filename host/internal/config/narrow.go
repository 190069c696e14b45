package config

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

// narrowing is what a repository's value of a key may do. A repository narrows, and never
// widens what the user has said himself; where he has said nothing, what is looser than
// relay's own value needs his yes (see Grants). A key of which nobody has decided it needs
// it whatever its value, and is refused by a test.
type narrowing uint8

const (
	undecided narrowing = iota
	harmless            // what a repository says holds: it can't widen anything, or what it names is asked about itself
	consent             // what a repository says holds once a person has agreed to it
	atMost              // a number: the smaller one holds, 0 being no limit
	fewest              // a number or a time: the smaller one holds, 0 being the smallest
	closed              // whether something is open: no holds
	kept                // whether something is looked at: yes holds
	union               // a list: what either has
	common              // globs: what both have
	commits             // the stricter one holds
	dirty               // worktree.dirty: the stricter one holds
	users               // the user's, when there is one
	subset              // a list: nothing that the user's does not have
	notWeak             // box.required: the stronger one holds
	owners              // a repository can't have it at all
	notOpen             // box.network: the closer one holds
	within              // a list: the user's, when there is one and it does not have all
)

// holds are the keys whose built-in value holds beside whatever is written.
var holds = map[string]bool{"runner.runner_owned_globs": true}

// instead are the keys that a key of the ceiling stands for where it is absent: what the
// user says there bounds it as well.
var instead = map[string]string{
	"scope.ceiling.allowed_globs":          "scope.default_allowed_globs",
	"scope.ceiling.allow_lockfile_changes": "scope.default_allow_lockfile_changes",
	"scope.ceiling.max_files_touched":      "diff_limits.default_max_files_touched",
	"scope.ceiling.max_lines_changed":      "diff_limits.default_max_lines_changed",
}

// leading is how much of a builder's commits is taken over.
var leading = map[string]int{"stop": 0, "squash": 1, "keep": 2}

// saysOf is what a layer says of a key, or of the one that it stands for.
func saysOf(layer *node, path []string) *node {
	if n := layer.lookup(path...); n != nil {
		return n
	}
	if other := instead[strings.Join(path, ".")]; other != "" {
		return layer.lookup(strings.Split(other, ".")...)
	}
	return nil
}

// strength orders the means of containment; "" is none.
var strength = map[string]int{"": 0, "copy": 1, "landlock": 2, "overlay": 3}

// begins orders when work begins in a work tree with changes.
var begins = map[string]int{"block": 0, "auto": 1, "allow": 2}

// openness orders what a box may reach: needed has what is listed, and more.
var openness = map[string]int{"none": 0, "auto": 1, "hosts": 1, "needed": 2, "full": 3}

// narrow gives the repository's layer without what the user's own configuration
// does not let it have. What is merely looser than the user's gives way with a
// notice; a right that was never given is refused.
func (l *Loaded) narrow(user, repo *node) (*node, error) {
	out := repo // what is changed of it is remade
	for _, k := range table {
		if k.narrow == undecided || k.narrow == harmless || k.narrow == consent {
			continue
		}
		for _, path := range repo.paths(strings.Split(k.path, ".")) {
			asked, own := repo.lookup(path...), saysOf(user, path)
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
			if both := joined(k.narrow, asked, own); both != nil {
				out.set(both, path...)
				note := strings.Join(path, ".") + map[narrowing]string{union: " has what " + own.at.File + " says as well", common: " is only what " + own.at.File + " allows as well"}[k.narrow]
				both.at.Note = note
				l.Notices = append(l.Notices, note)
				continue
			}
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
		for _, name := range slices.Sorted(maps.Keys(n.lookup(path[:i]...).fieldsOrNil())) {
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
		return !equalPlain(asked, own)
	case notWeak:
		a := asked.text()
		o := own.text()
		return strength[a] < strength[o]
	case notOpen:
		a := asked.text()
		o := own.text()
		return openness[a] > openness[o] || o == "auto" && a != "none" || a == "auto" && o != "auto" && o != "full"
	case within:
		return len(beyond(asked, own)) > 0
	case closed:
		return asked.v == true && own.v == false
	case kept:
		return asked.v == false && own.v == true
	case commits:
		return leading[asked.text()] > leading[own.text()]
	case union:
		return slices.ContainsFunc(beyond(own, asked), func(n *node) bool { return !judge.Covers(asked.texts(), n.text()) })
	case common:
		return slices.ContainsFunc(asked.texts(), func(g string) bool { return !judge.Covers(own.texts(), g) })
	case dirty:
		return begins[asked.text()] > begins[own.text()]
	case fewest:
		return asked.amount() > own.amount()
	default: // atMost; 0 is no limit
		a, o := asked.amount(), own.amount()
		return o != 0 && (a == 0 || a > o)
	}
}

// amount is a number, or a time in seconds.
func (n *node) amount() float64 {
	if d, err := time.ParseDuration(n.text()); err == nil {
		return d.Seconds()
	}
	f, _ := n.number()
	return f
}

// joined is the list that holds where two meet, nil for other values: of globs those that the
// other's cover, which is never more than both allow.
func joined(how narrowing, asked, own *node) *node {
	var all []*node
	switch how {
	case union:
		list, _ := asked.list()
		all = append(slices.Clone(list), beyond(own, asked)...)
	case common:
		for _, pair := range [][2]*node{{asked, own}, {own, asked}} {
			list, _ := pair[0].list()
			for _, g := range list {
				if judge.Covers(pair[1].texts(), g.text()) && !slices.ContainsFunc(all, func(n *node) bool { return n.v == g.v }) {
					all = append(all, g)
				}
			}
		}
	default:
		return nil
	}
	if all == nil {
		all = []*node{}
	}
	return &node{v: all, at: asked.at}
}

// texts are the texts of a list.
func (n *node) texts() (all []string) {
	list, _ := n.list()
	for _, x := range list {
		all = append(all, x.text())
	}
	return all
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
	return diag.New(judge.BlockedUntrustedConfig, source(n.at)+" asks for more than a repository may have", p.String(),
		"`${EDITOR:-vi} ~/.config/relay/config.json` to give it to every repository that you trust, or take it out of "+source(n.at))
}

// ofUser are the settings of a plugin that a repository can't take from the user:
// what is run, and where prompts and keys are sent.
var ofUser = map[string]bool{"command": true, "args": true, "path": true, "env": true, "base_url": true, "keys": true, "secret": true, "transport": true}

func (l *Loaded) narrowPlugins(user, repo *node) *node {
	for _, name := range slices.Sorted(maps.Keys(repo.lookup("plugins").fieldsOrNil())) {
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
