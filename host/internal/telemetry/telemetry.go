package telemetry

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr/funcr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/paxiom/relay/host/internal/config"
)

// Options say where spans go.
type Options struct {
	Config  config.Telemetry
	Version string                   // of relay
	Getenv  func(name string) string // the environment; the SDK reads its own OTEL_* by itself
}

// farewell is how long the process waits at its very end for spans that are still on
// their way.
const farewell = time.Second

// Tracer makes spans of events. A nil Tracer is off, and does nothing. It may be used
// from several goroutines.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	parent   context.Context // of the program that called relay
	out      *outlet

	mu   sync.Mutex // of runs
	runs map[string]*run

	words   sync.Mutex // of trouble, which the SDK may report from anywhere
	trouble string     // what went wrong first
}

// Open gives the tracer that the configuration wants; nil when it wants none. What goes
// wrong is said by Close: no run fails for it.
func Open(o Options) *Tracer {
	if !o.On() {
		return nil
	}
	t := &Tracer{runs: map[string]*run{}}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { t.ill(err.Error()) }))
	otel.SetLogger(funcr.New(func(_, args string) { t.ill(args) }, funcr.Options{}))
	exporter, err := otlptracehttp.New(context.Background(), o.where()...)
	if err != nil {
		t.ill(err.Error())
		return t
	}
	self, err := resource.New(context.Background(), resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName("relay"), semconv.ServiceVersion(o.Version)), resource.WithFromEnv()) // which may name the service otherwise
	if err != nil {
		t.ill(err.Error())
	}
	t.out = &outlet{SpanExporter: exporter}
	t.provider = sdktrace.NewTracerProvider(sdktrace.WithBatcher(t.out), sdktrace.WithResource(self))
	t.tracer = t.provider.Tracer("github.com/paxiom/relay", trace.WithInstrumentationVersion(o.Version), trace.WithSchemaURL(semconv.SchemaURL))
	t.parent = propagation.TraceContext{}.Extract(context.Background(),
		propagation.MapCarrier{"traceparent": o.Getenv("TRACEPARENT"), "tracestate": o.Getenv("TRACESTATE")})
	return t
}

// ill keeps the first that went wrong: a long run would say the same a thousand times.
func (t *Tracer) ill(text string) {
	t.words.Lock()
	defer t.words.Unlock()
	t.trouble = cmp.Or(t.trouble, text)
}

// Close ends what is open and sends what is left, for [farewell] at most and not at all
// when the collector does not answer anyway. problem is "" when all of it has arrived.
func (t *Tracer) Close() (problem string) {
	if t == nil || t.provider == nil {
		return t.said()
	}
	t.mu.Lock()
	for id, r := range t.runs {
		r.end(time.Now())
		delete(t.runs, id)
	}
	t.mu.Unlock()
	patience := farewell
	if t.out.failing() {
		patience = 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.ill(err.Error())
	}
	return t.said()
}

// said is what went wrong first.
func (t *Tracer) said() string {
	if t == nil {
		return ""
	}
	t.words.Lock()
	defer t.words.Unlock()
	return t.trouble
}
