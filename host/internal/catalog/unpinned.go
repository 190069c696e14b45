package catalog

import (
	"cmp"
	"slices"

	"github.com/paxiom/relay/host/internal/launch"
)

// Brought is the entry of a plugin that a developer brought: the file of the pin, below
// the folder dir. It is held to what it declares; by says how it was brought.
func Brought(name string, p Pin, dir, by string) Entry {
	p.Granted = &p.Declared
	e := p.entry(name)
	e.Pin, e.Base, e.Path = &p, dir, p.InstallPath(dir, name)
	e.State, e.Unpinned = OK, by
	e.fix = "`relay plugin list`, then the same command again: it takes the file as it is then"
	return e
}

// Waiting is the entry of a plugin that says this about itself and waits in a process of
// its own. It gets no variables, and nothing holds it.
func Waiting(says Entry, at launch.Attached, by string) Entry {
	says.Env, says.Attach, says.State, says.Source, says.Unpinned = nil, &at, OK, "reattached/"+says.Name, by
	says.fix = "`relay-plugin-" + says.Name + " --debug` in another terminal, then the same command again"
	return says
}

// Put lets an entry stand in for whatever else has its name.
func (c *Catalog) Put(e Entry) {
	for i := range c.entries {
		if c.entries[i].Name == e.Name {
			c.entries[i].State, c.entries[i].Reason = Shadowed, e.Unpinned+" stands in for it"
		}
	}
	c.entries = append(c.entries, e)
	slices.SortStableFunc(c.entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(rank(a), rank(b)))
	})
}
