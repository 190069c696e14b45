package screen

import (
	"bufio"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/paxiom/relay/host"
)

// help is what ? shows; it is the whole of what keys do.
var help = []string{
	"up down j k     choose a row           g G   the first, the last",
	"enter o         show it: the verdict, why, and what to do next",
	"d               its diff",
	"u               undo a run that landed (asks first)",
	"S               salvage: what a stopped run had built",
	"/               filter: only rows with these words; esc shows all again",
	"l               the log of today, as it grows",
	"a               answer a question (a number takes a choice)",
	"r               review a plan in your editor",
	"c               approve a plan and have it carried out (asks once more)",
	"A               accept a revision           i   ask for another round",
	"s               end what works here after its tick or task",
	"w               ask a provider again now whose limit is waited for",
	"R               reload everything",
	"q ctrl-c        leave; runs continue",
	"ctrl-z          to the shell; fg comes back",
	"",
	"in a text       up down j k, space b, g G, q or esc back",
	"",
	"marks           ? a question   ! waits for you   * at work   ~ in flight",
	"                ✓ landed   x stopped   - blocked   … unfinished",
}

// key does what a key says.
func (w *watcher) key(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return background()
	}
	w.said = ""
	switch w.mode {
	case modeText:
		if !w.text.key(k.String()) {
			w.mode = modeList
		}
		return nil
	case modeAsk:
		return w.askKey(k)
	case modeFilter:
		w.filterKey(k)
		return nil
	case modeSure:
		do := w.sure
		w.mode, w.sure = modeList, nil
		if k.String() == "y" {
			return do()
		}
		w.said = "nothing was done"
		return nil
	}
	return w.listKey(k.String())
}

func (w *watcher) listKey(k string) tea.Cmd {
	switch k {
	case "esc":
		w.filter = ""
		w.list()
	case "q":
		return tea.Quit
	case "/":
		w.mode = modeFilter
	case "up", "k":
		w.chosen = max(0, w.chosen-1)
	case "down", "j":
		w.chosen = max(0, min(len(w.items)-1, w.chosen+1))
	case "home", "g":
		w.chosen = 0
	case "end", "G":
		w.chosen = max(0, len(w.items)-1)
	case "?", "h":
		w.read(newReader("keys", help))
	case "l":
		w.read(newReader("log", w.log()))
		w.text.follow, w.text.top = true, w.text.last()
	case "R":
		w.forget()
	default:
		return w.act(k)
	}
	return nil
}

// act does something with a row: the chosen one where the key means such a row, else the
// first one that waits for it.
func (w *watcher) act(k string) tea.Cmd {
	kinds := map[string][]string{"a": {host.NeedQuestion, host.NeedTask}, "r": {host.NeedPlan}, "c": {host.NeedPlan}, "A": {host.NeedRevision}, "i": {host.NeedRevision, host.NeedPlan}}
	var it *item
	if len(w.items) > 0 {
		it = &w.items[w.chosen]
	}
	if want := kinds[k]; want != nil {
		fits := func(x item) bool { return x.need != nil && slices.Contains(want, x.need.Kind) }
		if it == nil || !fits(*it) {
			i := slices.IndexFunc(w.items, fits)
			if i < 0 {
				w.said = "nothing here waits for " + k + "; ? shows the keys"
				return nil
			}
			w.chosen, it = i, &w.items[i]
		}
	}
	if it == nil {
		w.said = "there is nothing yet; ? shows the keys"
		return nil
	}
	switch k {
	case "enter", "o":
		return w.show(*it)
	case "d":
		return w.diff(*it)
	case "u":
		if it.kind != "run" || it.mark != "✓" {
			w.said = "only a run that landed can be undone; choose one"
			return nil
		}
		chosen := *it
		w.mode, w.sure = modeSure, func() tea.Cmd { return w.capture(chosen, "undo "+chosen.id, "undo", chosen.id) }
		w.said = "y undoes " + Text(it.id) + " with a new commit, any other key cancels"
	case "S":
		if it.kind != "run" && it.kind != host.NeedProblem {
			w.said = "only a run can be salvaged; choose one"
			return nil
		}
		return w.capture(*it, "salvage "+it.id, "salvage", it.id)
	case "a":
		w.mode, w.ask = modeAsk, question{of: *it}
	case "r":
		return w.foreground(*it, "audit", "review", it.id)
	case "c":
		return w.foreground(*it, "audit", "continue", it.id)
	case "A":
		return w.foreground(*it, "audit", "accept", it.id)
	case "i":
		return w.foreground(*it, "audit", "iterate", it.id)
	case "s":
		chosen := *it
		w.mode, w.sure = modeSure, func() tea.Cmd { return w.capture(chosen, "stop", "stop", "--drain") }
		w.said = "y ends what works here after its tick or task, any other key cancels: " + Text(chosen.repo.Root())
	case "w":
		return w.capture(*it, "wake", "wake")
	default:
		w.said = "? shows the keys"
	}
	return nil
}

// reading is a text that was fetched; did is one line about what was done.
type (
	reading reader
	did     string
)

// read puts a text on the screen.
func (w *watcher) read(r reader) {
	r.fit(w.width, w.height)
	w.mode, w.text = modeText, r
}

func (w *watcher) show(it item) tea.Cmd {
	switch {
	case it.id == "":
		w.said = "it has said nothing yet"
		return nil
	case it.task:
		return w.capture(it, "task "+it.id, "task", "show", it.id)
	}
	return w.capture(it, it.kind+" "+it.id, "show", it.id)
}

func (w *watcher) diff(it item) tea.Cmd {
	if it.id == "" || it.task {
		w.said = "a task and a process have no diff of their own; choose a run or a cycle"
		return nil
	}
	return func() tea.Msg {
		d, err := it.repo.Diff(w.ctx, it.id)
		switch {
		case err != nil:
			return did(whole(err))
		case len(d.Files) == 0:
			return did(it.kind + " " + it.id + " left no diff")
		}
		return reading(newDiff("diff of "+it.id, d.Files))
	}
}

// relay is the command line that does something in the repository of a row.
func (w *watcher) relay(it item, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.ctx, w.o.Relay, append([]string{"-C", it.repo.Root()}, args...)...)
	cmd.Env = w.o.Environ
	return cmd
}

// capture shows what a command prints.
func (w *watcher) capture(it item, title string, args ...string) tea.Cmd {
	return func() tea.Msg {
		out, err := w.relay(it, args...).CombinedOutput()
		if len(out) == 0 && err != nil {
			return did(err.Error())
		}
		return reading(newReader(title, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")))
	}
}

// foreground gives the terminal to a command, and takes it back when that has ended and
// what it printed was read.
func (w *watcher) foreground(it item, args ...string) tea.Cmd {
	line := "relay " + strings.Join(args, " ")
	return tea.Exec(&borrowed{Cmd: w.relay(it, args...)}, func(err error) tea.Msg {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return did(line + " ended with exit code " + strconv.Itoa(exit.ExitCode()))
		}
		if err != nil {
			return did(err.Error())
		}
		return did(line + " is done")
	})
}

// borrowed is a command that has the terminal for a while.
type borrowed struct{ *exec.Cmd }

func (b *borrowed) SetStdin(r io.Reader)  { b.Stdin = r }
func (b *borrowed) SetStdout(w io.Writer) { b.Stdout = w }
func (b *borrowed) SetStderr(w io.Writer) { b.Stderr = w }

func (b *borrowed) Run() error {
	err := b.Cmd.Run()
	_, _ = io.WriteString(b.Stdout, "\nEnter goes back to relay watch. ")
	_, _ = bufio.NewReaderSize(io.LimitReader(b.Stdin, 4<<10), 16).ReadString('\n')
	return err
}
