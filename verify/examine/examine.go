package examine

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// The variables of a check's environment.
const (
	EnvRequests = "RELAY_CHECK_REQUESTS" // the pipe that it writes to
	EnvAnswers  = "RELAY_CHECK_ANSWERS"  // the pipe that it reads
	EnvSeed     = "RELAY_CHECK_SEED"     // a whole number, another one in each run
)

const (
	maxLine  = 4 << 20 // bytes of a request, of an answer, and of what a program prints
	callTime = 20 * time.Second
	loadTime = 3 * time.Minute // a driver may have to be compiled
)

// request is one line of a check. Exactly one of Load, Call and Run is set.
type request struct {
	Load *Load           `json:"load"` // starts a driver in place of the one before
	Call string          `json:"call"` // the name of a function, or "GET /path"
	Args json.RawMessage `json:"args"` // a list
	Run  []string        `json:"run"`  // a program with its arguments
	// Stdin is what the program reads.
	Stdin string `json:"stdin"`
}

// answer is what a check gets for a request. Failed says that there is no answer at all:
// the program ended, was too slow, or wrote something else.
type answer struct {
	Value   json.RawMessage `json:"value,omitempty"`
	Error   string          `json:"error,omitempty"` // the kind of an error that the code raised
	Message string          `json:"message,omitempty"`
	Failed  string          `json:"failed,omitempty"`
}

// ended is the value of a program that was run.
type ended struct {
	Code   int    `json:"code"` // -1 when it did not exit by itself
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

// Program is what is started in the box of the code under test.
type Program struct {
	Argv  []string
	Files map[string]string // shown in a folder, whose path stands for "{dir}" in Argv
	Self  bool              // Argv is a command of relay's own program
}

// Running is a program in its box.
type Running interface {
	io.Writer    // its standard input
	CloseWrite() // ends that
	Stdout() io.Reader
	Stderr() []byte // the last of it
	// Stop ends what still runs, and returns the exit code: -1 when it did not exit by
	// itself.
	Stop() int
	// Wait waits for its end, at most that long, and reports whether it came.
	Wait(time.Duration) bool
}

// Start starts a program in a new box with the code under test.
type Start func(Program) (Running, error)

// Serve answers the requests of one check until they end, and ends what it has started. It
// returns the modules that were loaded.
func Serve(requests io.Reader, answers io.Writer, start Start) (modules []string) {
	s := &session{start: start}
	defer s.unload()
	in := bufio.NewScanner(requests)
	in.Buffer(nil, maxLine)
	for in.Scan() {
		b, err := json.Marshal(s.answer(in.Bytes()))
		if err != nil {
			b = []byte(`{"failed":"the answer can't be written"}`)
		}
		if _, err := answers.Write(append(b, '\n')); err != nil {
			break
		}
	}
	return s.modules
}

type session struct {
	start  Start
	driver Running // nil for none
	lines  chan []byte

	modules []string
}

func (s *session) answer(line []byte) answer {
	var q request
	err := json.Unmarshal(line, &q)
	a := answer{}
	switch {
	case err != nil:
		err = fmt.Errorf("the request can't be read: %w", err)
	case q.Load != nil:
		err = s.load(*q.Load)
	case q.Call != "":
		a, err = s.call(q)
	case len(q.Run) > 0:
		a.Value, err = s.run(q)
	default:
		err = errors.New("the request has none of load, call and run")
	}
	if err != nil {
		return answer{Failed: err.Error()}
	}
	return a
}

func (s *session) load(l Load) error {
	s.unload()
	s.modules = append(s.modules, l.Module)
	p, err := l.program()
	if err != nil {
		return err
	}
	if s.driver, err = s.start(p); err != nil {
		s.driver = nil
		return err
	}
	lines, from := make(chan []byte), s.driver.Stdout()
	go func() {
		defer close(lines)
		in := bufio.NewScanner(from)
		in.Buffer(nil, maxLine)
		for in.Scan() {
			lines <- append([]byte(nil), in.Bytes()...)
		}
	}()
	s.lines = lines
	_, err = s.read(loadTime) // an empty answer: it is ready
	return err
}

func (s *session) unload() {
	if s.driver != nil {
		s.driver.Stop()
		for range s.lines { // its reader ends with it
		}
		s.driver = nil
	}
}

func (s *session) call(q request) (answer, error) {
	if s.driver == nil {
		return answer{}, errors.New("nothing is loaded")
	}
	if q.Args == nil {
		q.Args = json.RawMessage("[]")
	}
	b, err := json.Marshal(map[string]any{"call": q.Call, "args": q.Args})
	if err != nil {
		return answer{}, err
	}
	if _, err := s.driver.Write(append(b, '\n')); err != nil {
		return answer{}, s.gone("the program takes no calls")
	}
	return s.read(callTime)
}

// read reads one answer of the driver's. Whatever it is, the code under test may have
// written it: it is a value to compare, or nothing.
func (s *session) read(limit time.Duration) (a answer, err error) {
	clock := time.NewTimer(limit)
	defer clock.Stop()
	select {
	case line, ok := <-s.lines:
		switch {
		case !ok:
			return a, s.gone("the program ended")
		case json.Unmarshal(line, &a) != nil:
			return a, s.gone("the program wrote something else than an answer")
		case a.Failed != "":
			return a, errors.New(a.Failed)
		}
		return a, nil
	case <-clock.C:
		return a, s.gone(fmt.Sprintf("there was no answer within %v", limit))
	}
}

// gone ends the driver and says why, with the last that it printed.
func (s *session) gone(why string) error {
	d := s.driver
	s.unload()
	if said := d.Stderr(); len(said) > 0 {
		why += ": " + string(said[max(0, len(said)-2000):])
	}
	return errors.New(why)
}

func (s *session) run(q request) (json.RawMessage, error) {
	r, err := s.start(Program{Argv: q.Run})
	if err != nil {
		return nil, err
	}
	go func() {
		io.WriteString(r, q.Stdin)
		r.CloseWrite()
	}()
	done := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(r.Stdout(), maxLine/8))
		io.Copy(io.Discard, r.Stdout())
		done <- b
	}()
	inTime := r.Wait(callTime)
	code := r.Stop()
	out := <-done
	if !inTime {
		return nil, fmt.Errorf("%s did not end within %v", q.Run[0], callTime)
	}
	return json.Marshal(ended{Code: code, Stdout: string(out), Stderr: string(r.Stderr())})
}
