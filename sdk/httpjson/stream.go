package httpjson

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/paxiom/relay/sdk"
)

// DefaultIdle is how long an API may be silent where nobody names a limit. Models think for
// minutes without a word.
const DefaultIdle = 10 * time.Minute

// Stream sends a value as JSON and gives each server-sent event that answers it to each, with
// its type ("message" where it has none) and its data. each returns [io.EOF] when the answer
// is whole; another error of it ends the call, and is returned. idle is the longest silence,
// also before the first event; 0 means [DefaultIdle]. The error is an *[sdk.Failure], unless
// each gave another; nil when each said that the answer is whole.
//
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func Stream(ctx context.Context, url string, header http.Header, send any, idle time.Duration, each func(event string, data []byte) error) error {
	if idle <= 0 {
		idle = DefaultIdle
	}
	silent := sdk.Fail(sdk.Timeout, fmt.Sprintf("the model's API said nothing for %v", idle))
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(idle, func() { cancel(silent) })
	defer timer.Stop()
	failed := func(err error) error {
		if ctx.Err() == nil && context.Cause(inner) == silent {
			return silent
		}
		return Broken(err)
	}

	r, err := request(inner, http.MethodPost, url, header, send)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return failed(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return Status(resp)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return sdk.Fail(sdk.BadOutput, "the model's API does not stream its answer", sdk.EffectCharged, sdk.Detail("Content-Type is "+resp.Header.Get("Content-Type")))
	}

	lines := bufio.NewScanner(io.LimitReader(resp.Body, maxStream))
	lines.Buffer(nil, sdk.MaxMessage)
	lines.Split(splitLine)
	event, data := "", []byte(nil)
	for lines.Scan() {
		timer.Reset(idle)
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case string(name) == "event":
			event = string(value)
		case string(name) == "data":
			data = append(append(data, value...), '\n')
		case len(lines.Bytes()) == 0 && len(data) > 0:
			event = cmp.Or(event, "message")
			if err := each(event, data[:len(data)-1]); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			event, data = "", data[:0]
		}
		if len(data) > sdk.MaxMessage {
			return sdk.Fail(sdk.BadOutput, "the model's API answered with more than anybody reads", sdk.EffectCharged)
		}
	}
	if err := lines.Err(); err != nil {
		return failed(err)
	}
	return sdk.Fail(sdk.Network, "the model's API ended its answer in the middle")
}

// maxStream bounds an answer with all that surrounds each of its words.
const maxStream = 16 * sdk.MaxMessage

// splitLine ends a line at \n, \r or both.
func splitLine(data []byte, atEnd bool) (advance int, token []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0 && atEnd: // what no line end follows is not dispatched
		return len(data), nil, nil
	case i < 0:
		return 0, nil, nil
	case data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n':
		return i + 2, data[:i], nil
	case data[i] == '\r' && i+1 == len(data) && !atEnd:
		return 0, nil, nil // \n may follow
	}
	return i + 1, data[:i], nil
}
