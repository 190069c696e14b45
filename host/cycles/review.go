package cycles

import (
	"context"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycle"
)

// Review lets edit change the plan that waits at the first gate.
func Review(ctx context.Context, r *host.Repo, id string, edit func(path string) error) (*host.CycleReview, error) {
	env, o, err := r.CycleEnv(nil)
	if err != nil {
		return nil, err
	}
	uuid, err := cycle.Find(o.WS, id)
	if err != nil {
		return nil, err
	}
	return cycle.ReviewPlan(ctx, env, uuid, edit)
}
