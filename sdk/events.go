package sdk

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/paxiom/relay/sdk/pluginpb"
)

// Events is where a handler tells what happens while it works. All of it is optional,
// and safe to call from several goroutines, until the handler returns; after that it
// does nothing. What one kind of part has no event for (Text of a builder, Progress
// of a provider) is sent as the nearest thing that it has.
type Events interface {
	// Started tells who answers. The first call that comes before any other event
	// fills the started event; later ones become notices.
	Started(Started)
	// Text adds a piece of the model's text as it comes.
	Text(string)
	// Usage tells what was used so far, as a total. A smaller number than an earlier
	// one is not sent.
	Usage(Usage)
	// RateLimit tells the state of one limit of the account.
	RateLimit(RateLimit)
	// Notice is a line that a person may want to read. It decides nothing.
	Notice(string)
	// Progress tells what a builder is doing. Of more than a person can see, several
	// hundred a second, some are left out.
	Progress(Progress)
	// Command tells of a command that a builder runs or has run.
	Command(Command)
	// File tells of a path that a builder says it touched.
	File(path string)
}

// Started says who answers a call, as far as it is known at the start.
type Started struct {
	Model             string
	UpstreamRequestID string // provider
	ToolVersion       string // of the vendor's command line, when there is one
	Session           string // builder: for BuildRequest.ResumeSession
}

// Progress is a step of a builder.
type Progress struct {
	Phase    string
	Text     string
	Fraction *float64 // 0 to 1; nil: not known
}

// Command is a command that a builder runs.
type Command struct {
	Argv     []string
	ExitCode *int // nil: it has started
}

// rhythm is the timing of a stream. The host takes 15 s of silence for a fault.
type rhythm struct {
	started   time.Duration // then a started event is sent even if the handler said nothing
	heartbeat time.Duration // of silence
	late      time.Duration // a handler still running so long after a cancel is complained about
}

var defaultRhythm = rhythm{5 * time.Second, 10 * time.Second, 2 * time.Second}

// stream numbers and orders the events of one call. encode turns one of the payloads
// below into the event of its service, or nil when the service has none for it:
// Started, Progress, Command, file, delta and the protocol's own messages.
type stream struct {
	encode func(seq uint64, payload any) proto.Message
	send   func(proto.Message) error
	rhythm rhythm

	mu    sync.Mutex
	seq   uint64
	last  time.Time
	ended bool
	told  bool // the handler itself has sent something other than started
	steps burst
	usage Usage
}

type (
	file  string
	delta string
)

func (s *stream) Started(v Started)     { s.emit(v) }
func (s *stream) Text(v string)         { s.emit(delta(valid(v))) }
func (s *stream) RateLimit(v RateLimit) { s.emit(v.proto()) }
func (s *stream) Notice(v string)       { s.emit(&pluginpb.Notice{Text: valid(v)}) }
func (s *stream) Command(v Command)     { s.emit(v) }
func (s *stream) File(path string)      { s.emit(file(valid(path))) }

func (s *stream) Progress(v Progress) {
	s.mu.Lock()
	more := s.steps.allows(time.Now())
	s.mu.Unlock()
	if more {
		s.emit(v)
	}
}

// burst lets through so many things a second; a program that prints millions of lines
// would flood relay otherwise.
type burst struct {
	second time.Time
	count  int
}

const maxSteps = 500 // a second, a tenth of what relay takes for a flood

func (b *burst) allows(now time.Time) bool {
	if now.Sub(b.second) >= time.Second {
		b.second, b.count = now, 0
	}
	b.count++
	return b.count <= maxSteps
}

func (s *stream) Usage(v Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage, s.told = s.usage.max(v), true
	s.put(s.usage.proto())
}

func (s *stream) emit(payload any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	started, isStarted := payload.(Started)
	if isStarted && s.seq > 0 {
		payload = &pluginpb.Notice{Text: "started: " + started.String()}
	}
	s.told = s.told || !isStarted
	s.put(payload)
}

// put sends one event, and a started event before it when it is the first. Call with mu held.
func (s *stream) put(payload any) {
	if s.ended {
		return
	}
	if _, ok := payload.(Started); !ok && s.seq == 0 {
		s.write(Started{})
	}
	s.write(payload)
}

// write sends one event. An event that is too large for the host is left out; the
// last event of a call is checked by end. A failed send needs no care: the call's
// context ends with its connection.
func (s *stream) write(payload any) {
	ev := s.encode(s.seq+1, payload)
	if ev == nil || proto.Size(ev) > MaxAnswer {
		return
	}
	s.seq++
	s.last = time.Now()
	_ = s.send(ev)
}

// end sends the last event: done, or the failure that err is.
func (s *stream) end(done func(Usage) any, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if err == nil {
		last := done(s.usage)
		if size := proto.Size(s.encode(s.seq+2, last)); size <= MaxAnswer {
			s.put(last)
		} else {
			err = Fail(TooLarge, "the answer is larger than a plugin may send",
				Detail(fmt.Sprintf("it has %d bytes; the limit is %d", size, MaxAnswer)), Fix("ask for less in one call"))
		}
	}
	if f := AsFailure(err); f != nil {
		out := *f
		out.Usage = s.usage.max(f.Usage)
		if out.Effect == 0 && !s.told && f.Reason.beforeWork() {
			out.Effect = EffectNone
		}
		s.put(out.proto())
	}
	s.ended = true
}

// beat keeps the stream from falling silent until ctx ends.
func (s *stream) beat(ctx context.Context) {
	timer := time.NewTimer(s.rhythm.started)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		s.mu.Lock()
		switch {
		case s.seq == 0 && !s.ended:
			s.write(Started{})
		case time.Since(s.last) >= s.rhythm.heartbeat:
			s.put(&pluginpb.Heartbeat{})
		}
		wait := s.rhythm.heartbeat - time.Since(s.last)
		s.mu.Unlock()
		timer.Reset(max(wait, time.Millisecond))
	}
}

// run calls the handler of one stream and sends its last event, whatever the handler
// does: returns a value, an error, neither, or panics.
func (s *stream) run(ctx context.Context, what string, handler func() (func(Usage) any, error)) {
	beating, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { defer wg.Done(); s.beat(beating) }()
	finished := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		select {
		case <-finished:
		case <-time.After(s.rhythm.late):
			slog.Error("a handler keeps running after its call was canceled", "call", what, "after", s.rhythm.late)
		}
	})
	var done func(Usage) any
	err := guard(what, func() (err error) {
		done, err = handler()
		if err == nil && done == nil {
			err = Fail(Internal, what+" returned neither a result nor an error")
		}
		return err
	})
	close(finished)
	unwatch()
	stop()
	wg.Wait()
	s.end(done, err)
}
