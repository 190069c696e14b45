package main

import (
	"strings"

	"github.com/paxiom/relay/host"
)

// begin settles what the global flags mean, before any command.
func (a *app) begin() error {
	if a.ci {
		getenv := a.getenv
		a.getenv = func(name string) string {
			if name == "CI" {
				return "1"
			}
			return getenv(name)
		}
	}
	return a.warnUnpinned()
}

// unpinned are the plugins that a developer brings for this call.
func (a *app) unpinned() (all []host.Unpinned) {
	for _, given := range a.dev {
		name, file, _ := strings.Cut(given, "=")
		all = append(all, host.Unpinned{Name: name, File: file})
	}
	for _, given := range a.attach {
		name, file, _ := strings.Cut(given, "=")
		all = append(all, host.Unpinned{Name: name, Reattach: file})
	}
	return all
}

// warnUnpinned says on every command what runs without a pin, and refuses it where only
// pinned plugins may run.
func (a *app) warnUnpinned() error {
	for _, given := range a.dev {
		if name, file, _ := strings.Cut(given, "="); name == "" || file == "" {
			return usageError{what: "--dev " + given + " names no file", fix: "`relay --dev NAME=./relay-plugin-NAME run`"}
		}
	}
	for _, u := range a.unpinned() {
		if a.ci {
			return usageError{what: u.By() + " is refused under --ci", why: "nothing pins that plugin, and with --ci only what is pinned runs",
				fix: "`relay plugin install ./relay-plugin-" + u.Name + "` pins it; or leave out --ci"}
		}
		held := "it is held to what it declares"
		if u.File == "" {
			held = "it runs outside of every box, and nothing holds it"
		}
		p := a.printer(a.err, a.errTTY)
		p.linef("%s plugin %s is not pinned (%s); %s", p.yellow("unpinned:"), host.Safe(u.Name), host.Safe(u.By()), held)
	}
	return nil
}
