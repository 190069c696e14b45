package netproxy

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// errHere is why a name is not connected to that was listed.
var errHere = errors.New("the name leads to this machine or its own link")

// dial connects to a listed host.
func dial(ctx context.Context, h Host) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTime}
	if h.Loopback || address(h.Name).IsValid() {
		return d.DialContext(ctx, "tcp", h.String())
	}
	if way, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: h.String()}}); err == nil && way != nil {
		return through(ctx, way, h)
	}
	// A name says nothing about where it leads: its owner could point it at a
	// service of this machine, or of the cloud that it runs in.
	d.ControlContext = func(_ context.Context, _, at string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(at)
		if err != nil {
			return err
		}
		if ip := to.Addr().Unmap(); ip.IsLoopback() || ip.IsUnspecified() || ip.IsLinkLocalUnicast() || ip.IsMulticast() {
			return errHere
		}
		return nil
	}
	conn, err := d.DialContext(ctx, "tcp", h.String())
	if errors.Is(err, errHere) {
		err = errHere
	}
	return conn, err
}

// through asks the user's own proxy for the connection.
func through(ctx context.Context, way *url.URL, h Host) (net.Conn, error) {
	if way.Scheme != "http" {
		return nil, fmt.Errorf("the proxy of your environment is of the kind %s; only http is spoken", way.Scheme)
	}
	at := way.Host
	if way.Port() == "" {
		at = net.JoinHostPort(way.Hostname(), "80")
	}
	conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", at)
	if err != nil {
		return nil, fmt.Errorf("the proxy of your environment: %w", err)
	}
	conn.SetDeadline(time.Now().Add(dialTime))
	login := ""
	if way.User != nil {
		password, _ := way.User.Password()
		login = "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(way.User.Username()+":"+password)) + "\r\n"
	}
	if _, err = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", h, h, login); err == nil {
		var res *http.Response
		in := bufio.NewReader(conn)
		if res, err = http.ReadResponse(in, &http.Request{Method: http.MethodConnect}); err == nil && res.StatusCode != http.StatusOK {
			err = fmt.Errorf("it answered %s", res.Status)
		}
		if err == nil && in.Buffered() > 0 {
			err = errors.New("it sent more than an answer")
		}
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("the proxy of your environment: %w", err)
	}
	conn.SetDeadline(time.Time{})
	return conn, nil
}
