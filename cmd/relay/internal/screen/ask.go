package screen

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/paxiom/relay/host/fault"
)

// question is an answer that is being typed.
type question struct {
	of   item
	text []rune
}

func (q *question) insert(s string) {
	for _, r := range oneLine(s) {
		if unicode.IsPrint(r) {
			q.text = append(q.text, r)
		}
	}
}

func (w *watcher) askKey(k tea.KeyPressMsg) tea.Cmd {
	q := &w.ask
	switch k.String() {
	case "esc":
		w.mode, w.said = modeList, "nothing was answered"
	case "enter":
		if len(q.text) > 0 {
			w.mode, w.said = modeList, "…"
			return w.answer(q.of, string(q.text))
		}
	case "backspace":
		q.text = q.text[:max(0, len(q.text)-1)]
	case "ctrl+u":
		q.text = nil
	default:
		for _, r := range k.Text {
			if unicode.IsPrint(r) {
				q.text = append(q.text, r)
			}
		}
	}
	return nil
}

// answer does what relay answer and relay task answer do.
func (w *watcher) answer(it item, text string) tea.Cmd {
	return func() tea.Msg {
		var next string
		if it.task {
			if _, err := it.repo.TaskAnswer(w.ctx, it.id, it.need.Text, text); err != nil {
				return did(whole(err))
			}
			next = "`relay pipeline run`"
		} else {
			res, err := it.repo.Answer(w.ctx, it.id, text)
			if err != nil {
				return did(whole(err))
			}
			next = res.Next
		}
		return did("answered; next: " + next)
	}
}

// whole is an error with what to type.
func whole(err error) string {
	f := fault.Internal(err)
	return strings.TrimSuffix(f.What+": "+f.Why+"; "+f.Fix, "; ")
}
