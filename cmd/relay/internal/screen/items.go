package screen

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/host"
)

// item is a row of the list that can be chosen.
type item struct {
	repo  *watched
	need  *host.Need // set: it waits for the operator
	mark  string
	kind  string
	id    string // of the run, cycle or task that keys act on; "" when there is none
	task  bool
	head  string // of the section that it begins; "" when another item did
	text  string
	below []string // rows under it
	since time.Time
}

// key tells items apart from look to look.
func (i item) key() string { return i.repo.Root() + "\x00" + i.kind + "\x00" + i.id }

// has reports whether each word stands somewhere in the row, in any case of its letters.
func (i item) has(words string) bool {
	row := strings.ToLower(i.kind + " " + i.id + " " + i.text)
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(words)), func(word string) bool { return !strings.Contains(row, word) })
}

// list makes the rows anew, and keeps what is chosen.
func (w *watcher) list() {
	was := ""
	if w.chosen >= 0 && w.chosen < len(w.items) {
		was = w.items[w.chosen].key()
	}
	w.items = w.items[:0]
	for _, section := range []struct {
		head string
		of   func(*watched) []item
	}{{"needs you", needs}, {"working", w.working}, {"in flight", flying}, {"tasks", tasks}, {"last cycle", ended}, {"runs", runItems}} {
		head := section.head
		for _, r := range w.repos {
			if r.res == nil {
				continue
			}
			for _, it := range section.of(r) {
				if len(w.repos) > 1 {
					it.text = Text(filepath.Base(r.Root())) + "  " + it.text
				}
				if !it.has(w.filter) {
					continue
				}
				it.repo, it.head, head = r, head, ""
				w.items = append(w.items, it)
			}
		}
	}
	if was == "" {
		w.chosen = 0
		return
	}
	for i := range w.items {
		if w.items[i].key() == was {
			w.chosen = i
			return
		}
	}
	w.chosen = max(0, min(w.chosen, len(w.items)-1))
}

// needs are what waits for the operator.
func needs(r *watched) (out []item) {
	for i := range r.res.Needs {
		n := &r.res.Needs[i]
		it := item{need: n, mark: "!", kind: n.Kind, id: n.ID, task: n.Of == "task", since: n.Since}
		if n.Kind == host.NeedQuestion || n.Kind == host.NeedTask {
			it.mark = "?"
		}
		it.text = Text(n.Title)
		if n.Text != "" {
			it.text = strings.TrimSpace(it.text + "  " + Text(oneLine(n.Text)))
		}
		out = append(out, it)
	}
	return out
}

// working are the relays at work, with what each does.
func (w *watcher) working(r *watched) (out []item) {
	for i := range r.res.Working {
		p := &r.res.Working[i]
		it := item{mark: "*", kind: strings.TrimPrefix(Text(p.Command), "relay "), since: p.StartedAt, text: "process " + Amount(float64(p.PID))}
		if r.res.Loop != nil && r.res.Loop.PID == p.PID && r.res.Loop.Running {
			it.text += ", tick " + Amount(float64(r.res.Loop.Tick))
		}
		for _, d := range p.Now.Doing {
			it.id = d.RunID
			it.below = append(it.below, doing(d, w.o.Now()))
		}
		if s := standing(&p.Now, w.o.Now(), 1000); s != "" {
			it.below = append(it.below, s)
		}
		out = append(out, it)
	}
	return out
}

// flying are the cycles that continue by themselves, ended the last one that has ended.
func flying(r *watched) []item {
	return cycles(r, "~", func(c host.CycleLine) bool { return !c.Waits && !c.State.Ended() })
}
func ended(r *watched) []item {
	return cycles(r, " ", func(c host.CycleLine) bool { return c.State.Ended() })
}

func cycles(r *watched, mark string, which func(host.CycleLine) bool) (out []item) {
	for _, c := range r.res.Cycles {
		if which(c) {
			out = append(out, item{mark: mark, kind: "cycle", id: c.Short, since: c.Since, text: Text(c.Service) + "  " + string(c.State) + "  " + Text(oneLine(c.Detail))})
		}
	}
	return out
}

// tasks are the attempts of the pipeline that have not ended.
func tasks(r *watched) (out []item) {
	for _, t := range r.res.Open {
		if t.Waiting == nil {
			out = append(out, item{mark: "~", kind: "task", id: t.TaskID, task: true, since: t.StartedAt, text: taskAt(t) + "  " + Text(t.Task.Title)})
		}
	}
	return out
}

// taskAt is where an attempt stands, or until when it waits.
func taskAt(t *host.TaskAttempt) string {
	if t.Wait != nil {
		return "waits until " + t.Wait.Until.Local().Format("2006-01-02 15:04") + " " + Text(t.At())
	}
	return Text(t.At())
}

// runItems are the last ones, the newest first.
func runItems(r *watched) (out []item) {
	for _, m := range r.res.Runs {
		if m.Code == "" && r.atWork(m.RunID) {
			continue // it stands among those at work
		}
		it := item{mark: "x", kind: "run", id: m.RunID, since: m.EndedAt, text: string(m.Code) + "  " + Text(oneLine(m.Intent))}
		switch {
		case m.Code == "":
			it.mark, it.text = "…", "unfinished"
		case m.Code == "SUCCESS":
			it.mark = "✓"
		case strings.HasPrefix(string(m.Code), "BLOCKED_"):
			it.mark = "-"
		}
		out = append(out, it)
	}
	return out
}

// atWork reports whether a relay at work makes this run.
func (r *watched) atWork(run string) bool {
	return slices.ContainsFunc(r.res.Working, func(p host.PresenceEntry) bool {
		return p.RunID == run || slices.ContainsFunc(p.Now.Doing, func(d host.Doing) bool { return d.RunID == run })
	})
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
