package main

import (
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/paxiom/relay/testdata/collector"
)

// collectors are those of all scripts, by their address.
var collectors sync.Map

// cmdCollector begins a collector of spans, whose address is $COLLECTOR from then on.
//
//	collector [hangs]
func cmdCollector(ts *testscript.TestScript, neg bool, args []string) {
	c := collector.Start(len(args) > 0 && args[0] == "hangs")
	ts.Defer(c.Close)
	ts.Setenv("COLLECTOR", c.URL)
	collectors.Store(c.URL, c)
}

// cmdSpans prints the spans that the collector got, with the attributes that are named.
//
//	spans [ATTRIBUTE...]
func cmdSpans(ts *testscript.TestScript, neg bool, args []string) {
	c, ok := collectors.Load(ts.Getenv("COLLECTOR"))
	if !ok {
		ts.Fatalf("no collector was begun")
	}
	_, err := ts.Stdout().Write([]byte(c.(*collector.Collector).Tree(args...)))
	ts.Check(err)
}
