package telemetry

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
)

// patience is how long a probe waits for the collector.
const patience = 3 * time.Second

// On reports whether spans are wanted.
func (o Options) On() bool {
	return o.Config.Traces == "otlp" && !strings.EqualFold(o.Getenv("OTEL_SDK_DISABLED"), "true") && o.Getenv("OTEL_TRACES_EXPORTER") != "none"
}

// where is the collector, as far as the configuration names it.
func (o Options) where() []otlptracehttp.Option {
	if o.Config.Endpoint == "" {
		return nil
	}
	return []otlptracehttp.Option{otlptracehttp.WithEndpointURL(strings.TrimSuffix(o.Config.Endpoint, "/") + "/v1/traces")}
}

// Address is the collector's, as the exporter finds it, for people: without a password.
func (o Options) Address() string {
	at := cmp.Or(o.Config.Endpoint, o.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), o.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "https://localhost:4318")
	if u, err := url.Parse(at); err == nil {
		return u.Redacted()
	}
	return at
}

// Probe sends the collector a request without a span, the way spans go, and says why it
// did not take it.
func (o Options) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := otlptracehttp.NewClient(append(o.where(), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))...)
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer client.Stop(context.WithoutCancel(ctx))
	return client.UploadTraces(ctx, nil)
}
