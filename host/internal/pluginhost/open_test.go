package pluginhost

import "context"

// Open is open with its failure as an error.
func Open(ctx context.Context, spec Spec) (*Plugin, error) {
	p, f := open(ctx, spec)
	if f != nil {
		return nil, f
	}
	return p, nil
}
