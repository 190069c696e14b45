package setup

import (
	"context"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/judge/git"
)

// PolicyTest is what the rules' own examples showed.
type PolicyTest struct {
	host.Doc
	SHA256  string         `json:"sha256,omitempty"`
	Rules   []policy.Tried `json:"rules"`
	Ignored []string       `json:"ignored"` // files of the repository's folder that are not relay's
	Failed  int            `json:"failed"`  // examples
}

// TestPolicy compiles the user's rules and those of the work tree, and tries each on its
// examples. It needs no configuration.
func TestPolicy(ctx context.Context, r *host.Repo) (*PolicyTest, error) {
	git, err := git.Open(ctx, r.Dir)
	if err != nil {
		return nil, diag.Git(err)
	}
	set, err := policy.OpenTree(git.Root, r.Options.Env)
	if err != nil {
		return nil, err
	}
	res := &PolicyTest{Doc: host.DocOf("relay.policy.test", 1), SHA256: set.Digest(), Rules: set.Try(), Ignored: append([]string{}, set.Ignored...)}
	for _, t := range res.Rules {
		res.Failed += len(t.Failed)
	}
	return res, nil
}
