package digest

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/ledger"
	"github.com/paxiom/relay/judge"
)

func ptr[T any](v T) *T { return &v }

// sample has something in every section.
func sample() *Digest {
	until := time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)
	d := &Digest{Repository: "/home/a/repo", Since: until.Add(-12 * time.Hour), Until: until}
	for i, code := range []judge.Code{judge.Success, judge.StopForbidden, judge.BlockedBudgetCap, judge.Success} {
		d.Runs = append(d.Runs, Run{RunID: fmt.Sprintf("20261121-0%d0000-aaaaaaaa", i), Workflow: "tick", At: d.Since.Add(time.Duration(i) * 3 * time.Hour), Code: code,
			Intent: "Mend the parser", Files: i, Added: 10 * i, Deleted: i, DurationMS: 61_000, CostUSD: ptr(0.25), UnknownCalls: i % 2})
	}
	d.Runs[3].Commit = "0123456789abcdef"
	d.Runs[3].Diff = "diff --git a/p.go b/p.go\n--- a/p.go\n+++ b/p.go\n@@ -1 +1 @@\n-a\n+b\n"
	d.Landed = []Run{d.Runs[3]}
	d.Stopped = []Stop{{Run: d.Runs[1], Title: "touched a forbidden path", Why: "ci.yml: it is forbidden", Command: "`relay show x` names the paths"}}
	d.Doubts = []Item{{What: "changes that landed without a check: 1", Why: "their tasks asked for none", Command: "`relay show x`", Runs: []string{"x"}}}
	d.Waiting = []Item{{What: "a question: Which way?", Why: "left / right", Command: "`relay answer \"…\"`"}}
	d.Spend.Total = ledger.Sum{Calls: 6, CostUSD: ptr(1.0), UnknownCalls: 2, UnknownMaxUSD: 3}
	d.Spend.Providers = []Provider{{Name: "claude", Sum: d.Spend.Total}}
	d.Spend.Caps = []Cap{{Text: "dollars, today: $4.00 of $5.00 used (80 %)", Used: 4, Max: 5}}
	d.States = []State{{"BUILD", 240_000}, {"VERIFY", 1500}}
	return d
}

func render(t *testing.T, d *Digest) (markdown, html string) {
	t.Helper()
	page, err := HTML(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(Markdown(d)), string(page)
}

// What can't be trusted comes first, and what nobody knows is never 0.
func TestSections(t *testing.T) {
	md, page := render(t, sample())
	for name, text := range map[string]string{"markdown": md, "html": page} {
		at := -1
		for _, title := range []string{"Unverified", "Waits for you", "Landed", "Stopped", "Spent", "Where the time went"} {
			next := strings.Index(text, title)
			if next <= at {
				t.Errorf("%s: %q is out of order", name, title)
			}
			at = next
		}
		for _, want := range []string{"4 runs: 1 landed, 1 stopped or blocked", "2 calls of unknown cost", "relay undo 20261121-030000-aaaaaaaa", "4 min 0 s", "0123456789ab"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
	}
	if got := Money(ledger.Sum{Calls: 1, UnknownCalls: 1}); got != "1 call of unknown cost" {
		t.Errorf("%q", got)
	}
}

// The page needs nothing else, and every plot has its marks.
func TestPage(t *testing.T) {
	_, page := render(t, sample())
	for _, bad := range []string{"http:", "https:", "<script", "<link", "<img", "@import", "url(", "ZgotmplZ", "NaN"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(page, "default-src 'none'") || strings.Count(page, "<svg") != 4 || strings.Count(page, "<circle") != 2 || strings.Count(page, "<polygon") != 1 {
		t.Errorf("%d plots, %d circles, %d triangles", strings.Count(page, "<svg"), strings.Count(page, "<circle"), strings.Count(page, "<polygon"))
	}
	if !strings.Contains(page, `class="cap"`) || !strings.Contains(page, `class="mark landed"`) || !strings.Contains(page, `class="mark rejected"`) {
		t.Error("the cap, a landed or a rejected change is not drawn")
	}
	d := sample()
	last := d.VerdictPlot().Marks
	if len(last) != 4 || last[0].X < plotLeft || last[3].X <= last[0].X || last[3].X > plotRight {
		t.Errorf("%+v", last)
	}
	if n := len(d.timeTicks()); n < 3 || n > 7 {
		t.Errorf("%d ticks of time", n)
	}
	// Runs of the last minutes of a night fill the plot as those of the whole night do.
	for i := range d.Runs {
		d.Runs[i].At = d.Until.Add(time.Duration(i-6) * time.Minute)
	}
	if marks := d.VerdictPlot().Marks; marks[0].X > 200 || marks[3].X < 700 || len(d.timeTicks()) < 2 {
		t.Errorf("the axis is not that of the runs: %+v", marks)
	}
	if !strings.Contains(page, `<span class="success">&#43;b</span>`) {
		t.Error("the page has no diff of what landed")
	}
}

func TestEmpty(t *testing.T) {
	now := time.Now()
	md, page := render(t, &Digest{Since: now, Until: now})
	if !strings.Contains(md, "0 runs: 0 landed") || !strings.Contains(page, "There was no run") {
		t.Error(md)
	}
}

const hostile = "</title></svg><script>alert(1)</script><img src=x onerror=alert(2)>\"'><a href=\"javascript:x\">`rm -rf /`\n# heading\n- item\n[a](http://x)|b|\x1b[2J\u202e\u200b\x00\xff{{.}}"

// poisonWith puts a hostile text wherever one can stand.
func poisonWith(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			poisonWith(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poisonWith(v.Field(i), text)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poisonWith(v.Index(i), text)
		}
	case reflect.String:
		v.SetString(text)
	}
}

var tag = regexp.MustCompile(`<(/?[a-zA-Z!][a-zA-Z0-9]*)`)

func TestHostileTextIsOnlyText(t *testing.T) {
	clean, dirty := sample(), sample()
	poisonWith(reflect.ValueOf(dirty), hostile)
	md, page := render(t, dirty)
	_, plain := render(t, clean)
	allowed := tag.FindAllString(plain, -1)
	for _, got := range tag.FindAllString(page, -1) {
		if !slices.Contains(allowed, got) {
			t.Errorf("the page has a tag %s>", got)
		}
	}
	for name, text := range map[string]string{"markdown": md, "html": page} {
		for _, bad := range []string{"\x1b", "\u202e", "\u200b", "\x00", "\xff", "ZgotmplZ"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q came through", name, bad)
			}
		}
	}
	for line := range strings.Lines(md) {
		switch {
		case strings.HasPrefix(line, "# heading"), strings.HasPrefix(line, "- item"):
			t.Errorf("a line of the stranger's: %q", line)
		}
		outside := regexp.MustCompile("(`+)[^`].*?[^`]?(`+)").ReplaceAllString(line, "")
		if strings.Contains(strings.ReplaceAll(outside, `\<`, ""), "<") || regexp.MustCompile(`[^\\]\]\(`).MatchString(outside) {
			t.Errorf("raw in markdown: %q", outside)
		}
	}
}
