package screen

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/pipelines"
)

// Source is one repository that is watched; *host.Repo is one.
type Source interface {
	Root() string
	Watch(context.Context) (*host.WatchResult, error)
	WatchStamp() string
	Diff(ctx context.Context, id string) (*host.DiffResult, error)
	Answer(ctx context.Context, run, text string) (*host.AnswerResult, error)
	TaskAnswer(ctx context.Context, id, asked, text string) (*pipelines.TaskResult, error)
}

// WatchOptions say what is watched, and where.
type WatchOptions struct {
	In      io.Reader
	Out     io.Writer
	Color   bool
	Sources []Source
	// Relay is the program that the keys start; it gets -C and the repository first.
	Relay   string
	Environ []string
	Now     func() time.Time // nil means time.Now
}

// lookEvery is how often the stamps of what is watched are compared.
const lookEvery = time.Second

// Watch shows everything under way until q is typed or ctx ends.
func Watch(ctx context.Context, o WatchOptions) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	profile := colorprofile.Ascii
	if o.Color {
		profile = colorprofile.ANSI
	}
	p := tea.NewProgram(newWatcher(ctx, o), tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ),
		tea.WithoutSignalHandler(), tea.WithFPS(perSecond), tea.WithColorProfile(profile))
	_, err := p.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Snapshot is the same as plain lines, for where there is no terminal, and what it was made
// of.
func Snapshot(ctx context.Context, sources []Source, now func() time.Time, width int) (lines []string, found []*host.WatchResult, err error) {
	w := newWatcher(ctx, WatchOptions{Sources: sources, Now: now})
	w.width, w.chosen = width, -1
	s := look(ctx, sources, make([]string, len(sources)))
	if err := errors.Join(s.errs...); err != nil {
		return nil, nil, err
	}
	w.take(s)
	w.chosen = -1
	rows, _ := w.rows()
	lines = append([]string{Cut(w.header(), width)}, rows...)
	return append(lines, w.spend()...), s.found, nil
}

// watched is one repository as it was last read.
type watched struct {
	Source
	stamp string // "": it is read at the next look
	anew  bool   // stamp was emptied while a look was under way
	res   *host.WatchResult
	err   error
}

// The modes of the screen.
type mode int

const (
	modeList   mode = iota
	modeText        // something to read: a run, a diff, the log, the keys
	modeAsk         // an answer is typed
	modeFilter      // the filter is typed
	modeSure        // a yes is asked for
)

// watcher is the program of the library.
type watcher struct {
	ctx    context.Context
	o      WatchOptions
	repos  []*watched
	items  []item
	chosen int // of items
	top    int // the first row of the list that is shown
	width  int
	height int
	mode   mode
	said   string // what became of the last key
	text   reader
	ask    question
	filter string // words that each row has; "" shows all
	sure   func() tea.Cmd
}

func newWatcher(ctx context.Context, o WatchOptions) *watcher {
	w := &watcher{ctx: ctx, o: o, width: 80, height: 24}
	for _, s := range o.Sources {
		w.repos = append(w.repos, &watched{Source: s})
	}
	return w
}

// seen is what a look at the repositories found; nil where nothing changed.
type seen struct {
	at    []string
	found []*host.WatchResult
	errs  []error
}

// look reads what changed, beside the screen.
func (w *watcher) look() tea.Cmd {
	was := make([]string, len(w.repos))
	for i, r := range w.repos {
		was[i], r.anew = r.stamp, false
	}
	return func() tea.Msg { return look(w.ctx, w.o.Sources, was) }
}

func look(ctx context.Context, sources []Source, was []string) seen {
	s := seen{make([]string, len(sources)), make([]*host.WatchResult, len(sources)), make([]error, len(sources))}
	for i, r := range sources {
		if s.at[i] = r.WatchStamp(); s.at[i] != was[i] {
			s.found[i], s.errs[i] = r.Watch(ctx)
		}
	}
	return s
}

// Init implements tea.Model.
func (w *watcher) Init() tea.Cmd { return w.look() }

func (w *watcher) take(s seen) tea.Cmd {
	for i, r := range w.repos {
		if s.found[i] != nil || s.errs[i] != nil {
			r.res, r.err = s.found[i], s.errs[i]
		}
		if r.stamp = s.at[i]; r.anew {
			r.stamp = ""
		}
	}
	w.list()
	if w.mode == modeText && w.text.follow {
		w.text.fill(w.log())
	}
	return tea.Tick(lookEvery, func(time.Time) tea.Msg { return again{} })
}

// forget has everything read anew at the next look.
func (w *watcher) forget() {
	for _, r := range w.repos {
		r.stamp, r.anew = "", true
	}
}

// Update implements tea.Model.
func (w *watcher) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		w.width, w.height = msg.Width, msg.Height
		w.text.fit(w.width, w.height)
	case again:
		return w, w.look()
	case seen:
		return w, w.take(msg)
	case reading:
		w.read(reader(msg))
	case did:
		w.said = string(msg)
		w.forget()
	case tea.PasteMsg:
		if w.mode == modeAsk {
			w.ask.text += printable(oneLine(msg.Content))
		}
	case tea.KeyPressMsg:
		return w, w.key(msg)
	}
	return w, nil
}

// View implements tea.Model.
func (w *watcher) View() tea.View {
	v := tea.NewView(w.draw())
	v.AltScreen = true
	if w.mode != modeAsk {
		v.DisableBracketedPasteMode = true
	}
	return v
}
