package host

import (
	"context"

	"github.com/paxiom/relay/host/internal/activitylog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/notify"
)

// Tell uses every way that the configuration has on. One that fails is a line in the log.
func (r *Repo) Tell(o *Opened, cfg config.Notify, id, who string, m notify.Message) {
	err := notify.Send(context.Background(), cfg, o.Root, r.Options.Env, m)
	if err != nil && o.WS.MkdirAll(o.WS.Logs()) == nil {
		_ = activitylog.Append(o.WS.Logs(), r.Now(), id, who, "notification failed: "+err.Error())
	}
}
