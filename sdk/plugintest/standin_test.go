package plugintest

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A stand-in answers for the hosts that it is told of, by the proxy or at their own address,
// and for no other.
func TestStandIn(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	free.Close()
	local := "localhost:" + port
	d := &standIn{hosts: map[string][]Answer{
		"api.example.org": {{Method: "POST", Body: "posted"}, {Path: "/v1", Status: 201, Header: map[string]string{"X-Kind": "first"}, Body: "one"}, {Path: "/v1", Body: "never"}},
		local:             {{Body: "here"}},
	}}
	defer d.close()
	if err := d.start(); err != nil {
		t.Fatal(err)
	}
	pem, err := os.ReadFile(filepath.Join(d.dir, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	proxy, err := url.Parse(strings.TrimPrefix(d.env[0], "HTTPS_PROXY="))
	if err != nil {
		t.Fatal(err)
	}
	outside := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: pool}}}
	for _, c := range []struct {
		method, url string
		client      *http.Client
		want        string
	}{
		{"GET", "https://api.example.org/v1?x=1", outside, "201 one first"},
		{"POST", "https://api.example.org/v1", outside, "200 posted "},
		{"GET", "https://api.example.org/v2", outside, "404 the stand-in for api.example.org has no answer to GET /v2\n "},
		{"GET", "https://evil.example/", outside, "Forbidden"},
		{"GET", "http://" + local + "/", http.DefaultClient, "200 here "},
	} {
		req, err := http.NewRequest(c.method, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if res, err := c.client.Do(req); err != nil {
			got = err.Error()
		} else {
			body, _ := io.ReadAll(res.Body)
			res.Body.Close()
			got = res.Status[:4] + string(body) + " " + res.Header.Get("X-Kind")
		}
		if got != c.want && !(c.want == "Forbidden" && strings.Contains(got, c.want)) {
			t.Errorf("%s %s: %q", c.method, c.url, got)
		}
	}
	s := newSession(t.Context(), Config{Hosts: d.hosts})
	if _, skipped := s.standsIn().(errSkip); !skipped {
		t.Error("a plugin in this process can't be told of a stand-in")
	}
}
