package config

import (
	"path/filepath"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

// PolicyGlob are the repository's rules, which decide what may land: no model opens them.
const PolicyGlob = "policy/*.cel"

// PolicyDir is where the user's own policy lies, "" where the environment names no folder.
// A variable that leads into the repository would make a clone's rules the user's.
func PolicyDir(env []string, root string) (string, error) {
	user := UserDir(env)
	if user == "" {
		return "", nil
	}
	dir := filepath.Join(user, "policy")
	if root != "" && inside(root, dir) && !inside(root, getenv(env, "HOME")) {
		return "", diag.New(judge.BlockedMissingConfig, "the user's policy is in the repository",
			dir+" is where XDG_CONFIG_HOME leads to, and anyone who can change the repository would speak as you", "`unset XDG_CONFIG_HOME`, or name a folder outside of the repository")
	}
	return dir, nil
}
