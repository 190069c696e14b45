package plugintest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Answer is what the stand-in for a host says to a request.
type Answer struct {
	Method string            `json:"method"` // empty: any
	Path   string            `json:"path"`   // without the query; empty: any
	Status int               `json:"status"` // 0: 200
	Header map[string]string `json:"header"`
	Body   string            `json:"body"`
}

// standIn answers in the place of the hosts that a plugin asks for, so that a plugin which
// needs the network can be tried without any. A host is found as in relay's box, by a proxy
// that knows CONNECT; one of this machine listens at its own address.
type standIn struct {
	hosts     map[string][]Answer
	ca        *x509.Certificate
	key       *ecdsa.PrivateKey
	dir       string // of the CA's certificate
	env       []string
	listeners []net.Listener
}

// standIn gives the variables by which a plugin finds the stand-ins, which it starts once.
func (s *Session) standIn() ([]string, error) {
	if len(s.cfg.Hosts) == 0 || s.cfg.Binary == "" {
		return nil, nil
	}
	if s.stub == nil {
		s.stub = &standIn{hosts: s.cfg.Hosts}
		if err := s.stub.start(); err != nil {
			return nil, err
		}
	}
	return s.stub.env, nil
}

// standsIn refuses a stand-in for a host that nobody could grant the plugin, and one of which
// the plugin can't be told.
func (s *Session) standsIn() error {
	if len(s.cfg.Hosts) > 0 && s.cfg.Binary == "" {
		return Skip("only the built binary can be tried with stand-ins for hosts")
	}
	for host := range s.cfg.Hosts {
		if !slices.Contains(s.getInfo().first.GetNetworkHosts(), host) {
			return fmt.Errorf("hosts names %s, which the plugin does not ask for", host)
		}
	}
	return nil
}

func (d *standIn) start() (err error) {
	if d.dir, err = os.MkdirTemp("", "rpt-ca-"); err != nil {
		return err
	}
	if err = d.makeCA(); err != nil {
		return err
	}
	var secure, proxy net.Listener
	answers := http.HandlerFunc(d.answer)
	if secure, err = d.listen("127.0.0.1:0"); err == nil {
		proxy, err = d.listen("127.0.0.1:0")
	}
	if err != nil {
		return err
	}
	for host := range d.hosts {
		name, port, _ := net.SplitHostPort(host)
		if ip := net.ParseIP(name); name != "localhost" && (ip == nil || !ip.IsLoopback()) {
			continue
		} else if ip == nil {
			name = "127.0.0.1"
		}
		own, err := d.listen(net.JoinHostPort(name, port))
		if err != nil {
			return fmt.Errorf("the stand-in for %s: %w", host, err)
		}
		go http.Serve(own, answers)
	}
	go http.Serve(tls.NewListener(secure, &tls.Config{GetCertificate: d.certificate}), answers)
	go http.Serve(proxy, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.connect(w, r, secure.Addr().String()) }))
	ca, at := filepath.Join(d.dir, "ca.pem"), "http://"+proxy.Addr().String()
	d.env = []string{"HTTPS_PROXY=" + at, "https_proxy=" + at, "NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1", "NODE_USE_ENV_PROXY=1",
		"SSL_CERT_FILE=" + ca, "NODE_EXTRA_CA_CERTS=" + ca, "REQUESTS_CA_BUNDLE=" + ca, "CURL_CA_BUNDLE=" + ca}
	return nil
}

func (d *standIn) listen(at string) (net.Listener, error) {
	l, err := net.Listen("tcp", at)
	if err == nil {
		d.listeners = append(d.listeners, l)
	}
	return l, err
}

// host is a host as Config.Hosts has it: without the port of https.
func host(asked string) string { return strings.TrimSuffix(asked, ":443") }

// connect carries a connection to one of the hosts to where its stand-in is.
func (d *standIn) connect(w http.ResponseWriter, r *http.Request, to string) {
	if _, ok := d.hosts[host(r.Host)]; !ok || r.Method != http.MethodConnect {
		http.Error(w, "no case has a stand-in for "+r.Host, http.StatusForbidden)
		return
	}
	there, err := net.Dial("tcp", to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	fmt.Fprint(here, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { io.Copy(here, there); here.Close() }()
	io.Copy(there, buffered)
}

// answer gives the first answer that fits a request.
func (d *standIn) answer(w http.ResponseWriter, r *http.Request) {
	for _, a := range d.hosts[host(r.Host)] {
		if a.Method != "" && a.Method != r.Method || a.Path != "" && a.Path != r.URL.Path {
			continue
		}
		io.Copy(io.Discard, r.Body) // the largest message, before the answer
		for name, value := range a.Header {
			w.Header().Set(name, value)
		}
		if a.Status != 0 {
			w.WriteHeader(a.Status)
		}
		io.WriteString(w, a.Body)
		return
	}
	http.Error(w, "the stand-in for "+r.Host+" has no answer to "+r.Method+" "+r.URL.Path, http.StatusNotFound)
}

func (d *standIn) makeCA() (err error) {
	if d.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return err
	}
	d.ca = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stand-ins of relay's rules"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, d.ca, d.ca, d.key.Public(), d.key)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.dir, "ca.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
}

// certificate is that of the host which a plugin connects to.
func (d *standIn) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if hello.ServerName == "" {
		return nil, errors.New("the plugin names no host")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{hello.ServerName},
		NotBefore: d.ca.NotBefore, NotAfter: d.ca.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, leaf, d.ca, key.Public(), d.key)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func (d *standIn) close() {
	if d == nil {
		return
	}
	for _, l := range d.listeners {
		l.Close()
	}
	os.RemoveAll(d.dir)
}
