package screen

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// draw is the whole screen: never more rows than the terminal has, and none wider.
func (w *watcher) draw() string {
	var rows []string
	switch {
	case w.width < 20 || w.height < 5:
		rows = []string{Cut("too small: q leaves", w.width)}
	case w.mode == modeText:
		rows = w.reading()
	default:
		rows = w.overview()
	}
	return strings.Join(rows[:min(len(rows), max(1, w.height))], "\n")
}

// row cuts a line to the screen and sets it in a style. Nothing is said by the style alone.
func (w *watcher) row(style, text string) string {
	text = Cut(text, w.width)
	if !w.o.Color || style == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

const (
	bold    = "1"
	dim     = "2"
	reverse = "7"
	red     = "31"
	green   = "32"
	yellow  = "33"
)

func (w *watcher) overview() []string {
	rows := []string{w.row(bold, w.header())}
	detail, spend := w.detail(), w.spend()
	room := w.height - 2 - len(detail) - len(spend)
	if room < 4 && len(spend) > 0 {
		spend, room = nil, room+len(spend)
	}
	if room < 4 && len(detail) > 2 {
		room += len(detail) - 2
		detail = detail[:2]
	}
	list, at := w.rows()
	log := w.log()
	share := room
	if len(log) > 0 && room >= 8 {
		share = min(len(list), room*2/3)
	}
	rows = append(rows, w.window(list, at, share)...)
	if rest := room - min(share, len(list)); len(log) > 0 && rest >= 3 {
		rows = append(rows, w.row(dim, "-- log --"))
		for _, line := range log[max(0, len(log)-rest+1):] {
			rows = append(rows, w.row(dim, "  "+Text(line)))
		}
	}
	for len(rows) < w.height-1-len(detail)-len(spend) {
		rows = append(rows, "")
	}
	rows = append(append(rows, detail...), spend...)
	return append(rows, w.footer())
}

// header is where this is, and what it comes to.
func (w *watcher) header() string {
	need, work := 0, 0
	for _, r := range w.repos {
		if r.res != nil {
			need, work = need+len(r.res.Needs), work+len(r.res.Working)
		}
	}
	where := fmt.Sprintf("%d repositories", len(w.repos))
	if len(w.repos) == 1 {
		where = Text(filepath.Base(w.repos[0].Root()))
		if r := w.repos[0].res; r != nil && r.Branch != "" {
			where += " on " + Text(r.Branch)
		}
	}
	return fmt.Sprintf("relay watch  %s  %d need you  %d at work  %s", where, need, work, w.o.Now().Local().Format("15:04"))
}

// rows is the list, and at which row the chosen item stands.
func (w *watcher) rows() (rows []string, at int) {
	for _, r := range w.repos {
		if err := r.err; err != nil {
			rows = append(rows, w.row(yellow, "! "+Text(r.Root()+": "+err.Error())))
		} else if r.res != nil && r.res.Problem != nil {
			rows = append(rows, w.row(yellow, "! "+Text(filepath.Base(r.Root())+": "+r.res.Problem.What)), w.row("", "    "+Text(r.res.Problem.Fix)))
		}
	}
	if len(w.items) == 0 && w.filter != "" {
		return append(rows, w.row(dim, "nothing here has "+strconv.Quote(w.filter))), 0
	}
	if len(w.items) == 0 {
		return append(rows, w.row(dim, "nothing has run here yet")), 0
	}
	for i, it := range w.items {
		if it.head != "" {
			rows = append(rows, w.row(bold, strings.ToUpper(it.head)))
		}
		style, sign := "", "  "
		if it.need != nil {
			style = yellow
		}
		if i == w.chosen {
			style, sign, at = reverse, "> ", len(rows)
		}
		rows = append(rows, w.row(style, w.line(sign, it)))
		for _, below := range it.below {
			rows = append(rows, w.row("", "      "+below))
		}
	}
	return rows, at
}

// narrow is a screen on which a row's text needs the room of its id.
const narrow = 60

// line is one item in columns: mark, kind, id, text, and how long ago at the right.
func (w *watcher) line(sign string, it item) string {
	id := Text(it.id)
	if len(id) > 9 && id[8] == '-' && strings.Trim(id[:8], "0123456789") == "" {
		id = id[9:] // of a run; how long ago its day was is told at the right
	}
	ago := since(it.since, w.o.Now())
	left := sign + it.mark + " " + Fit(it.kind, 9) + " "
	if w.width >= narrow {
		left += Fit(id, 16) + " "
	}
	return left + Fit(it.text, w.width-Columns(left)-Columns(ago)-1) + " " + ago
}

// since says roughly how long ago a moment is.
func since(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	switch d := now.Sub(t); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(max(d, 0).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// window is the part of the list that has the chosen row in it.
func (w *watcher) window(rows []string, at, size int) []string {
	size = min(size, len(rows))
	if at < w.top {
		w.top = at
	}
	if at >= w.top+size {
		w.top = at - size + 1
	}
	if w.chosen == 0 {
		w.top = 0
	}
	w.top = max(0, min(w.top, len(rows)-size))
	return rows[w.top : w.top+size]
}

// detail is the chosen row as far as the list had to cut it, and what waits for an answer in full.
func (w *watcher) detail() []string {
	if w.chosen < 0 || w.chosen >= len(w.items) {
		return nil
	}
	it := w.items[w.chosen]
	if it.need == nil {
		if !strings.Contains(w.line("  ", it), "…") {
			return nil
		}
		return w.quoted(nil, "| ", it.text, 3)
	}
	rows := w.quoted(nil, "| ", oneLine(it.need.Text), 3)
	for i, c := range it.need.Choices {
		if i == 4 {
			rows = append(rows, w.row("", fmt.Sprintf("|   and %d more: enter shows all", len(it.need.Choices)-i)))
			break
		}
		rows = append(rows, w.row("", fmt.Sprintf("|   %d. %s", i+1, Text(oneLine(c)))))
	}
	return w.quoted(rows, "| ", "next: "+strings.ReplaceAll(it.need.Next, "`", ""), 2)
}

// quoted appends a text as at most n lines behind a sign.
func (w *watcher) quoted(rows []string, sign, text string, n int) []string {
	for i, line := range wrap(Text(text), w.width-Columns(sign)) {
		if i == n {
			break
		}
		rows = append(rows, w.row("", sign+line))
	}
	return rows
}

// wrap sets words in lines of at most n columns.
func wrap(s string, n int) (lines []string) {
	for _, word := range strings.Fields(s) {
		if last := len(lines) - 1; last >= 0 && Columns(lines[last])+1+Columns(word) <= n {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// spend are the budgets against their caps, and where the tasks stand.
func (w *watcher) spend() (rows []string) {
	for _, r := range w.repos {
		if r.res == nil {
			continue
		}
		name := ""
		if len(w.repos) > 1 {
			name = Text(filepath.Base(r.Root())) + "  "
		}
		if s := bars(r.res.Budgets, w.width-8-Columns(name)); s != "" {
			rows = append(rows, w.row("", "spent   "+name+s))
		}
		if s := counts(r.res.Tasks); s != "" {
			rows = append(rows, w.row("", "tasks   "+name+s))
		}
		for _, a := range r.res.Alerts {
			rows = append(rows, w.row(yellow, "! "+name+Text(a)))
		}
	}
	return rows[:min(len(rows), max(2, w.height/5))]
}

// counts says how many tasks have each status.
func counts(of map[string]int) string {
	var parts []string
	for _, s := range []string{"completed", "in_progress", "pending", "failed", "skipped"} {
		if n := of[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(s, "_", " ")))
		}
	}
	return strings.Join(parts, ", ")
}

// log is what happened: the day's log of cycles, and what those at work said.
func (w *watcher) log() (lines []string) {
	for _, r := range w.repos {
		if r.res == nil {
			continue
		}
		name := ""
		if len(w.repos) > 1 {
			name = Text(filepath.Base(r.Root())) + "  "
		}
		for _, l := range r.res.Log {
			lines = append(lines, name+l)
		}
		for _, p := range r.res.Working {
			for _, l := range p.Log {
				lines = append(lines, name+l.At.Local().Format("15:04:05")+" "+l.Text)
			}
		}
	}
	return lines
}

// footer is what a key asks for, what the last one did, or the keys.
func (w *watcher) footer() string {
	switch {
	case w.mode == modeAsk:
		text := "answer to " + Text(w.ask.of.id) + ": " + Text(w.ask.text) + "_"
		if over := Columns(text) - w.width; over > 0 { // the end is where one types
			text = "answer: …" + tail(Text(w.ask.text), w.width-12) + "_"
		}
		return w.row(bold, text)
	case w.mode == modeFilter:
		return w.row(bold, "filter: "+tail(Text(w.filter), w.width-10)+"_")
	case w.said != "":
		return w.row(bold, Text(oneLine(w.said)))
	}
	if w.filter != "" {
		return w.row(dim, "filter: "+tail(Text(w.filter), w.width-24)+"  esc shows all")
	}
	return w.row(dim, "? keys  / filter  enter show  d diff  a answer  q leave")
}

// tail is the end of a text, n columns at most.
func tail(s string, n int) string {
	r := []rune(s)
	for len(r) > 0 && Columns(string(r)) > n {
		r = r[1:]
	}
	return string(r)
}

// reading is a text on the whole screen.
func (w *watcher) reading() []string {
	t := &w.text
	end := min(len(t.lines), t.top+max(0, t.rows))
	rows := []string{w.row(bold, fmt.Sprintf("%s  (%d-%d of %d)", Text(t.title), min(t.top+1, len(t.lines)), end, len(t.lines)))}
	for i := min(t.top, end); i < end; i++ {
		rows = append(rows, w.row(t.style(i), t.lines[i]))
	}
	for len(rows) < w.height-1 {
		rows = append(rows, "")
	}
	return append(rows, w.row(dim, "j k space b g G scroll  q back"))
}
