package host

import (
	"context"
	"io"
	"time"

	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/activitylog"
)

// StatsResult says how models keep to the forms of audits and revisions.
type StatsResult struct {
	Doc
	Models []cycle.ModelStats `json:"models"`
}

// Stats counts over all cycles.
func (r *Repo) Stats(context.Context) (*StatsResult, error) {
	o, err := r.Look()
	if err != nil {
		return nil, err
	}
	all, err := cycle.Stats(o.WS)
	return &StatsResult{Doc: DocOf("relay.stats", 1), Models: all}, err
}

// Logs writes the log of today, or follows it until ctx ends. match is a text that
// lines must hold.
func (r *Repo) Logs(ctx context.Context, w io.Writer, day time.Time, match string, follow bool) error {
	o, err := r.Look()
	if err != nil {
		return err
	}
	if uuid, err := cycle.Find(o.WS, match); err == nil {
		match = uuid
	}
	if day.IsZero() {
		day = r.Now()
	}
	if _, err := activitylog.Copy(w, o.WS.Logs(), day, match); err != nil {
		return diag.Wrap(err, "", "the log can't be read", "`ls -l "+diag.Word(o.WS.Logs())+"`")
	}
	if !follow {
		return nil
	}
	return activitylog.Follow(ctx, w, o.WS.Logs(), match, r.Now)
}
