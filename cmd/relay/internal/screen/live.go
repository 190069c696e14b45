package screen

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/paxiom/relay/host"
)

const (
	// perSecond is how often the region is drawn anew at most.
	perSecond = 8
	// afterwards is how long a command has to take before there is a region at all.
	afterwards = 100 * time.Millisecond
	// backAgain is how often a command in the background looks whether the terminal is its own.
	backAgain = 300 * time.Millisecond
	// bookkeeping is how often the budgets are read, which are files.
	bookkeeping = 2 * time.Second
)

// LiveOptions say where a live region is.
type LiveOptions struct {
	Out   io.Writer
	Size  func() (width, height int) // of the terminal; 0 is unknown
	Color bool
	// Foreground reports whether the terminal is ours just now, and not the shell's after bg or
	// another command's; nil is always.
	Foreground func() bool
	// Reflows says that the terminal wraps what is on it when it gets narrower.
	Reflows bool
	// Budgets gives the counters with their caps; nil shows none.
	Budgets func() []host.BudgetLine
	Now     func() time.Time // nil means time.Now
}

// Live is a region under the lines that a command prints: it is drawn again and again while
// the command runs, and it is gone when that ends. What is written stays, above it, and is
// on the terminal before Write returns.
//
// The terminal is left as it is: its input, its cursor, its modes. So whatever ends the
// process leaves nothing to mend.
type Live struct {
	o LiveOptions

	lines sync.Mutex // held while lines are written or the region comes or goes; taken before mu

	mu      sync.Mutex
	now     host.Now
	budgets []host.BudgetLine
	width   int   // that the region was last drawn for
	height  int   // of the terminal then
	drawn   []int // columns of its lines
	closed  bool
	hidden  bool // there is to be none just now
	broken  bool // there can be none

	out     sync.Mutex // of what is written to the terminal
	painted bool       // the region was drawn

	begin  *time.Timer
	prog   *tea.Program // nil until the region is there
	ended  chan struct{}
	resize chan os.Signal
}

// NewLive begins a region.
func NewLive(o LiveOptions) *Live {
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Live{o: o}
	l.mu.Lock()
	l.begin = time.AfterFunc(afterwards, l.start)
	l.mu.Unlock()
	suspends(l)
	return l
}

// start puts the region on the terminal.
func (l *Live) start() {
	l.lines.Lock()
	defer l.lines.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.hidden || l.broken || l.prog != nil {
		return
	}
	if l.o.Foreground != nil && !l.o.Foreground() {
		l.begin.Reset(backAgain)
		return
	}
	l.unpaint()
	profile := colorprofile.Ascii
	if l.o.Color {
		profile = colorprofile.ANSI
	}
	// The writer is no file to the library, so it asks the terminal nothing and changes
	// nothing about it.
	l.width, l.height = l.size()
	l.prog = tea.NewProgram(region{l}, tea.WithInput(nil), tea.WithOutput(painter{l}), tea.WithoutSignalHandler(),
		tea.WithFPS(perSecond), tea.WithColorProfile(profile), tea.WithWindowSize(l.width, l.height),
		tea.WithFilter(l.sized))
	l.ended, l.resize = make(chan struct{}), make(chan os.Signal, 1)
	signal.Notify(l.resize, syscall.SIGWINCH)
	go func(p *tea.Program, ended chan struct{}) {
		defer close(ended)
		if _, err := p.Run(); err != nil { // the library could not continue: lines have to do
			l.mu.Lock()
			l.broken = true
			l.mu.Unlock()
		}
	}(l.prog, l.ended)
	go l.follow(l.prog, l.ended, l.resize)
}

// follow tells the program of the window's size, and keeps the budgets fresh.
func (l *Live) follow(p *tea.Program, ended <-chan struct{}, resize <-chan os.Signal) {
	l.book()
	tick := time.NewTicker(bookkeeping)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-resize:
			p.Send(tea.WindowSizeMsg{})
		case <-tick.C:
			l.book()
		}
	}
}

// sized has every word about the window's size be a true one.
func (l *Live) sized(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.WindowSizeMsg); ok {
		w, h := l.size()
		l.rewrapped(w, h)
		return tea.WindowSizeMsg{Width: w, Height: h}
	}
	return msg
}

// rewrapped goes up by as many rows as the region got longer when the window got narrower.
func (l *Live) rewrapped(width, height int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.width, l.height = width, height
	if !l.o.Reflows {
		return // better leftover lines than a line less above it
	}
	more := 0
	for _, n := range l.drawn {
		more += max(0, n-1) / width
	}
	if more > 0 {
		_, _ = fmt.Fprintf(l.o.Out, "\x1b[%dA", more)
	}
}

// Reflows reports whether the terminal is one that wraps lines anew: most do, and those that
// don't say nothing of themselves.
func Reflows(getenv func(string) string) bool {
	return slices.ContainsFunc([]string{"TMUX", "VTE_VERSION", "KITTY_WINDOW_ID", "ALACRITTY_WINDOW_ID", "WEZTERM_PANE", "WT_SESSION", "KONSOLE_VERSION", "ITERM_SESSION_ID", "GHOSTTY_RESOURCES_DIR"}, func(name string) bool { return getenv(name) != "" })
}

func (l *Live) book() {
	if l.o.Budgets == nil {
		return
	}
	b := l.o.Budgets()
	l.mu.Lock()
	l.budgets = b
	l.mu.Unlock()
}

func (l *Live) size() (w, h int) {
	w, h = l.o.Size()
	if w <= 0 {
		w = 80
	}
	if h <= 0 {
		h = 24
	}
	return w, h
}

// Observe takes one event of the workflow.
func (l *Live) Observe(e host.Event) {
	if e.At.IsZero() {
		e.At = l.o.Now()
	}
	l.mu.Lock()
	l.now.Take(e)
	l.mu.Unlock()
}

// Close takes the region away; what was written stays. It can be called again.
func (l *Live) Close() {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.closed = true
	l.mu.Unlock()
	suspends(nil)
	l.hide()
}

// show has the region again, after hide.
func (l *Live) show() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hidden = false
	l.begin.Reset(0)
}

// hide takes the region away. A line that is written meanwhile comes after it.
func (l *Live) hide() {
	l.lines.Lock()
	defer l.lines.Unlock()
	l.away()
}

// away takes the region away, until start is called and hidden is false; lines is held.
func (l *Live) away() {
	l.mu.Lock()
	l.hidden = true
	l.begin.Stop()
	p, ended, resize := l.prog, l.ended, l.resize
	l.mu.Unlock()
	if p == nil {
		return
	}
	signal.Stop(resize)
	p.Quit()
	<-ended
	// The terminal itself writes ^C and ^Z where they are typed.
	_, _ = io.WriteString(painter{l}, "\r\x1b[J")
	l.mu.Lock()
	l.prog = nil
	l.mu.Unlock()
}

// painter is the terminal without its being one.
type painter struct{ l *Live }

func (p painter) Write(b []byte) (int, error) {
	p.l.out.Lock()
	defer p.l.out.Unlock()
	p.l.painted = true
	return p.l.o.Out.Write(b)
}

// region is the program of the library.
type region struct{ l *Live }

// again has the region drawn anew.
type again struct{}

func next() tea.Cmd {
	return tea.Tick(time.Second/perSecond, func(time.Time) tea.Msg { return again{} })
}

func (r region) Init() tea.Cmd { return next() }

func (r region) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case again:
		return r, next()
	case written:
		close(msg)
	}
	return r, nil
}

func (r region) View() tea.View {
	l := r.l
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	if !l.hidden {
		lines = frame(&l.now, l.budgets, l.o.Now(), l.width, l.height)
	}
	l.drawn = l.drawn[:0]
	for i := range lines {
		l.drawn = append(l.drawn, Columns(lines[i]))
		if l.o.Color {
			lines[i] = "\x1b[2m" + lines[i] + "\x1b[0m"
		}
	}
	v := tea.NewView("")
	v.DisableBracketedPasteMode = true
	// The cursor stays visible, in a row of its own below: a process that is killed leaves
	// the shell a fresh line. This shape is none of the known ones, so it stays as it is.
	v.Cursor = &tea.Cursor{Position: tea.Position{Y: len(lines)}, Shape: -1}
	if len(lines) > 0 {
		v.Content = strings.Join(lines, "\n") + "\n"
	}
	return v
}
