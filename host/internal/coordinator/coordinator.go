package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Env names the variable with the path of the socket.
const Env = "RELAY_COORDINATOR"

// Document is a small text that processes share.
type Document interface {
	// Read gives the document; nil where there is none yet.
	Read() ([]byte, error)
	// Change replaces it by what do makes of it, and leaves it when that is nil. do is called
	// again where somebody else came first.
	Change(do func([]byte) ([]byte, error)) error
}

// At gives the document of a name at the socket, nil where no socket is named: then the
// caller's own files are what is shared.
func At(name string) Document {
	socket := os.Getenv(Env)
	if socket == "" {
		return nil
	}
	return &remote{name: name, client: &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}}}}
}

// Here tells what is of this machine from the same of another that shares the documents: ""
// where none does.
func Here() string {
	if socket := os.Getenv(Env); socket != "" {
		return strings.TrimSuffix(filepath.Base(socket), ".sock") + ":"
	}
	return ""
}

const (
	// patience is how long the other end may take for one answer.
	patience = 20 * time.Second
	// most is the most that is read of a document, in bytes.
	most = 4 << 20
	// tries is how often a change is begun anew since somebody else came first.
	tries = 200
)

type remote struct {
	name   string
	client *http.Client
}

// Read asks for the document.
func (r *remote) Read() ([]byte, error) {
	raw, _, err := r.get()
	return raw, err
}

func (r *remote) get() (raw []byte, tag string, err error) {
	status, tag, raw, err := r.talk(http.MethodGet, "", nil)
	if err != nil || status == http.StatusNotFound {
		return nil, "", err
	}
	return raw, tag, nil
}

// Change compares and swaps until nobody came between.
func (r *remote) Change(do func([]byte) ([]byte, error)) error {
	for range tries {
		raw, tag, err := r.get()
		if err != nil {
			return err
		}
		next, err := do(raw)
		if err != nil || next == nil {
			return err
		}
		status, _, _, err := r.talk(http.MethodPut, tag, next)
		if err != nil || status != http.StatusPreconditionFailed {
			return err
		}
		time.Sleep(rand.N(20 * time.Millisecond))
	}
	return errors.New("others change what it shares all the time")
}

// talk makes one request. The tag of what is to be replaced is "" where there is nothing.
func (r *remote) talk(method, tag string, body []byte) (status int, is string, raw []byte, err error) {
	req, err := http.NewRequest(method, "http://coordinator/"+url.PathEscape(r.name), bytes.NewReader(body))
	if err != nil {
		return 0, "", nil, err
	}
	req.Header.Set("If-Match", tag)
	res, err := r.client.Do(req)
	if err != nil {
		return 0, "", nil, fmt.Errorf("what is shared with other machines can't be asked: %w", err)
	}
	defer res.Body.Close()
	raw, err = io.ReadAll(io.LimitReader(res.Body, most+1))
	switch {
	case err != nil:
		return 0, "", nil, err
	case len(raw) > most:
		return 0, "", nil, errors.New("what is shared with other machines is too large")
	case res.StatusCode >= 300 && res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusPreconditionFailed:
		return 0, "", nil, fmt.Errorf("what is shared with other machines can't be asked: %s", res.Status)
	}
	return res.StatusCode, res.Header.Get("ETag"), raw, nil
}
