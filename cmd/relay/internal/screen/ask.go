package screen

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/paxiom/relay/host/diag"
)

// question is an answer that is being typed.
type question struct {
	of   item
	text string
}

// typed is a line after one more key.
func typed(line string, k tea.KeyPressMsg) string {
	switch k.String() {
	case "backspace":
		r := []rune(line)
		return string(r[:max(0, len(r)-1)])
	case "ctrl+u":
		return ""
	}
	return line + printable(k.Text)
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}

func (w *watcher) askKey(k tea.KeyPressMsg) tea.Cmd {
	q := &w.ask
	switch k.String() {
	case "esc":
		w.mode, w.said = modeList, "nothing was answered"
	case "enter":
		if q.text != "" {
			w.mode, w.said = modeList, "…"
			return w.answer(q.of, q.text)
		}
	default:
		q.text = typed(q.text, k)
	}
	return nil
}

// filterKey narrows the list with each key.
func (w *watcher) filterKey(k tea.KeyPressMsg) {
	switch k.String() {
	case "esc":
		w.mode, w.filter = modeList, ""
	case "enter":
		w.mode = modeList
	default:
		w.filter = typed(w.filter, k)
	}
	w.list()
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
	f := diag.Internal(err)
	return strings.TrimSuffix(f.What+": "+f.Why+"; "+f.Fix, "; ")
}
