package broker

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paxiom/relay/host/internal/redact"
)

const (
	maxBody  = 64 << 20 // bytes of a request; the vendors take half of it
	maxHead  = 64 << 10
	maxCalls = 128 // at a time
	maxConns = 256 // from all callers together
	headTime = 20 * time.Second
)

// Account is a key that a plugin is to have the use of.
type Account struct {
	Variable string // in which the plugin looks for it
	Key      string
	Server   string // base URL; "" is the vendor's own
}

// Broker serves the programs of one plugin. It is safe for concurrent use.
type Broker struct {
	server    *http.Server
	transport *http.Transport
	slots     chan struct{}
	conns     atomic.Int64

	mu      sync.Mutex
	address string
	closed  bool
	loans   []*loan
}

// loan is a worthless key and what it stands for.
type loan struct {
	worthless, key string
	variable       string
	vendor         *vendor
	base           string // of the server: scheme and host
	path           string // of the base URL
	masks          *redact.Set
	life           context.Context
	end            context.CancelFunc
}

// New makes a broker that lends nothing and is nowhere served yet.
func New() *Broker {
	b := &Broker{slots: make(chan struct{}, maxCalls), transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableCompression: true, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: headTime, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 1 << 20,
	}}
	b.server = &http.Server{Handler: b, ReadHeaderTimeout: headTime, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHead, ErrorLog: log.New(io.Discard, "", 0), ConnState: b.count}
	return b
}

// count closes connections that are too many: on the machine's own loopback interface
// anybody can open some.
func (b *Broker) count(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if b.conns.Add(1) > maxConns {
			c.Close()
		}
	case http.StateClosed, http.StateHijacked:
		b.conns.Add(-1)
	}
}

// At says at which address the plugin will find the broker; somebody else serves it
// there, by Serve.
func (b *Broker) At(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.address = address
}

// Listen serves on this machine's own loopback interface, for a box that has no network
// of its own. Any process of the machine can connect there, and gets no further.
func (b *Broker) Listen() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	b.At(l.Addr().String())
	go b.server.Serve(l)
	return nil
}

// Serve serves a socket of a box until ctx ends. The file stays the caller's.
func (b *Broker) Serve(ctx context.Context, socket *os.File) error {
	l, err := net.FileListener(socket)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	go b.server.Serve(l)
	return nil
}

// Lend gives the environment in which the plugin finds worthless keys and the broker
// instead of the accounts' keys and servers, and what of it must not come back from the
// plugin. After back the keys are refused, and what is still being asked with them ends.
func (b *Broker) Lend(accounts []Account) (env, masked []string, back func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, nil, nil, errors.New("the broker has ended")
	case b.address == "":
		return nil, nil, nil, errors.New("the broker is nowhere served")
	}
	var lent []*loan
	for _, a := range accounts {
		l, err := newLoan(a)
		if err != nil {
			return nil, nil, nil, err
		}
		lent = append(lent, l)
		env = append(env, a.Variable+"="+l.worthless, l.vendor.base+"=http://"+b.address+l.path)
		for _, name := range l.vendor.off {
			env = append(env, name+"=")
		}
		masked = append(masked, l.key, l.worthless)
	}
	b.loans = append(b.loans, lent...)
	return append(env, direct()...), masked, func() { b.takeBack(lent) }, nil
}

func newLoan(a Account) (*loan, error) {
	v := vendorOf(a.Variable)
	if v == nil {
		return nil, errors.New("no vendor is known whose key is in " + a.Variable)
	}
	a.Server = cmp.Or(a.Server, v.server)
	u, err := parseServer(a.Server)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(a.Key, "\r\n\x00") {
		return nil, errors.New("the key in " + a.Variable + " is not an API key: it has more than one line")
	}
	l := &loan{worthless: "relay-" + rand.Text() + rand.Text(), key: a.Key, variable: a.Variable, vendor: v, base: u.Scheme + "://" + u.Host, path: u.Path}
	l.masks = redact.New(l.key)
	l.life, l.end = context.WithCancel(context.Background())
	return l, nil
}

// direct keeps a proxy of the user's environment away from the broker.
func direct() (env []string) {
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		list := "localhost,127.0.0.1,::1"
		if have := os.Getenv(name); have != "" && have != "*" {
			list = have + "," + list
		}
		env = append(env, name+"="+list)
	}
	return env
}

func (b *Broker) takeBack(lent []*loan) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range lent {
		l.end()
	}
	b.loans = slices.DeleteFunc(b.loans, func(l *loan) bool { return slices.Contains(lent, l) })
}

// Close takes all keys back and ends every connection.
func (b *Broker) Close() {
	b.mu.Lock()
	b.closed = true
	for _, l := range b.loans {
		l.end()
	}
	b.loans = nil
	b.mu.Unlock()
	b.server.Close()
	b.transport.CloseIdleConnections()
}

// lentFor finds the loan whose worthless key came with a request; nil when there is none.
func (b *Broker) lentFor(came []string) (found *loan) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.loans {
		for _, key := range came {
			if subtle.ConstantTimeCompare([]byte(key), []byte(l.worthless)) == 1 {
				found = l
			}
		}
	}
	return found
}
