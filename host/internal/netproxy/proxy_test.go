package netproxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestParseHost(t *testing.T) {
	for text, want := range map[string]string{
		"api.example.org":         "api.example.org:443",
		"API.Example.ORG.":        "api.example.org:443",
		"api.example.org:8443":    "api.example.org:8443",
		"*.example.org":           "*.example.org:443",
		"localhost:11434":         "127.0.0.1:11434",
		"127.0.0.1:8080":          "127.0.0.1:8080",
		"192.0.2.7":               "192.0.2.7:443",
		"[2001:db8::1]:8443":      "[2001:db8::1]:8443",
		"[::ffff:127.0.0.1]:80":   "127.0.0.1:80",
		"xn--bcher-kva.example":   "xn--bcher-kva.example:443",
		"under_score.example.org": "under_score.example.org:443",
	} {
		if h, err := ParseHost(text); err != nil || h.String() != want {
			t.Errorf("%q: %v %v, want %s", text, h, err, want)
		}
	}
	for _, text := range []string{"", "*", "*.", "a..b", "https://example.org", "example.org/path", "example.org:0", "example.org:99999", "example.org:",
		"a*.example.org", "*.*.example.org", "bücher.example", "a b", "-a.example", "0.0.0.0:80", "[::]:443", "224.0.0.1:80", "127.1", "fe80::1%eth0", "user@example.org", "a\nb"} {
		if h, err := ParseHost(text); err == nil {
			t.Errorf("%q was read as %v", text, h)
		}
	}
}

func TestAllows(t *testing.T) {
	hosts, err := ParseHosts([]string{"api.example.org", "*.cdn.example.org:8443", "192.0.2.7:443", "127.0.0.1:8080"})
	must(t, err)
	for uri, want := range map[string]bool{
		"api.example.org:443": true, "API.EXAMPLE.org.:443": true, "192.0.2.7:443": true, "[::ffff:192.0.2.7]:443": true, "a.cdn.example.org:8443": true, "a.b.cdn.example.org:8443": true,
		"api.example.org:80": false, "example.org:443": false, "xapi.example.org:443": false, "api.example.org.evil.org:443": false,
		"cdn.example.org:8443": false, "evilcdn.example.org:8443": false, "127.0.0.1:8080": false, "192.0.2.8:443": false, "*.cdn.example.org:8443": false,
		"api.example.org": false, "api.example.org:443:443": false, "api.example.org\x00.evil:443": false, ":443": false, "api.example.org:65979": false,
	} {
		name, port, err := target(uri)
		got := err == nil && slices.ContainsFunc(hosts, func(h Host) bool { return h.allows(name, port) })
		if got != want {
			t.Errorf("%q: %v, want %v", uri, got, want)
		}
	}
}

// served is a proxy on sockets of this process, and a client that uses it.
func served(t *testing.T, hosts ...string) (*Proxy, string) {
	t.Helper()
	list, err := ParseHosts(hosts)
	must(t, err)
	p := New(list, nil)
	var files []*os.File
	var at string
	for i := range p.Listen() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		f, err := l.(*net.TCPListener).File()
		must(t, err)
		if i == 0 {
			at = l.Addr().String()
		}
		l.Close()
		t.Cleanup(func() { f.Close() })
		files = append(files, f)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	must(t, p.Serve(ctx, files))
	return p, at
}

func TestOnlyListedHostsAreReached(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello from ", r.Host) }))
	defer server.Close()
	// A server of this machine can be reached through the proxy by its address only.
	p, at := served(t, "198.51.100.9", "listed.test.invalid", "bad-name.localtest.invalid")
	client := server.Client()
	tr := client.Transport.(*http.Transport)
	tr.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: at})
	for address, want := range map[string]string{
		server.URL:                "Forbidden",
		"https://evil.example/":   "Forbidden",
		"http://evil.example/x":   "405",
		"https://localhost:1234/": "Forbidden",
	} {
		res, err := client.Get(address)
		if err == nil {
			if fmt.Sprint(res.StatusCode) != want {
				t.Errorf("%s: %s", address, res.Status)
			}
			res.Body.Close()
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	var got []string
	for _, r := range p.Refusals() {
		got = append(got, r.Target)
	}
	slices.Sort(got)
	if want := []string{"evil.example", "evil.example:443", "localhost:1234", strings.TrimPrefix(server.URL, "https://")}; !slices.Equal(got, sorted(want)) {
		t.Errorf("refused: %q", got)
	}
}

func sorted(s []string) []string { slices.Sort(s); return s }

// A tunnel carries both ways, also what came together with the request and what comes
// after one side has ended.
func TestTunnel(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				all, _ := io.ReadAll(c)
				fmt.Fprintf(c, "%d bytes, the last %q", len(all), all[len(all)-3:])
				c.Close()
			}()
		}
	}()
	port := echo.Addr().(*net.TCPAddr).Port
	p := New([]Host{{Name: "127.0.0.1", Port: uint16(port)}}, nil) // listed as an address, not as a loopback to carry
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	go p.accept(t.Context(), l, p.converse)
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	must(t, err)
	defer conn.Close()
	body := strings.Repeat("x", 1<<20) + "end"
	go func() {
		fmt.Fprintf(conn, "CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: x\r\n\r\n%s", port, body)
		conn.(*net.TCPConn).CloseWrite()
	}()
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	must(t, err)
	rest, err := io.ReadAll(in)
	if err != nil || res.StatusCode != 200 || string(rest) != fmt.Sprintf("%d bytes, the last %q", len(body), "end") {
		t.Errorf("%s %q %v", res.Status, rest, err)
	}
}

// A listed address of the machine's own loopback is carried over as it is.
func TestLoopbackIsCarried(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "local model") }))
	defer model.Close()
	list, err := ParseHosts([]string{strings.TrimPrefix(model.URL, "http://"), "example.org", "localhost:" + model.URL[strings.LastIndex(model.URL, ":")+1:]})
	must(t, err)
	p := New(list, nil)
	if n := len(p.Listen()); n != 2 { // the two names are one address
		t.Fatalf("%q", p.Listen())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	h := p.loopback()[0]
	go p.accept(t.Context(), l, func(ctx context.Context, c net.Conn) { p.carry(ctx, c, c, h, "") })
	res, err := http.Get("http://" + l.Addr().String() + "/")
	must(t, err)
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); string(text) != "local model" {
		t.Errorf("%q", text)
	}
}

// A listed name that leads to this machine is refused: its owner decides where it
// leads, not the user.
func TestNamesDoNotLeadHere(t *testing.T) {
	for _, name := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"} {
		t.Setenv(name, "")
	}
	// The one name that leads here everywhere is localhost, which can't be listed as a name.
	_, err := dial(t.Context(), Host{Name: "localhost", Port: 9})
	if err == nil || !strings.Contains(err.Error(), errHere.Error()) {
		t.Errorf("%v", err)
	}
}

func TestThroughTheUsersProxy(t *testing.T) {
	var asked string
	front, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer front.Close()
	go func() {
		c, err := front.Accept()
		if err != nil {
			return
		}
		req, _ := http.ReadRequest(bufio.NewReader(c))
		asked = req.RequestURI + " " + req.Header.Get("Proxy-Authorization")
		io.WriteString(c, "HTTP/1.1 200 fine\r\n\r\n")
		time.Sleep(10 * time.Millisecond)
		io.WriteString(c, "made it")
		c.Close()
	}()
	conn, err := through(t.Context(), &url.URL{Scheme: "http", Host: front.Addr().String(), User: url.UserPassword("me", "pw")}, Host{Name: "example.org", Port: 443})
	must(t, err)
	defer conn.Close()
	got, _ := io.ReadAll(conn)
	if string(got) != "made it" || asked != "example.org:443 Basic bWU6cHc=" {
		t.Errorf("%q, asked for %q", got, asked)
	}
}

func TestHostileClients(t *testing.T) {
	p, at := served(t, "example.org")
	for _, text := range []string{
		"\x16\x03\x01\x02\x00\x01\x00", "GET / HTTP/1.1\r\n\r\n", "CONNECT example.org HTTP/1.1\r\n\r\n", "CONNECT \x1b[2J:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT a/../b:443 HTTP/1.1\r\nHost: x\r\n\r\n", "CONNECT example.org:443@evil:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT x:443 HTTP/1.1\r\n" + strings.Repeat("A: b\r\n", 10000) + "\r\n", strings.Repeat("x", 1<<20),
	} {
		conn, err := net.Dial("tcp", at)
		must(t, err)
		conn.SetDeadline(time.Now().Add(5 * time.Second))
		go func() {
			io.WriteString(conn, text)
			conn.(*net.TCPConn).CloseWrite()
		}()
		line, _ := bufio.NewReader(conn).ReadString('\n')
		if strings.Contains(line, "200") {
			t.Errorf("%.60q was served", text)
		}
		conn.Close()
	}
	for i := range 3 * maxRefusals {
		p.refuse(Refusal{Target: fmt.Sprintf("host-%d.example:443", i), Why: "it is not listed"})
	}
	all := p.Refusals()
	if len(all) > maxRefusals+1 || all[0].Target != "others" || all[0].Count < 2*maxRefusals-10 {
		t.Errorf("%d, first %+v", len(all), all[0])
	}
	for _, r := range all {
		if strings.ContainsAny(r.Target+r.Why, "\x1b\n\r") {
			t.Errorf("%q %q", r.Target, r.Why)
		}
	}
}

// When the box has ended, nothing of its connections stays.
func TestTheEndEndsTunnels(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer silent.Close()
	closed := make(chan error, 1)
	go func() {
		c, err := silent.Accept()
		if err == nil {
			_, err = io.ReadAll(c)
		}
		closed <- err
	}()
	p := New([]Host{{Name: "127.0.0.1", Port: uint16(silent.Addr().(*net.TCPAddr).Port)}}, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go p.accept(ctx, l, p.converse)
	conn, err := net.Dial("tcp", l.Addr().String())
	must(t, err)
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n", silent.Addr())
	if line, _ := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, "200") {
		t.Fatal(line)
	}
	cancel()
	select {
	case <-closed:
	case <-time.After(5 * time.Second):
		t.Error("the connection to the host outlived the box")
	}
}
