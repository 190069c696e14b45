package collector

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"

	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector is one that runs.
type Collector struct {
	URL string // base address, as OTEL_EXPORTER_OTLP_ENDPOINT has it

	server *httptest.Server
	hang   chan struct{} // nil: it answers

	mu    sync.Mutex
	raw   bytes.Buffer
	spans []Span
	asked int
}

// Span is one span that arrived. Parent is the name of the span that it belongs to.
type Span struct {
	Name, Parent string
	Begin, End   uint64
	Failed       bool
	Attributes   map[string]string
	Resource     map[string]string

	id, above string
}

// Start begins a collector. One that hangs takes requests and never answers before Close.
func Start(hangs bool) *Collector {
	c := &Collector{}
	if hangs {
		c.hang = make(chan struct{})
	}
	c.server = httptest.NewServer(http.HandlerFunc(c.serve))
	c.URL = c.server.URL
	return c
}

// Close ends it.
func (c *Collector) Close() {
	if c.hang != nil {
		close(c.hang)
	}
	c.server.Close()
}

func (c *Collector) serve(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	b, err := io.ReadAll(body)
	req := &traces.ExportTraceServiceRequest{}
	if r.URL.Path != "/v1/traces" || err != nil || proto.Unmarshal(b, req) != nil {
		http.Error(w, "no traces", http.StatusBadRequest)
		return
	}
	c.take(b, req)
	if c.hang != nil {
		<-c.hang
	}
	answer, _ := proto.Marshal(&traces.ExportTraceServiceResponse{})
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(answer)
}

func (c *Collector) take(b []byte, req *traces.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	c.raw.Write(b)
	for _, from := range req.GetResourceSpans() {
		about := attributes(from.GetResource().GetAttributes())
		for _, scope := range from.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, Span{Name: s.GetName(), Begin: s.GetStartTimeUnixNano(), End: s.GetEndTimeUnixNano(), Failed: s.GetStatus().GetCode() == trace.Status_STATUS_CODE_ERROR,
					Attributes: attributes(s.GetAttributes()), Resource: about, id: string(s.GetSpanId()), above: string(s.GetParentSpanId())})
			}
		}
	}
}

func attributes(all []*common.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range all {
		m[a.GetKey()] = plain(a.GetValue())
	}
	return m
}

// plain is a value as a line of a test has it; a list is put together with commas.
func plain(value *common.AnyValue) string {
	switch v := value.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_IntValue:
		return strconv.FormatInt(v.IntValue, 10)
	case *common.AnyValue_DoubleValue:
		return strconv.FormatFloat(v.DoubleValue, 'g', -1, 64)
	case *common.AnyValue_ArrayValue:
		var all []string
		for _, one := range v.ArrayValue.GetValues() {
			all = append(all, plain(one))
		}
		return strings.Join(all, ",")
	}
	return value.String()
}

// Asked is how many requests arrived.
func (c *Collector) Asked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

// Raw is all that arrived, as it came.
func (c *Collector) Raw() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.raw.Bytes())
}

// Spans are those that arrived, in the order of their beginnings.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.spans)
	slices.SortStableFunc(all, func(a, b Span) int { return cmp.Compare(a.Begin, b.Begin) })
	names := map[string]string{}
	for _, s := range all {
		names[s.id] = s.Name
	}
	for i := range all {
		all[i].Parent = names[all[i].above]
	}
	return all
}

// Tree is what arrived as text: a line for each span, below the one that it belongs to,
// with the attributes whose names are given.
func (c *Collector) Tree(show ...string) string {
	all := c.Spans()
	known := map[string]bool{}
	for _, s := range all {
		known[s.id] = true
	}
	var b strings.Builder
	var below func(id string, depth int)
	below = func(id string, depth int) {
		for _, s := range all {
			if s.above != id && !(id == "" && !known[s.above]) {
				continue
			}
			fmt.Fprintf(&b, "%s%s", strings.Repeat("  ", depth), s.Name)
			for _, key := range show {
				if v, ok := s.Attributes[key]; ok {
					fmt.Fprintf(&b, " %s=%s", key, v)
				}
			}
			b.WriteString("\n")
			below(s.id, depth+1)
		}
	}
	below("", 0)
	return b.String()
}
