package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/paxiom/relay/sdk/pluginpb"
)

type (
	configureFunc = func(context.Context, *Config) error
	healthFunc    = func(context.Context, bool) (*Health, error)
)

// Config is what the host hands to a plugin once, before any work.
type Config struct {
	// JSON is the user's configuration of this plugin: an object that fits
	// Info.ConfigSchema. Most plugins call Decode instead.
	JSON json.RawMessage
	// StateDir is private to the plugin and kept between runs.
	StateDir string
	// WorkDir is private to the plugin and removed after the run.
	WorkDir string
	// RunID names the run in logs.
	RunID string
}

// Decode fills v (a pointer to a struct) from the configuration. A key that v does
// not have is a BadConfig failure that names it. An empty configuration leaves v as
// it is, so that defaults can be set before.
func (c *Config) Decode(v any) error {
	if len(bytes.TrimSpace(c.JSON)) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(c.JSON))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("there is more than one JSON value")
	}
	return Fail(BadConfig, "the plugin's configuration does not fit", Detail(err.Error()),
		Fix("correct the plugin's block in the relay configuration"))
}

// Health is a plugin's answer to "could you work now?".
type Health struct {
	// Detail is one line for people: "claude 2.1.329, API key".
	Detail string
	// Limits are the account's limits, where they are known.
	Limits []RateLimit
	// Warnings are for a person to know though the plugin can work: "claude 3.0.0 is
	// newer than the versions this plugin was tested with". One line each.
	Warnings []string
}

// RateLimit is a snapshot of one limit of an account.
type RateLimit struct {
	Name         string    // "five_hour", "requests_per_minute"
	Limit        int64     // units of the vendor; 0: not known
	Remaining    int64     // units of the vendor
	UsedFraction float64   // 0 to 1
	ResetAt      time.Time // zero: not known
}

func (r RateLimit) proto() *pluginpb.RateLimit {
	out := &pluginpb.RateLimit{Name: r.Name, Limit: r.Limit, Remaining: r.Remaining, UsedFraction: r.UsedFraction}
	if !r.ResetAt.IsZero() {
		out.ResetAt = timestamppb.New(r.ResetAt)
	}
	return out
}
