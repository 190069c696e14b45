package broker

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// credentials are the headers and members of a query in which clients send keys. None of
// them continues as it came.
var (
	credentials = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Cookie"}
	queryKeys   = []string{"key", "api_key", "access_token"}
)

// hops are headers of one connection, and those that tell how a request came here.
var hops = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Accept-Encoding",
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via", "Origin", "Referer"}

// ServeHTTP takes one request to the vendor.
func (b *Broker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l := b.lentFor(sent(r))
	if l == nil {
		w.Header().Set("Connection", "close") // without a key no connection is kept
		refuse(w, http.StatusUnauthorized, "this is not a key that relay's broker has lent, or its time is over")
		return
	}
	below, ok := strings.CutPrefix(r.URL.Path, l.path)
	switch {
	case r.Header.Get("Upgrade") != "":
		refuse(w, http.StatusUpgradeRequired, "relay's broker carries no websockets; ask by HTTP")
		return
	case !ok || !l.vendor.allows(r.Method, below):
		refuse(w, http.StatusForbidden, "relay's broker serves the vendor's models only, not "+r.Method+" of this path")
		return
	case r.ContentLength > maxBody:
		refuse(w, http.StatusRequestEntityTooLarge, "the request is too large for relay's broker")
		return
	}
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	default:
		refuse(w, http.StatusServiceUnavailable, "too many requests at a time for relay's broker")
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	res, err := b.transport.RoundTrip(l.request(ctx, w, r))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, "the request is too large for relay's broker")
	case err != nil:
		refuse(w, http.StatusBadGateway, l.masks.String("relay's broker can't reach "+l.base+": "+err.Error()))
	default:
		defer res.Body.Close()
		l.answer(ctx, w, res)
	}
}

// sent are the texts that a request offers as keys.
func sent(r *http.Request) []string {
	var all []string
	for _, name := range credentials {
		for _, value := range r.Header.Values(name) {
			if _, rest, ok := strings.Cut(value, " "); ok {
				value = rest
			}
			all = append(all, strings.TrimSpace(value))
		}
	}
	query := r.URL.Query()
	for _, name := range queryKeys {
		all = append(all, query[name]...)
	}
	return all
}

// request is what the vendor is sent: the same path at its server, the same body, the
// headers but for those of the connection, and the real key in its one place.
func (l *loan) request(ctx context.Context, w http.ResponseWriter, r *http.Request) *http.Request {
	to, _ := url.Parse(l.base) // it was parsed before
	to.Path = r.URL.Path
	query := r.URL.Query()
	for _, name := range queryKeys {
		query.Del(name)
	}
	to.RawQuery = query.Encode()
	out := (&http.Request{Method: r.Method, URL: to, Host: to.Host, Header: r.Header.Clone(), ContentLength: r.ContentLength}).WithContext(ctx)
	if r.ContentLength != 0 {
		out.Body = http.MaxBytesReader(w, r.Body, maxBody)
	}
	for _, name := range r.Header.Values("Connection") {
		for one := range strings.SplitSeq(name, ",") {
			out.Header.Del(strings.TrimSpace(one))
		}
	}
	for _, name := range slices.Concat(hops, credentials) {
		out.Header.Del(name)
	}
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", "relay-broker")
	}
	l.give(out.Header)
	return out
}

// refuse answers in a form that the vendors' clients take for an error of the API.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": map[string]any{"type": "relay_broker", "code": status, "status": http.StatusText(status), "message": why}})
}
