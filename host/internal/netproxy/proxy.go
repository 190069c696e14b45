package netproxy

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	proxyAddress = "127.0.0.1:3128" // in the box, where nobody else is
	maxHead      = 16 << 10         // bytes of a request without its body
	headTime     = 10 * time.Second
	dialTime     = 30 * time.Second
	maxTunnels   = 256
	maxRefusals  = 100 // different ones
)

// Refusal is something that a program wanted and did not get.
type Refusal struct {
	Target string `json:"target"` // host:port as it was asked for, made safe to print
	Why    string `json:"why"`
	Count  int    `json:"count"` // how often
	// Unlisted: it is none of the hosts, however it was asked for.
	Unlisted bool `json:"-"`
}

// Proxy serves one or more boxes, with the same rules for all.
type Proxy struct {
	hosts []Host
	// notice, when set, is told of each refusal when it comes up for the first time.
	notice func(Refusal)
	slots  chan struct{}

	mu       sync.Mutex
	refusals []Refusal
}

// New makes a proxy for these hosts. notice may be nil.
func New(hosts []Host, notice func(Refusal)) *Proxy {
	return &Proxy{hosts: hosts, notice: notice, slots: make(chan struct{}, maxTunnels)}
}

// Hosts are those that are reached.
func (p *Proxy) Hosts() []Host { return p.hosts }

// Listen are the addresses at which a box has to listen, for [Proxy.Serve]: first the
// proxy's own, then those of listed loopback addresses.
func (p *Proxy) Listen() []string {
	all := []string{proxyAddress}
	for _, h := range p.loopback() {
		all = append(all, h.String())
	}
	return all
}

func (p *Proxy) loopback() (all []Host) {
	for _, h := range p.hosts {
		if h.Loopback && h.String() != proxyAddress && !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	return all
}

// Env are the variables by which programs find the proxy.
func (p *Proxy) Env() []string {
	url, direct := "http://"+proxyAddress, "localhost,127.0.0.1,::1"
	return []string{"HTTPS_PROXY=" + url, "https_proxy=" + url, "HTTP_PROXY=" + url, "http_proxy=" + url, "ALL_PROXY=" + url, "all_proxy=" + url,
		"NO_PROXY=" + direct, "no_proxy=" + direct, "NODE_USE_ENV_PROXY=1"}
}

// Serve serves the sockets of a box, in the order of Listen, until ctx ends; every
// connection ends with it. The files stay the caller's.
func (p *Proxy) Serve(ctx context.Context, sockets []*os.File) error {
	serve := []func(context.Context, net.Conn){p.converse}
	for _, h := range p.loopback() {
		serve = append(serve, func(ctx context.Context, c net.Conn) { p.carry(ctx, c, c, h, "") })
	}
	if len(sockets) != len(serve) {
		return fmt.Errorf("%d sockets instead of %d", len(sockets), len(serve))
	}
	for i, f := range sockets {
		l, err := net.FileListener(f)
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { l.Close() })
		go p.accept(ctx, l, serve[i])
	}
	return nil
}

// accept takes connections until the listener is closed.
func (p *Proxy) accept(ctx context.Context, l net.Listener, serve func(context.Context, net.Conn)) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
			return
		} else if err != nil {
			time.Sleep(10 * time.Millisecond) // out of descriptors, perhaps
			continue
		}
		select {
		case p.slots <- struct{}{}:
			go func() {
				stop := context.AfterFunc(ctx, func() { conn.Close() })
				defer func() { stop(); conn.Close(); <-p.slots }()
				serve(ctx, conn)
			}()
		default:
			p.refuse(Refusal{Target: "more", Why: "only " + strconv.Itoa(maxTunnels) + " connections at a time are carried"})
			conn.Close()
		}
	}
}

// converse reads one request. Only CONNECT with a listed host gets anywhere.
func (p *Proxy) converse(ctx context.Context, conn net.Conn) {
	conn.SetDeadline(time.Now().Add(headTime))
	head := &io.LimitedReader{R: conn, N: maxHead}
	in := bufio.NewReader(head)
	req, err := http.ReadRequest(in)
	if err == nil && req.Method != http.MethodConnect {
		if h, ok := p.plain(req); ok {
			head.N = math.MaxInt64
			p.forward(ctx, conn, req, h)
			return
		}
	}
	switch {
	case err != nil:
		p.answer(conn, http.StatusBadRequest, "this is not a request to a proxy")
		return
	case req.Method != http.MethodConnect:
		target := req.Host
		if req.URL.Host != "" {
			target = req.URL.Host
		}
		p.refuse(Refusal{Target: target, Why: "it was asked for without encryption, and only CONNECT is served", Unlisted: !p.names(target)})
		p.answer(conn, http.StatusMethodNotAllowed, "relay serves only CONNECT, so only https addresses")
		return
	}
	name, port, err := target(req.RequestURI)
	if err != nil {
		p.refuse(Refusal{Target: req.RequestURI, Why: "it is not a host and port"})
		p.answer(conn, http.StatusBadRequest, "this is not a host and port")
		return
	}
	h := Host{Name: name, Port: port}
	if !slices.ContainsFunc(p.hosts, func(listed Host) bool { return listed.allows(name, port) }) {
		p.refuse(Refusal{Target: h.String(), Why: "it is not listed; box.network.hosts with " + strconv.Quote(h.Entry()) + " allows it", Unlisted: true})
		p.answer(conn, http.StatusForbidden, h.String()+" is not listed in box.network.hosts")
		return
	}
	// What came with the request already belongs to the tunnel.
	early, _ := in.Peek(in.Buffered())
	p.carry(ctx, conn, io.MultiReader(strings.NewReader(string(early)), conn), h, "HTTP/1.1 200 OK\r\n\r\n")
}

// plain gives the host of a request without encryption that may be made: its port is
// listed, which nobody does for 80 but for that.
func (p *Proxy) plain(req *http.Request) (Host, bool) {
	port, err := strconv.ParseUint(cmp.Or(req.URL.Port(), "80"), 10, 16)
	h := Host{Name: canonical(req.URL.Hostname()), Port: uint16(port)}
	ok := err == nil && req.URL.Scheme == "http" && h.Port != defaultPort && slices.ContainsFunc(p.hosts, func(listed Host) bool { return listed.allows(h.Name, h.Port) })
	return h, ok
}

// forward makes one such request.
func (p *Proxy) forward(ctx context.Context, conn net.Conn, req *http.Request, h Host) {
	req.Close = true
	req.Header.Del("Proxy-Connection")
	req.Header.Del("Proxy-Authorization")
	r, w := io.Pipe()
	defer r.Close()
	go func() { w.CloseWithError(req.Write(w)) }()
	p.carry(ctx, conn, r, h, "")
}

// names reports whether a target of any form is one of the hosts, whatever the port.
func (p *Proxy) names(target string) bool {
	name := target
	if host, _, err := net.SplitHostPort(target); err == nil {
		name = host
	}
	name = canonical(name)
	return slices.ContainsFunc(p.hosts, func(h Host) bool { return h.allows(name, h.Port) || h.Loopback && h.Name == name })
}

// target reads what CONNECT asks for.
func target(uri string) (name string, port uint16, err error) {
	name, text, err := net.SplitHostPort(uri)
	if err != nil {
		return "", 0, err
	}
	number, err := strconv.ParseUint(text, 10, 16)
	name = canonical(name)
	if ip := address(name); ip.IsValid() {
		name = ip.String()
	} else if !hostName.MatchString(name) || strings.Contains(name, "*") {
		err = errors.New("no name of a host")
	}
	return name, uint16(number), err
}

// carry connects to the host, says hello, and carries bytes both ways to the end.
func (p *Proxy) carry(ctx context.Context, conn net.Conn, in io.Reader, h Host, hello string) {
	limited, cancel := context.WithTimeout(ctx, dialTime)
	out, err := dial(limited, h)
	cancel()
	if err != nil {
		p.refuse(Refusal{Target: h.String(), Why: err.Error()})
		if hello != "" {
			p.answer(conn, http.StatusBadGateway, h.String()+" can't be reached: "+err.Error())
		}
		return
	}
	defer out.Close()
	defer context.AfterFunc(ctx, func() { out.Close() })()
	conn.SetDeadline(time.Time{})
	if _, err := io.WriteString(conn, hello); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		io.Copy(out, in)
		closeWrite(out)
		close(done)
	}()
	io.Copy(conn, out)
	closeWrite(conn)
	select {
	case <-done:
	case <-time.After(headTime): // the other side has ended, and nobody reads any more
	}
}

// closeWrite says that nothing more comes, and leaves the other way open.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
		return
	}
	c.Close()
}

func (p *Proxy) answer(conn net.Conn, status int, text string) {
	text = "relay: " + text + "\n"
	fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), len(text), text)
}

// refuse writes down what was not given.
func (p *Proxy) refuse(r Refusal) {
	r.Target, r.Why, r.Count = printable(r.Target), printable(r.Why), 1
	p.mu.Lock()
	same := func(o Refusal) bool { return o.Target == r.Target && o.Why == r.Why }
	i := slices.IndexFunc(p.refusals, same)
	if i < 0 && len(p.refusals) >= maxRefusals {
		r = Refusal{Target: "others", Why: "more than can be listed", Count: 1}
		i = slices.IndexFunc(p.refusals, same)
	}
	if i >= 0 {
		p.refusals[i].Count++
	} else {
		p.refusals = append(p.refusals, r)
	}
	p.mu.Unlock()
	if i < 0 && p.notice != nil {
		p.notice(r)
	}
}

// Refusals are what was refused since they were asked for, the most frequent first.
func (p *Proxy) Refusals() []Refusal {
	p.mu.Lock()
	all := p.refusals
	p.refusals = nil
	p.mu.Unlock()
	slices.SortStableFunc(all, func(a, b Refusal) int { return cmp.Compare(b.Count, a.Count) })
	return all
}

// printable clips a text of a stranger's and quotes what is not plain in it.
func printable(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	quoted := strconv.QuoteToASCII(s)
	return quoted[1 : len(quoted)-1]
}
