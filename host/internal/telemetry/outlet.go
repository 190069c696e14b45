package telemetry

import (
	"context"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// outlet is the exporter, and knows whether it works.
type outlet struct {
	sdktrace.SpanExporter
	since  atomic.Int64 // when the batch under way was begun, in Unix nanoseconds; 0: none is
	failed atomic.Bool  // the last batch did not arrive
}

// ExportSpans sends one batch.
func (o *outlet) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	o.since.Store(time.Now().UnixNano())
	err := o.SpanExporter.ExportSpans(ctx, spans)
	o.failed.Store(err != nil)
	o.since.Store(0)
	return err
}

// failing says that waiting for the collector is idle: what was sent last did not arrive,
// or it has hung for as long as anybody would wait for it.
func (o *outlet) failing() bool {
	since := o.since.Load()
	return o.failed.Load() || since != 0 && time.Since(time.Unix(0, since)) > farewell
}
