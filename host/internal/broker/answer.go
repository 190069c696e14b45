package broker

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/internal/redact"
)

// kept are headers of an answer that stay here: those of the connection, the length,
// which masking changes, and what would have the client keep or follow something.
var kept = append([]string{"Content-Length", "Location", "Content-Location", "Set-Cookie", "Alt-Svc", "Refresh", "Link", "Www-Authenticate"}, hops...)

// answer passes on what the vendor said, as it comes, without the key.
func (l *loan) answer(ctx context.Context, w http.ResponseWriter, res *http.Response) {
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		refuse(w, http.StatusBadGateway, "the vendor's server "+l.base+" answers with a redirect, and relay's broker takes a key to no other place")
		return
	}
	if coding := res.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		refuse(w, http.StatusBadGateway, "the vendor's server "+l.base+" answers compressed, unasked")
		return
	}
	for name, values := range res.Header {
		if slices.Contains(kept, name) {
			continue
		}
		for _, value := range values {
			w.Header().Add(l.masks.String(name), l.masks.String(value))
		}
	}
	w.WriteHeader(res.StatusCode)
	if l.stream(ctx, w, res.Body) != nil {
		panic(http.ErrAbortHandler) // a cut answer must not look like a whole one
	}
}

// stream masks and copies a body, every piece at once.
func (l *loan) stream(ctx context.Context, w http.ResponseWriter, body io.Reader) error {
	flush := http.NewResponseController(w)
	out := redact.NewWriter(l.masks, w)
	piece := make([]byte, 32<<10)
	for {
		n, err := body.Read(piece)
		if n > 0 {
			if _, err := out.Write(piece[:n]); err != nil {
				return err
			}
			if err := flush.Flush(); err != nil {
				return err
			}
		}
		switch err {
		case nil:
		case io.EOF:
			if ctx.Err() != nil {
				return ctx.Err() // a vendor that hears of the end may end its answer properly
			}
			return out.Flush()
		default:
			return err
		}
	}
}
