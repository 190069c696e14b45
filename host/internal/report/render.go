package report

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/paxiom/relay/host/internal/format"
)

// shownPaths is how many touched paths and violations REPORT.md lists.
const shownPaths = 40

// String is the blast radius in one line, as seed 001 words it.
func (b BlastRadius) String() string {
	return fmt.Sprintf("%s, +%d/-%d, %d new", format.Count(b.FilesTouched, "file"), b.LinesAdded, b.LinesDeleted, b.NewFiles)
}

// Render gives REPORT.md of what REPORT.json holds: the same bytes for the same report, at most maxChars
// characters, and nothing in it that a hostile text could make more than text.
// Every line stands for itself, so cutting after any of them leaves whole markdown.
func Render(r *Report, maxChars int) []byte {
	r = Fit(r)
	p := &page{}
	p.line("# relay: %s", r.Code)
	p.gap()
	p.line("- Verdict: %s", r.Verdict)
	p.line("- What: %s", commands(r.Summary))
	if r.Why != "" {
		p.line("- Why: %s", commands(r.Why))
	}
	if r.Next != "" {
		p.line("- Next: %s", commands(r.Next))
	}
	if r.PluginSays != "" {
		p.line("- Said by a plugin, not by relay: %s", text(r.PluginSays))
	}
	if len(r.Unpinned) > 0 {
		p.line("- **Unpinned**: %s took part, and nothing pins it. Don't build on this run.", span(strings.Join(r.Unpinned, ", ")))
	}
	p.line("- Blast radius: %s", r.BlastRadius)
	p.item("Intent", r.Task.Intent)
	p.line("- Task: %s (%s), milestone %s", span(r.Task.TaskID), r.Task.TaskKind, span(r.Task.MilestoneID))
	p.line("- Run: %s, %s, %s", span(r.RunID), r.StartedAt.UTC().Format(time.RFC3339), (time.Duration(r.DurationMS) * time.Millisecond).String())
	p.line("- Commit: base %s, head %s", span(r.BaseCommit), span(r.HeadCommit))
	if r.Commit != "" {
		p.line("- Landed as: %s", span(r.Commit))
	}
	p.item("Evidence", r.Verification.Said)
	if r.Salvage != "" {
		p.line("- Kept for you as: %s", span(r.Salvage))
	}
	if r.BuilderOutputValid != nil && !*r.BuilderOutputValid {
		p.line("- The builder's own result was not valid.")
	}
	p.vendors(r.Switches, r.Limits)
	p.question(r.Question)
	if r.Control != nil {
		p.head("Control")
		p.line("- %s: %s", text(r.Control.Action), text(r.Control.Reason))
	}
	p.policy(r.Policy)
	p.scope(&r.Scope)
	p.checks(&r.Verification)
	p.worker("Orchestrator", r.Orchestrator)
	p.worker("Builder", r.Builder)
	p.budgets(&r.Budgets)
	if r.Box != nil {
		p.head("Box")
		p.line("- Means: %s", commands(r.Box.String()))
		for _, n := range r.Box.Network {
			p.line("- Network of the %s: %s", text(n.Role), text(n.Mode))
			for _, c := range n.Refused {
				p.line("- Refused to the %s: %s, %d times: %s", text(n.Role), span(c.Target), c.Count, text(c.Why))
			}
		}
		p.list(r.Box.PutBack, "Put back in the repository: ", text)
	}
	if len(r.Notes) > 0 {
		p.head("Notes")
		p.list(r.Notes, "", first)
	}
	return p.bytes(maxChars)
}

// page collects lines.
type page struct{ lines []string }

func (p *page) line(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

func (p *page) gap() { p.lines = append(p.lines, "") }

func (p *page) head(title string) {
	p.gap()
	p.line("## %s", title)
	p.gap()
}

// item is a line for a text that may be absent.
func (p *page) item(name, s string) {
	if s != "" {
		p.line("- %s: %s", name, text(s))
	}
}

func (p *page) list(all []string, before string, show func(string) string) {
	for i, s := range all {
		if i == shownPaths {
			p.line("- and %d more", len(all)-i)
			return
		}
		p.line("- %s%s", before, show(s))
	}
}

// vendors says where a vendor's limit was met, and what was used instead.
func (p *page) vendors(switches []Switch, limits []Limit) {
	if len(switches)+len(limits) == 0 {
		return
	}
	p.head("Limits of the vendors")
	for _, s := range switches {
		p.line("- %s: %s, so %s was used instead", text(s.From.Role), s.From.markdown(), worker(s.ToProvider, s.ToModel))
	}
	for _, l := range limits {
		p.line("- %s: %s", text(l.Role), l.markdown())
	}
}

func (l Limit) markdown() string {
	what := worker(l.Provider, l.Model) + " met " + text(l.Reason)
	if l.Name != "" {
		what += " " + span(l.Name)
	}
	if !l.Until.IsZero() {
		what += " until " + l.Until.UTC().Format(time.RFC3339)
	}
	return what + " (" + text(l.Summary) + ")"
}

// worker names a provider or builder with its model.
func worker(plugin, model string) string {
	if model == "" {
		return span(plugin)
	}
	return span(plugin + "/" + model)
}

func (p *page) question(q *Question) {
	if q == nil {
		return
	}
	p.head("Question")
	for l := range strings.SplitSeq(q.Prompt, "\n") {
		p.line("> %s", first(strings.TrimRight(l, " \t\r")))
	}
	for i, c := range q.Choices {
		p.line("- choice %d: %s", i+1, text(c))
	}
}

func (p *page) scope(s *Scope) {
	if len(s.Violations) > 0 {
		p.head("Scope violations")
		p.list(s.Violations, "", first)
	}
	if len(s.TouchedPaths) > 0 {
		p.head("Touched")
		p.list(s.Shown(), "", span)
	}
}

func (p *page) checks(v *Verification) {
	if len(v.Runs) == 0 {
		return
	}
	p.head("Checks")
	for _, c := range v.Runs {
		outcome := fmt.Sprintf("exit %d", c.ExitCode)
		switch {
		case c.TimedOut:
			outcome = "timed out"
		case c.ExitCode < 0:
			outcome = "ended by a signal or a limit"
		}
		if beside := c.Beside(); beside != "" {
			outcome += " (" + beside + ")"
		}
		p.line("- %s %s: %s, %d ms: %s", c.Phase, span(c.TemplateID), outcome, c.DurationMS, span(strings.Join(append([]string{c.Cmd}, c.Args...), " ")))
	}
	p.line("- output: %s", span(v.VerifyLogPath))
	if v.NewTests != nil {
		p.list(v.NewTests.Lines(), "new tests: ", text)
	}
}

func (p *page) worker(title string, w *Worker) {
	if w == nil {
		return
	}
	p.head(title)
	name := span(w.Plugin)
	if w.Version != "" {
		name += " " + text(w.Version)
	}
	p.line("- %s, model %s, calls %d, tokens in %s, out %s, cost %s", name, span(w.Model), w.Calls,
		known(w.InputTokens), known(w.OutputTokens), format.Dollars(w.CostUSD))
	p.item("Unpinned, from", w.Unpinned)
	p.item("Failed", strings.TrimSpace(w.FailureReason+" "+w.FailureDetail))
	p.item("Limit resets at", w.ResetAt)
	p.item("Builder's summary", w.Summary)
	if w.ProcessesLeft > 0 {
		p.line("- Processes it left, ended by relay: %d", w.ProcessesLeft)
	}
}

func known(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprint(*n)
}

func (p *page) budgets(b *Budgets) {
	p.head("Budgets of the milestone")
	cost := fmt.Sprintf("$%.4f", b.EstimatedCostUSD)
	if b.CostUnknown {
		cost = "at least " + cost
	}
	p.line("- ticks %d, orchestrator calls %d, builder calls %d, verification runs %d, cost %s", b.Ticks, b.OrchestratorCalls, b.BuilderCalls, b.VerifyRuns, cost)
	p.list(b.Warnings, "Warning: ", text)
}

// bytes joins the lines, leaving out the last ones when they are too many.
func (p *page) bytes(maxChars int) []byte {
	total := 0
	for _, l := range p.lines {
		total += utf8.RuneCountInString(l) + 1
	}
	if total <= maxChars {
		return []byte(strings.Join(p.lines, "\n") + "\n")
	}
	const tail = "- REPORT.json has %d more lines' worth."
	room, n := maxChars-len(tail)-8, 0
	for n < len(p.lines) {
		room -= utf8.RuneCountInString(p.lines[n]) + 1
		if room < 0 {
			break
		}
		n++
	}
	kept := p.lines[:n]
	for len(kept) > 0 && (kept[len(kept)-1] == "" || strings.HasPrefix(kept[len(kept)-1], "## ")) {
		kept = kept[:len(kept)-1]
	}
	out := strings.Join(append(kept[:len(kept):len(kept)], "", fmt.Sprintf(tail, len(p.lines)-len(kept))), "\n") + "\n"
	if r := []rune(out); len(r) > maxChars { // a cap too small for one line
		return []byte(string(r[:max(maxChars, 0)]))
	}
	return []byte(out)
}

// Safe makes a text from a stranger fit for one line of a terminal: control,
// bidirectional and zero-width characters and bytes that are not UTF-8 become
// visible escapes.
func Safe(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || invisible(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case !invisible(r):
			b.WriteString(s[:n])
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		s = s[n:]
	}
	return b.String()
}

// text makes a stranger's text one line of markdown text and nothing more, for use
// after other words on the line.
func text(s string) string {
	s = strings.TrimLeft(Safe(s), " ")
	if s == "" {
		return "(none)"
	}
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_[]<>|~&$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Text makes a stranger's text one line of Markdown and nothing more, for use after
// other words on the line.
func Text(s string) string { return text(s) }

// first is text for the beginning of a list item or a quoted line, where more signs
// mean something: those of headings, lists and rules.
func first(s string) string {
	s = text(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	switch {
	case strings.ContainsRune("#+-=", rune(s[0])):
		return `\` + s
	case digits > 0 && digits < len(s) && (s[digits] == '.' || s[digits] == ')'):
		return s[:digits] + `\` + s[digits:]
	}
	return s
}

// commands is text for relay's own sentences, in which commands to type stand in
// backticks; those become code spans.
func commands(s string) string {
	parts := strings.Split(Safe(s), "`")
	for i, part := range parts {
		if len(parts)%2 == 0 || i%2 == 1 && strings.TrimSpace(part) == "" {
			return text(s)
		}
	}
	for i, part := range parts {
		switch {
		case i%2 == 1:
			parts[i] = span(part)
		case part != "" && i > 0: // not at the beginning: a space there is one
			trimmed := strings.TrimLeft(part, " ")
			parts[i] = part[:len(part)-len(trimmed)]
			if trimmed != "" {
				parts[i] += text(trimmed)
			}
		case part != "":
			parts[i] = text(part)
		}
	}
	return strings.Join(parts, "")
}

// span makes a stranger's text a code span, whatever backticks it holds.
func span(s string) string {
	s = Safe(s)
	if strings.TrimSpace(s) == "" {
		return "(none)"
	}
	longest, run := 0, 0
	for _, r := range s {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' {
		s = " " + s + " "
	}
	return fence + s + fence
}

// Span and Sentence are for other renderers, as Text is: a stranger's text as a code
// span, and a sentence of relay's own in which commands stand in backticks.
func Span(s string) string     { return span(s) }
func Sentence(s string) string { return commands(s) }
