package bundle

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/digest"
	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/host/internal/report"
)

//go:embed page.html
var pageText string

// page escapes by context; safe makes invisible characters visible before that.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"safe":      report.Safe,
	"short":     func(name string) string { return name[:min(12, len(name))] },
	"clock":     clock,
	"money":     func(runs ...Run) string { return digest.Money(spent(runs)) },
	"spent":     func(runs []Run) string { return digest.Money(spent(runs)) },
	"approvals": approvals,
	"join":      func(s []string) string { return report.Safe(strings.Join(s, "; ")) },
}).Parse(pageText))

// Landed is a commit as the page shows it. What its note says is not checked.
type Landed struct {
	Commit, Subject string
	Statement       *attest.Statement // nil: it has none
}

// Page is the page that a person reads. It needs nothing else and runs no script.
func Page(f Facts, landed []Landed) (Member, error) {
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		Facts
		Landed []Landed
	}{f, landed})
	return Text(pageName, b.Bytes()), err
}

// clock is a time for people, the same everywhere.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// approvals says who said yes to what.
func approvals(all []attest.Approval) string {
	var said []string
	for _, a := range all {
		by := "nobody that can be named"
		if a.Key != nil {
			by = *a.Key
		}
		said = append(said, fmt.Sprintf("%s, by %s", a.Kind, by))
	}
	return report.Safe(strings.Join(said, "; "))
}

// spent is what the calls of runs cost.
func spent(runs []Run) (s ledger.Sum) {
	for _, r := range runs {
		for _, c := range r.Calls {
			if s.Calls += c.Calls; c.CostUSD == nil {
				s.UnknownCalls += c.Calls
			} else {
				ledger.Plus(&s.CostUSD, c.CostUSD)
			}
		}
	}
	return s
}
